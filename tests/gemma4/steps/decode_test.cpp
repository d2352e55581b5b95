#include <ATen/TensorOperators.h>

#include "catch.hpp"
#include "gemma4/steps/text_steps.hpp"
#include "steps/decode_errors.hpp"

using namespace gemma4::test;
using lockstep::DType;
using lockstep::StepBench;
using lockstep::Tensor;
using lockstep::Verdict;

namespace {

StepBench run_decode(const std::shared_ptr<const gemma4::Runtime>& runtime, std::int64_t steps = 3,
                     const std::string& mode = "free_running") {
  const auto before = after_prefill(runtime);
  StepBench bench("gemma4.decode");
  bench.bind("batch", shared(before.batch))
      .bind("reference", native_reference(runtime->dtype()))
      .bind("runtime", runtime)
      .bind("logits", shared(before.logits))
      .bind("kv_cache", shared(before.cache))
      .set("steps", steps)
      .set("mode", mode)
      .run();
  CHECK_FALSE(bench.error());
  return bench;
}
/// Makes token 5 the largest from the second step on.
std::shared_ptr<FaultyRuntime> forking_runtime() {
  const auto faulty = faulty_runtime(DType::float32);
  faulty->damage_decode = [](std::int64_t length, const Tensor& t) {
    return length == 70 ? changed(t, [](at::Tensor& v) { v[0][5] = 29; }) : t;
  };
  return faulty;
}

}  // namespace

TEST_CASE("decode passes for the native runtime in both dtypes, step by step, caches included") {
  for (const auto dtype : {DType::bfloat16, DType::float32}) {
    const auto bench = run_decode(native_runtime(dtype));
    CHECK(bench.with(Verdict::fail).empty());
    CHECK(bench.result("logits", "step 2").compared == 960);
    CHECK(bench.result("cache_values", "step 2 layer 0").compared > 0);
    const auto errors = bench.output<gemma4::DecodeErrors>("decode_errors");
    REQUIRE(errors);
    CHECK(errors->passed);
    CHECK(errors->steps == 3);
    CHECK(errors->bound > 0);
  }
}

TEST_CASE("a token that the runtime would not have chosen is a fork with step and margin, and decoding goes on") {
  const auto bench = run_decode(forking_runtime());
  const auto failed = bench.with(Verdict::fail);
  CHECK(std::ranges::count(failed, "same_token") == 1);
  CHECK_THAT(bench.summary(), contains_text("forks at step 2: "));
  CHECK_THAT(bench.summary(), contains_text("(margin "));
  CHECK(bench.result("logits", "step 2").verdict == Verdict::pass);
  CHECK_FALSE(bench.output<gemma4::DecodeErrors>("decode_errors")->passed);
}

TEST_CASE("teacher_forced does not judge tokens") {
  const auto bench = run_decode(forking_runtime(), 3, "teacher_forced");
  const auto failed = bench.with(Verdict::fail);
  CHECK(std::ranges::count(failed, "same_token") == 0);
  CHECK(std::ranges::count(failed, "logits") == 1);
}

TEST_CASE("a stale slot of the cache turns cache_keys of that step red") {
  const auto faulty = faulty_runtime(DType::bfloat16);
  faulty->damage_cache = [](gemma4::KvCache& cache) {
    if (cache.length < 70) return;
    cache.layers[0].key = changed(cache.layers[0].key, [](at::Tensor& v) { v.select(2, 69).zero_(); });
  };
  const auto bench = run_decode(faulty);
  CHECK(distinct(bench.with(Verdict::fail)) == names("cache_keys"));
  CHECK(bench.result("cache_keys", "step 0 layer 0").verdict == Verdict::pass);
  CHECK(bench.result("cache_keys", "step 1 layer 0").verdict == Verdict::fail);
}

TEST_CASE("more steps than the cache has room for fail room, and those that fit are compared") {
  const auto bench = run_decode(native_runtime(DType::bfloat16, 71), 5);
  CHECK(bench.with(Verdict::fail) == names("room"));
  CHECK_THAT(bench.result("room").message.value(), contains_text("room for 2 more tokens, expected 5: raise max_seq"));
  CHECK(bench.output<gemma4::DecodeErrors>("decode_errors")->steps == 2);
}
