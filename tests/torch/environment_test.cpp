#include <ATen/Parallel.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/rand.h>
#include <c10/core/InferenceMode.h>

#include <cstdlib>
#include <lockstep/plugin.hpp>
#include <map>
#include <stdexcept>
#include <string>

#include "catch.hpp"

namespace {

const lockstep::EnvironmentHook& hook() { return *lockstep_torch_environment(); }

void configure(int threads, std::uint64_t seed) {
  const lockstep::EnvironmentSettings settings{threads, seed, "auto"};
  hook().configure(&settings);
}

std::map<std::string, std::string> description() {
  std::map<std::string, std::string> fields;
  hook().describe([](void* context, const char* key,
                     const char* value) { (*static_cast<std::map<std::string, std::string>*>(context))[key] = value; },
                  &fields);
  return fields;
}

}  // namespace

TEST_CASE("one thread count for everything; 0 leaves it alone") {
  configure(2, 0);
  CHECK(at::get_num_threads() == 2);
  CHECK(at::get_num_interop_threads() == 1);
  configure(0, 0);
  CHECK(at::get_num_threads() == 2);
  configure(1, 0);
  CHECK(at::get_num_threads() == 1);
}

TEST_CASE("the seed decides what LibTorch draws") {
  configure(0, 7);
  const auto first = at::rand({8});
  configure(0, 7);
  CHECK(at::equal(first, at::rand({8})));
  configure(0, 8);
  CHECK_FALSE(at::equal(first, at::rand({8})));
}

TEST_CASE("the record says which LibTorch, which vector instructions and which math libraries") {
  const auto fields = description();
  CHECK(fields.at("libtorch") == LOCKSTEP_LIBTORCH_VERSION);
  CHECK_FALSE(fields.at("cpu_capability").empty());
  CHECK_FALSE(fields.at("onednn").empty());
  for (const auto& [key, value] : fields) CHECK(value.find('\n') == std::string::npos);
}

TEST_CASE("a step runs in inference mode and its exceptions pass") {
  bool inference_mode = false;
  hook().around([](void* flag) { *static_cast<bool*>(flag) = c10::InferenceMode::is_enabled(); }, &inference_mode);
  CHECK(inference_mode);
  CHECK_FALSE(c10::InferenceMode::is_enabled());
  CHECK_THROWS_AS(hook().around([](void*) { throw std::domain_error("step"); }, nullptr), std::domain_error);
  CHECK_FALSE(c10::InferenceMode::is_enabled());
}

TEST_CASE("what links lockstep::torch has LibTorch's version in its stamp and the hook in its entry") {
  const lockstep::PluginStamp stamp = LOCKSTEP_STAMP;
  REQUIRE(stamp.libtorch);
  CHECK(std::string(stamp.libtorch) == description().at("libtorch"));
  CHECK((LOCKSTEP_ENVIRONMENT)() == &hook());
}
