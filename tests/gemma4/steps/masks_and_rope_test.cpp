#include <ATen/TensorOperators.h>

#include "catch.hpp"
#include "gemma4/steps/text_steps.hpp"

using namespace gemma4::test;
using lockstep::DType;
using lockstep::StepBench;
using lockstep::Tensor;
using lockstep::Verdict;

namespace {

StepBench run_masks(const std::shared_ptr<const gemma4::Runtime>& runtime) {
  StepBench bench("gemma4.masks_and_rope");
  bench.bind("batch", shared(batch_with_picture(*runtime)))
      .bind("reference", native_reference(runtime->dtype()))
      .bind("runtime", runtime)
      .run();
  CHECK_FALSE(bench.error());
  return bench;
}
StepBench run_damaged(const std::function<void(gemma4::AttentionMasks&)>& damage) {
  const auto faulty = faulty_runtime(DType::bfloat16);
  faulty->damage_masks = damage;
  return run_masks(faulty);
}

}  // namespace

TEST_CASE("masks_and_rope passes for the native runtime in both dtypes and publishes what it compared") {
  for (const auto dtype : {DType::bfloat16, DType::float32}) {
    const auto bench = run_masks(native_runtime(dtype));
    CHECK(distinct(bench.with(Verdict::pass)) ==
          names("mask_shape", "mask_pattern", "mask_rule", "mask_values", "rope_tables"));
    CHECK(bench.with(Verdict::fail).empty());
    CHECK(bench.output<gemma4::AttentionMasks>("masks")->full.sizes() == shape(1, 1, 160, 160));
    CHECK(bench.output<gemma4::RopeTables>("rope")->full.cos.size(1) == 160);
  }
}

TEST_CASE("one key too many at the window's edge turns pattern and rule red and is named") {
  const auto bench = run_damaged([](gemma4::AttentionMasks& masks) {
    masks.sliding = changed(masks.sliding, [](at::Tensor& m) { m[0][0][64][0] = 0; });
  });
  CHECK(bench.with(Verdict::fail) == names("mask_pattern", "mask_rule"));
}

TEST_CASE("of several wrong pairs the first is named") {
  const auto bench = run_damaged([](gemma4::AttentionMasks& masks) {
    masks.sliding = changed(masks.sliding, [](at::Tensor& m) { m.diagonal(-64, 2, 3).zero_(); });
  });
  CHECK_THAT(bench.result("mask_rule", "sliding").message.value(), contains_text("query 64, key 0 may attend"));
}

TEST_CASE("a full mask with a window turns pattern and rule red") {
  const auto bench = run_damaged([](gemma4::AttentionMasks& masks) { masks.full = masks.sliding; });
  CHECK(bench.with(Verdict::fail) == names("mask_pattern", "mask_rule"));
}

TEST_CASE("a fill of its own turns mask_values red, and only that") {
  const auto bench = run_damaged([](gemma4::AttentionMasks& masks) {
    masks.full = changed(masks.full, [](at::Tensor& m) { m[0][0][3][4] = -7; });
  });
  CHECK(bench.with(Verdict::fail) == names("mask_values"));
  CHECK_THAT(bench.result("mask_values", "full").message.value(), contains_text("query 3, key 4"));
}

TEST_CASE("NaN in a mask turns mask_values red") {
  const auto bench = run_damaged([](gemma4::AttentionMasks& masks) {
    masks.full = changed(masks.full, [](at::Tensor& m) { m[0][0][3][4] = std::nan(""); });
  });
  CHECK(bench.with(Verdict::fail) == names("mask_values"));
}

TEST_CASE("a mask of another shape fails mask_shape and is not looked into") {
  const auto bench = run_damaged([](gemma4::AttentionMasks& masks) {
    masks.sliding = Tensor(lockstep::to_torch(masks.sliding).slice(2, 0, 100));
  });
  CHECK(bench.with(Verdict::fail) == names("mask_shape"));
}

TEST_CASE("tables of the wrong positions turn rope_tables red") {
  const auto faulty = faulty_runtime(DType::bfloat16);
  faulty->damage_rope = [](gemma4::RopeTables& rope) {
    rope.full.sin = Tensor(lockstep::to_torch(rope.full.sin).roll({1}, {1}));
  };
  const auto bench = run_masks(faulty);
  CHECK(bench.with(Verdict::fail) == names("rope_tables"));
}
