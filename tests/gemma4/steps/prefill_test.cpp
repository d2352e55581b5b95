#include <limits>

#include <ATen/TensorOperators.h>

#include "catch.hpp"
#include "gemma4/steps/text_steps.hpp"

using namespace gemma4::test;
using lockstep::DType;
using lockstep::StepBench;
using lockstep::Tensor;
using lockstep::Verdict;

namespace {

StepBench run_prefill(const std::shared_ptr<const gemma4::Runtime>& runtime, const TextStage& stage) {
  StepBench bench("gemma4.prefill");
  bench.bind("batch", shared(stage.batch))
      .bind("reference", native_reference(runtime->dtype()))
      .bind("runtime", runtime)
      .bind("fused_embeds", shared(stage.fused_embeds))
      .bind("masks", shared(stage.masks))
      .bind("rope", shared(stage.rope))
      .run();
  CHECK_FALSE(bench.error());
  return bench;
}
StepBench run_prefill(const std::shared_ptr<const gemma4::Runtime>& runtime) {
  return run_prefill(runtime, before_prefill(runtime));
}

}  // namespace

TEST_CASE("prefill passes for the native runtime in both dtypes: logits, every layer, every cache") {
  for (const auto dtype : {DType::bfloat16, DType::float32}) {
    const auto bench = run_prefill(native_runtime(dtype));
    CHECK(bench.with(Verdict::fail).empty());
    CHECK(bench.with(Verdict::vacuous).empty());
    CHECK(bench.result("layer_output", "layer 9").compared == 68 * 128);
    CHECK(bench.result("logits").compared == 960);
    CHECK(bench.result("cache_keys", "layer 0").compared > 0);
    CHECK(bench.output<Tensor>("logits")->sizes() == shape(1, 960));
    CHECK(bench.output<gemma4::KvCache>("kv_cache")->length == 68);
  }
}

TEST_CASE("a layer that is wrong from one position on is named with that position") {
  const auto faulty = faulty_runtime(DType::bfloat16);
  faulty->damage_inner = [](std::string_view name, const Tensor& t) {
    if (name != "L4.out" && name != "L7.out") return t;
    return changed(t, [](at::Tensor& v) { v.slice(1, 17, 160) += 9; });
  };
  const auto bench = run_prefill(faulty);
  CHECK(bench.with(Verdict::fail) == names("layer_output", "layer_output"));
  CHECK(bench.summary() == "first past its bound: layer 4, position 17");
}

TEST_CASE("what a runtime does not show is counted, and is not vacuous") {
  const auto faulty = faulty_runtime(DType::bfloat16);
  faulty->damage_inner = [](std::string_view, const Tensor&) { return Tensor(); };
  const auto bench = run_prefill(faulty);
  CHECK(bench.with(Verdict::fail).empty());
  CHECK(bench.with(Verdict::vacuous).empty());
  CHECK(bench.recorded().front().first == "layers_not_shown");
  CHECK(std::get<std::int64_t>(bench.recorded().front().second.data) == 10);
}

TEST_CASE("garbage in rows of padding is no finding") {
  const auto faulty = faulty_runtime(DType::bfloat16);
  faulty->damage_inner = [](std::string_view name, const Tensor& t) {
    return name.ends_with(".out") ? changed(t, [](at::Tensor& v) { v.slice(1, 68, 160).fill_(1e6); }) : t;
  };
  CHECK(run_prefill(faulty).with(Verdict::fail).empty());
}

TEST_CASE("one NaN among the logits turns logits red") {
  const auto faulty = faulty_runtime(DType::bfloat16);
  faulty->damage_prefill = [](const Tensor& t) {
    return changed(t, [](at::Tensor& v) { v[0][900] = std::numeric_limits<float>::quiet_NaN(); });
  };
  const auto failed = run_prefill(faulty).with(Verdict::fail);
  CHECK(std::ranges::count(failed, "logits") == 1);
}

TEST_CASE("another arg max fails same_token where the reference is sure, and names both tokens with their margins") {
  const auto faulty = faulty_runtime(DType::float32);
  faulty->damage_prefill = [](const Tensor& t) { return changed(t, [](at::Tensor& v) { v[0][5] = 29; }); };
  const auto bench = run_prefill(faulty);
  const auto failed = bench.with(Verdict::fail);
  CHECK(std::ranges::count(failed, "same_token") == 1);
  CHECK_THAT(bench.result("same_token").message.value(), contains_text("the arg max is 5 (margin"));
}

TEST_CASE("a cache with the keys of another position turns cache_keys red") {
  const auto faulty = faulty_runtime(DType::bfloat16);
  faulty->damage_cache = [](gemma4::KvCache& cache) {
    cache.layers[1].key = Tensor(lockstep::to_torch(cache.layers[1].key).roll({1}, {2}));
  };
  CHECK(run_prefill(faulty).with(Verdict::fail) == names("cache_keys"));
}

TEST_CASE("NaN in a slot that the window has left behind is a finding") {
  const auto faulty = faulty_runtime(DType::bfloat16);
  faulty->damage_cache = [](gemma4::KvCache& cache) {
    cache.layers[0].value = changed(cache.layers[0].value, [](at::Tensor& v) { v[0][0][0][0] = std::nan(""); });
  };
  CHECK(run_prefill(faulty).with(Verdict::fail) == names("cache_values"));
}

TEST_CASE("a layer that adds the mask of the other type turns layer_mask red") {
  const auto faulty = faulty_runtime(DType::bfloat16);
  faulty->damage_inner = [](std::string_view name, const Tensor& t) {
    return name == "L4.mask" ? Tensor(lockstep::to_torch(t) - 1) : t;
  };
  CHECK(run_prefill(faulty).with(Verdict::fail) == names("layer_mask"));
}

TEST_CASE("a cache without a layer, or of another length, is a finding") {
  const auto faulty = faulty_runtime(DType::bfloat16);
  faulty->damage_cache = [](gemma4::KvCache& cache) { cache.layers.pop_back(); };
  CHECK(run_prefill(faulty).with(Verdict::fail) == names("cache_keys"));
  faulty->damage_cache = [](gemma4::KvCache& cache) { ++cache.length; };
  CHECK(run_prefill(faulty).with(Verdict::fail) == names("cache_length"));
}

TEST_CASE("a prompt that fills max_seq fails fits: no slot is left for the next token") {
  const auto runtime = native_runtime(DType::bfloat16, 68);
  const auto bench = run_prefill(runtime);
  CHECK(bench.with(Verdict::fail) == names("fits"));
  CHECK_THAT(bench.result("fits").message.value(), contains_text("68 tokens, expected at most 67: raise max_seq"));
  CHECK_FALSE(bench.output<Tensor>("logits"));
}
