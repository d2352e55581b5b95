// feed = "reference": what is wrong with the reference's inputs too is wrong here, what is right with them is
// inherited.

#include <ATen/TensorOperators.h>

#include "catch.hpp"
#include "gemma4/steps/text_steps.hpp"
#include "steps/decode_errors.hpp"

using namespace gemma4::test;
using gemma4::KvCache;
using lockstep::DType;
using lockstep::StepBench;
using lockstep::Tensor;
using lockstep::Verdict;

namespace {

StepBench run_prefill(const std::shared_ptr<const gemma4::Runtime>& runtime, const std::string& feed = "reference") {
  const auto stage = before_prefill(runtime);
  StepBench bench("gemma4.prefill");
  bench.bind("batch", shared(stage.batch))
      .bind("reference", native_reference(runtime->dtype()))
      .bind("runtime", runtime)
      .bind("fused_embeds", shared(stage.fused_embeds))
      .bind("masks", shared(stage.masks))
      .bind("rope", shared(stage.rope))
      .set("feed", feed)
      .run();
  CHECK_FALSE(bench.error());
  return bench;
}
/// decode or generation, behind a prefill of the runtime that `damage` has changed.
StepBench run_behind(
    const std::string& step, const std::shared_ptr<const gemma4::Runtime>& runtime,
    const std::function<void(AfterPrefill&)>& damage = [](AfterPrefill&) {}) {
  auto before = after_prefill(runtime);
  damage(before);
  StepBench bench(step);
  bench.bind("batch", shared(before.batch))
      .bind("reference", native_reference(runtime->dtype()))
      .bind("runtime", runtime)
      .bind("logits", shared(before.logits))
      .bind("kv_cache", shared(before.cache))
      .set("feed", std::string("reference"));
  if (step == "gemma4.decode") bench.set("steps", std::int64_t{3});
  bench.run();
  CHECK_FALSE(bench.error());
  return bench;
}
std::int64_t count_of(const StepBench& bench, Verdict verdict, const std::string& check) {
  const auto found = bench.with(verdict);
  return std::ranges::count(found, check);
}
/// What the summary says, without what is before it.
std::string origin_of(const StepBench& bench) {
  for (const auto& [key, value] : bench.recorded()) {
    if (key == "origin") return std::get<std::string>(value.data);
  }
  return "";
}
Tensor halved(const Tensor& t) {
  return changed(t, [](at::Tensor& v) { v *= 0.5; });
}
/// A prefill that hands on values of another prompt.
void forget(AfterPrefill& before) {
  for (auto& layer : before.cache.layers) layer.value = Tensor(lockstep::to_torch(layer.value).roll({7}, {2}));
  before.logits = changed(before.logits, [](at::Tensor& v) { v = v.roll({1}, {1}); });
}

}  // namespace

TEST_CASE("a check that looks at nothing handed on is the stage's own: a layer with another mask is wrong here") {
  const auto faulty = faulty_runtime(DType::bfloat16);
  faulty->damage_inner = [](std::string_view name, const Tensor& t) {
    return name == "L4.mask" ? Tensor(lockstep::to_torch(t) - 1) : t;
  };
  const auto bench = run_prefill(faulty);
  CHECK(bench.with(Verdict::fail) == names("layer_mask"));
  CHECK(origin_of(bench) == "wrong here");
}

TEST_CASE("the native runtime is right with the reference's inputs in both dtypes, and nothing is said of origins") {
  for (const auto dtype : {DType::bfloat16, DType::float32}) {
    const auto prefill = run_prefill(native_runtime(dtype));
    CHECK(prefill.with(Verdict::fail).empty());
    CHECK(prefill.with(Verdict::vacuous).empty());
    CHECK(prefill.result("own_error", "logits").compared == 960);
    CHECK(prefill.result("own_error", "layer 9").compared == 68 * 128);
    CHECK(prefill.result("own_error", "cache layer 0 keys").compared > 0);
    for (const auto* step : {"gemma4.decode", "gemma4.generation"}) {
      const auto bench = run_behind(step, native_runtime(dtype));
      CAPTURE(step);
      CHECK(bench.with(Verdict::fail).empty());
      CHECK(count_of(bench, Verdict::pass, "own_error") > 2);
      CHECK(origin_of(bench).empty());
    }
  }
}

