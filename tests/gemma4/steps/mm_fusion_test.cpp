#include <cstring>

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>

#include "catch.hpp"
#include "gemma4/steps/vision_steps.hpp"

using namespace gemma4::test;
using gemma4::Runtime;
using gemma4::StaticBatch;
using lockstep::DType;
using lockstep::StepBench;
using lockstep::Tensor;
using lockstep::Verdict;

namespace {

using Names = std::vector<std::string>;
const Names all_checks{"start", "count", "length", "matches_reference"};

StepBench prepared(std::shared_ptr<const Runtime> runtime, const StaticBatch& batch) {
  StepBench bench("gemma4.mm_fusion");
  bench.bind("batch", shared(batch))
      .bind("reference", native_reference(runtime->dtype()))
      .bind("runtime", runtime)
      .bind("text_embeds", shared(runtime->token_embedding(batch.input_ids)));
  return bench;
}
std::shared_ptr<const Tensor> picture_of(const Runtime& runtime) {
  return shared(runtime.vision_prefill(two_shapes(), gemma4::build_image_position_ids(runtime.profile()), {}));
}
StepBench run_with_picture(std::shared_ptr<const Runtime> runtime) {
  auto bench = prepared(runtime, batch_with_picture(*runtime));
  bench.bind("visual_embeds", picture_of(*runtime)).run();
  CHECK_FALSE(bench.error());
  return bench;
}
StepBench run_damaged(std::function<Tensor(const Tensor&)> damage) {
  const auto faulty = std::make_shared<FaultyRuntime>(native_runtime(DType::bfloat16));
  faulty->damage_fused = std::move(damage);
  return run_with_picture(faulty);
}
/// The batch of a picture whose raw ids are changed afterwards.
StepBench run_with_ids(const std::function<void(std::vector<std::int64_t>&)>& change) {
  const auto runtime = native_runtime(DType::bfloat16);
  auto batch = batch_with_picture(*runtime);
  auto ids = values_of(batch.raw_input_ids);
  change(ids);
  batch.raw_input_ids = row(ids);
  auto bench = prepared(runtime, batch);
  bench.bind("visual_embeds", picture_of(*runtime)).run();
  CHECK_FALSE(bench.error());
  return bench;
}

}  // namespace

TEST_CASE("mm_fusion passes for the native runtime in both dtypes") {
  for (const auto dtype : {DType::bfloat16, DType::float32}) {
    const auto runtime = native_runtime(dtype);
    const auto bench = run_with_picture(runtime);
    CHECK(bench.with(Verdict::pass) == all_checks);
    CHECK(bench.result("matches_reference").metric == lockstep::Metric::bits);
    CHECK(bench.result("matches_reference").compared == 160 * 128);
    const auto fused = bench.output<Tensor>("fused_embeds");
    REQUIRE(fused);
    CHECK(fused->sizes() == std::vector<std::int64_t>{1, 160, 128});
    CHECK(at::equal(lockstep::to_torch(*fused)[0].slice(0, 1, 65), lockstep::to_torch(*picture_of(*runtime))));
  }
}

TEST_CASE("a text prompt is fused with nothing, and still compared") {
  const auto runtime = native_runtime(DType::bfloat16);
  const auto batch = batch_of_text(*runtime);
  auto bench = prepared(runtime, batch);
  bench.run();
  CHECK_FALSE(bench.error());
  CHECK(bench.with(Verdict::pass) == all_checks);
  const auto fused = bench.output<Tensor>("fused_embeds");
  REQUIRE(fused);
  CHECK(at::equal(lockstep::to_torch(*fused), lockstep::to_torch(runtime->token_embedding(batch.input_ids))));
}

