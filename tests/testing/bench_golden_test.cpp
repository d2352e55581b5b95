#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <lockstep/safetensors.hpp>

#include "catch.hpp"
#include "testing/toy_steps.hpp"

using namespace toy;
using Texts = std::vector<std::string>;

namespace {

StepBench run_with(double offset) {
  auto bench = StepBench::of<AddOne>();
  bench.bind("x", floats({1, 2, 3})).set("offset", offset).run();
  return bench;
}

/// A golden file with these tensors, gone at the end.
struct GoldenFile {
  explicit GoldenFile(const std::vector<std::pair<std::string, Tensor>>& tensors) { write_safetensors(path, tensors); }
  ~GoldenFile() { std::filesystem::remove(path); }
  std::filesystem::path path = std::filesystem::temp_directory_path() / "lockstep_bench_golden.safetensors";
};

}  // namespace

TEST_CASE("a golden file is compared bit for bit, or by a criterion") {
  const GoldenFile golden({{"y", floats({2, 3, 4})}});
  CHECK(run_with(1).differences_from_golden(golden.path).empty());
  const auto slightly = run_with(1.125);
  const auto differences = slightly.differences_from_golden(golden.path);
  REQUIRE(differences.size() == 1);
  CHECK_THAT(differences[0], Catch::Matchers::StartsWith("y: 3 of 3 differ"));
  CHECK(slightly.differences_from_golden(golden.path, max_abs(0.2)).empty());
  CHECK(slightly.differences_from_golden(golden.path, max_abs(0.1)).size() == 1);
}

TEST_CASE("a tensor that only the golden file or only the step has is a difference") {
  const GoldenFile golden({{"z", floats({1})}});
  const auto file = golden.path.string();
  CHECK(run_with(1).differences_from_golden(golden.path) == Texts{"y: not in " + file, "z: in " + file + " alone"});
}

TEST_CASE("another shape is a difference, and so is a step that published nothing") {
  const GoldenFile golden({{"y", floats({2, 3})}});
  CHECK(run_with(1).differences_from_golden(golden.path).size() == 1);
  auto skipped = StepBench::of<AddOne>();
  skipped.bind("x", floats({1})).set("mode", "skip").run();
  CHECK(skipped.differences_from_golden(golden.path) == Texts{"the step published no tensor; its status is skipped"});
}

TEST_CASE("with LOCKSTEP_UPDATE_GOLDEN the file is written, from the same bench it then equals") {
  const GoldenFile golden({{"y", floats({0, 0, 0})}});
  const auto bench = run_with(2);
  CHECK(bench.differences_from_golden(golden.path).size() == 1);
  ::setenv("LOCKSTEP_UPDATE_GOLDEN", "1", 1);
  CHECK(bench.differences_from_golden(golden.path).empty());
  ::unsetenv("LOCKSTEP_UPDATE_GOLDEN");
  CHECK(SafetensorsFile::open(golden.path).at("y").values<float>()[0] == 3.0F);
  CHECK(bench.differences_from_golden(golden.path).empty());
}

TEST_CASE("a golden file that is not there is a difference that names it in full and says what writes it") {
  const auto file = (std::filesystem::current_path() / "no/such/file.safetensors").string();
  CHECK(run_with(1).differences_from_golden("no/such/file.safetensors") ==
        Texts{"there is no " + file + "; a run with LOCKSTEP_UPDATE_GOLDEN=1 in the environment writes it"});
}