TEST_CASE("cumulative leaves own_error out") {
  const auto bench = run_prefill(native_runtime(DType::bfloat16), "cumulative");
  CHECK(bench.with(Verdict::vacuous).empty());
  CHECK(count_of(bench, Verdict::pass, "own_error") == 0);
}

TEST_CASE("a prefill that fails because its embeddings are wrong has inherited that") {
  const auto faulty = faulty_runtime(DType::bfloat16);
  faulty->damage_fused = halved;
  const auto bench = run_prefill(faulty);
  CHECK(count_of(bench, Verdict::fail, "layer_output") > 0);
  CHECK(count_of(bench, Verdict::fail, "own_error") == 0);
  CHECK(origin_of(bench) == "inherited");
  CHECK_THAT(bench.summary(), contains_text("layer 0, position 0; inherited: right with the reference's inputs"));
}

TEST_CASE("a prefill that fails because masks or rope are wrong has inherited that") {
  const auto faulty = faulty_runtime(DType::float32);
  faulty->damage_masks = [](gemma4::AttentionMasks& masks) { masks.full = masks.sliding; };
  CHECK(origin_of(run_prefill(faulty)) == "inherited");
  const auto turned = faulty_runtime(DType::float32);
  turned->damage_rope = [](gemma4::RopeTables& rope) { rope.sliding.sin = halved(rope.sliding.sin); };
  CHECK(origin_of(run_prefill(turned)) == "inherited");
}

TEST_CASE("a prefill that fails with the reference's inputs too is wrong here") {
  const auto faulty = faulty_runtime(DType::bfloat16);
  faulty->damage_prefill = halved;
  const auto bench = run_prefill(faulty);
  CHECK(bench.result("own_error", "logits").verdict == Verdict::fail);
  CHECK(origin_of(bench) == "wrong here");
  CHECK(bench.summary().ends_with("; wrong here"));
}

TEST_CASE("a prefill that is wrong itself is so behind wrong embeddings too") {
  const auto faulty = faulty_runtime(DType::bfloat16);
  faulty->damage_fused = halved;
  faulty->damage_prefill = halved;
  CHECK(origin_of(run_prefill(faulty)) == "wrong here");
}

TEST_CASE("a wrong cache or layer of prefill is wrong here though its logits are right") {
  const auto cache = faulty_runtime(DType::bfloat16);
  cache->damage_cache = [](KvCache& c) {
    c.layers[1].key = Tensor(lockstep::to_torch(c.layers[1].key).roll({1}, {2}));
  };
  const auto bench = run_prefill(cache);
  CHECK(bench.result("own_error", "logits").verdict == Verdict::pass);
  CHECK(origin_of(bench) == "wrong here");
  const auto layer = faulty_runtime(DType::bfloat16);
  layer->damage_inner = [](std::string_view name, const Tensor& t) { return name == "L4.out" ? halved(t) : t; };
  CHECK(run_prefill(layer).result("own_error", "layer 4").verdict == Verdict::fail);
}

TEST_CASE("decode and generation behind a wrong prefill have inherited that") {
  for (const auto* step : {"gemma4.decode", "gemma4.generation"}) {
    CAPTURE(step);
    const auto bench = run_behind(step, native_runtime(DType::float32), forget);
    CHECK_FALSE(bench.with(Verdict::fail).empty());
    CHECK(count_of(bench, Verdict::fail, "own_error") == 0);
    CHECK(origin_of(bench) == "inherited");
    CHECK_THAT(bench.summary(), contains_text("; inherited"));
  }
}

TEST_CASE("decode and generation that fail from the reference's cache too are wrong here") {
  const auto decode = faulty_runtime(DType::float32);
  decode->damage_decode = [](std::int64_t, const Tensor& t) { return halved(t); };
  const auto first = run_behind("gemma4.decode", decode, forget);
  CHECK(first.result("own_error", "step 0 logits").verdict == Verdict::fail);
  CHECK(origin_of(first) == "wrong here");
  const auto generation = faulty_runtime(DType::float32);
  generation->damage_generation = [](gemma4::Generation& g) { g.tokens[3] = 5; };
  const auto second = run_behind("gemma4.generation", generation);
  CHECK(second.result("own_error", "tokens").verdict == Verdict::fail);
  CHECK(origin_of(second) == "wrong here");
}