TEST_CASE("a picture one slot too late, in reverse, or left out turns matches_reference red") {
  const Names red{"matches_reference"};
  CHECK(run_damaged([](const Tensor& t) { return Tensor(lockstep::to_torch(t).roll({1}, {1})); }).with(Verdict::fail) ==
        red);
  CHECK(run_damaged([](const Tensor& t) {
          auto values = lockstep::to_torch(t).clone();
          values.slice(1, 1, 65).copy_(values.slice(1, 1, 65).flip(1));
          return Tensor(values);
        }).with(Verdict::fail) == red);
  CHECK(run_damaged([](const Tensor& t) {
          auto values = lockstep::to_torch(t).clone();
          values.slice(1, 1, 65).zero_();
          return Tensor(values);
        }).with(Verdict::fail) == red);
}

TEST_CASE("one wrong bit turns matches_reference red, and the output is published all the same") {
  const auto bench = run_damaged([](const Tensor& t) {
    auto values = lockstep::to_torch(t).clone();
    auto* bytes = static_cast<std::uint8_t*>(values.data_ptr());
    bytes[2 * 128 * 100] ^= 1;
    return Tensor(values);
  });
  CHECK(bench.with(Verdict::fail) == Names{"matches_reference"});
  CHECK(bench.result("matches_reference").mismatched == 1);
  CHECK(bench.output<Tensor>("fused_embeds"));
}

TEST_CASE("swapped placeholders: a gap in the image tokens turns matches_reference red") {
  const auto bench = run_with_ids([](std::vector<std::int64_t>& ids) { std::swap(ids[64], ids[65]); });
  CHECK(bench.with(Verdict::fail) == Names{"matches_reference"});
}

TEST_CASE("image tokens from another slot on fail start with both slots") {
  const auto bench = run_with_ids([](std::vector<std::int64_t>& ids) { std::swap(ids[1], ids[65]); });
  CHECK(bench.with(Verdict::fail) == Names{"start"});
  CHECK_THAT(bench.result("start").message.value(), contains_text("is in slot 2, expected slot 1"));
  CHECK_FALSE(bench.output<Tensor>("fused_embeds"));
}

TEST_CASE("an image token too few fails count with the numbers") {
  const auto bench = run_with_ids([](std::vector<std::int64_t>& ids) { ids[64] = 7; });
  CHECK(bench.with(Verdict::fail) == Names{"count"});
  CHECK_THAT(bench.result("count").message.value(),
             contains_text("63 image tokens and visual_embeds 64 rows, expected 64 of both"));
}

TEST_CASE("a picture without any image token fails start and count") {
  const auto bench = run_with_ids([](std::vector<std::int64_t>& ids) { ids = {5, 6}; });
  CHECK(bench.with(Verdict::fail) == Names{"start", "count"});
}

TEST_CASE("image tokens without visual_embeds fail start and count") {
  const auto runtime = native_runtime(DType::bfloat16);
  auto bench = prepared(runtime, batch_with_picture(*runtime));
  bench.run();
  CHECK_FALSE(bench.error());
  CHECK(bench.with(Verdict::fail) == Names{"start", "count"});
  CHECK_THAT(bench.result("count").message.value(), contains_text("64 image tokens, but there are no visual_embeds"));
}

TEST_CASE("a row of visual_embeds too few fails count") {
  const auto runtime = native_runtime(DType::bfloat16);
  auto bench = prepared(runtime, batch_with_picture(*runtime));
  bench.bind("visual_embeds", shared(Tensor(lockstep::to_torch(*picture_of(*runtime)).slice(0, 0, 63)))).run();
  CHECK_FALSE(bench.error());
  CHECK(bench.with(Verdict::fail) == Names{"count"});
}

TEST_CASE("a prompt longer than max_seq fails length") {
  const auto bench = run_with_ids([](std::vector<std::int64_t>& ids) { ids.resize(161, 7); });
  CHECK(bench.with(Verdict::fail) == Names{"length"});
  CHECK_THAT(bench.result("length").message.value(), contains_text("161 tokens, expected 1 to 160"));
}
