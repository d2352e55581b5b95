#include <string>
#include <vector>

#include <lockstep/testing.hpp>

#include "catch.hpp"

using namespace lockstep;
using lockstep::StepBench;

namespace {

const std::string data = LOCKSTEP_TEST_DATA;

StepBench loaded(const std::string& file) {
  StepBench bench("common.load_tensors");
  bench.set("path", data + file);
  return bench;
}

std::vector<std::string> names_of(StepBench& bench) { return bench.output<NamedTensors>("tensors")->names(); }

}  // namespace

TEST_CASE("all tensors of a file are published, those of a sharded one as if it were one") {
  auto one = loaded("/safetensors/all_dtypes.safetensors");
  one.run();
  CHECK(one.error() == std::nullopt);
  CHECK(names_of(one).size() > 18);
  auto sharded = loaded("/safetensors/sharded/model.safetensors.index.json");
  sharded.run();
  CHECK(sharded.error() == std::nullopt);
  CHECK(names_of(sharded).size() > 1);
}

TEST_CASE("patterns take some tensors, and each must fit one") {
  auto all = loaded("/safetensors/sharded/model.safetensors.index.json");
  all.run();
  const auto first = names_of(all).front();
  auto some = loaded("/safetensors/sharded/model.safetensors.index.json");
  some.set("names", Value::Array{first.substr(0, first.size() - 1) + "?"}).run();
  REQUIRE(some.error() == std::nullopt);
  CHECK(names_of(some).front() == first);
  CHECK(names_of(some).size() < names_of(all).size());
  auto wrong = loaded("/npy/scalar.npy");
  wrong.set("names", Value::Array{"scalr"}).run();
  CHECK(wrong.error() == data + "/npy/scalar.npy: no tensor fits 'scalr'");
}

TEST_CASE("the tensor of a .npy file is called as the file, or as the pipeline says") {
  auto bench = loaded("/npy/vector.npy");
  CHECK(bench.problems().empty());
  bench.run();
  CHECK(names_of(bench) == std::vector<std::string>{"vector"});
  CHECK(bench.summary() == "1 tensor, 3 elements");
  auto named = loaded("/npy/vector.npy");
  named.set("name", "input_ids").run();
  const auto set = named.output<NamedTensors>("tensors");
  const auto ids = set->at("input_ids").values<std::int64_t>();
  CHECK(std::vector<std::int64_t>(ids.begin(), ids.end()) == std::vector<std::int64_t>{1, 2, 3});
}

TEST_CASE("a name for the tensors of a safetensors file is refused before the run, and so is an empty one") {
  auto bench = loaded("/safetensors/all_dtypes.safetensors");
  bench.set("name", "x");
  CHECK(bench.problems() ==
        std::vector<std::string>{"with.name: P020: step 'bench': only the tensor of a .npy file can be given a name"});
  auto empty = loaded("/npy/vector.npy");
  empty.set("name", "");
  CHECK(empty.problems() == std::vector<std::string>{"with.name: P020: step 'bench': is empty, expected a name"});
}

TEST_CASE("a file that is malformed or refused is an error that names it") {
  auto bench = loaded("/npy/refused_fields.npy");
  bench.run();
  CHECK(bench.error() ==
        data + "/npy/refused_fields.npy: the array has fields ('descr' is a list), expected one dtype");
  auto other = loaded("/npy/contents.json");
  other.run();
  REQUIRE(other.error());
  CHECK(other.error()->find("contents.json") != std::string::npos);
}
