#include <lockstep/diagnostic.hpp>

#include "catch.hpp"

using lockstep::did_you_mean;

TEST_CASE("the nearest name within a third of the length is suggested, case ignored") {
  const std::vector<std::string> names{"threads", "seed", "max_seq", "dtype"};
  CHECK(did_you_mean("threds", names) == "threads");
  CHECK(did_you_mean("THREADS", names) == "threads");
  CHECK(did_you_mean("dytpe", names) == "dtype");  // a swap is one edit
  CHECK(did_you_mean("max-sequ", names) == "max_seq");
  CHECK(did_you_mean("hreasd", names) == "threads");  // two edits: (6 + 2) / 3 is 2
}

TEST_CASE("nothing is suggested beyond the bound") {
  CHECK(did_you_mean("hraesd", {"threads"}).empty());  // three edits
  CHECK(did_you_mean("x", {"y"}).empty());             // every character replaced
  CHECK(did_you_mean("ab", {"abcd"}).empty());         // (2 + 2) / 3 is 1
  CHECK(did_you_mean("", {"a"}).empty());
  CHECK(did_you_mean("anything", {}).empty());
}

TEST_CASE("the first of equally near names wins, a nearer one beats it") {
  CHECK(did_you_mean("stepx", {"stepa", "stepb"}) == "stepa");
  CHECK(did_you_mean("stepx", {"stipx1", "stepb"}) == "stepb");
}

TEST_CASE("names of any length are handled") {
  const std::string huge(5'000'000, 'a');
  CHECK(did_you_mean(huge, {huge}).empty());
  CHECK(did_you_mean("a", {huge}).empty());
}
