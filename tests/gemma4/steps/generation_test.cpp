#include <ATen/TensorOperators.h>

#include "catch.hpp"
#include "gemma4/steps/text_steps.hpp"
#include "steps/decode_errors.hpp"

using namespace gemma4::test;
using gemma4::DecodeErrors;
using gemma4::Generation;
using lockstep::DType;
using lockstep::StepBench;
using lockstep::Tensor;
using lockstep::Verdict;

namespace {

const Names all_checks{"tokens", "forks", "greedy", "length", "stop"};

/// The native reference, all but undecided at its fourth token: it takes token 5, which leads by 0.001.
class UndecidedReference final : public gemma4::Reference {
 public:
  explicit UndecidedReference(std::shared_ptr<const Reference> good) : good_(std::move(good)) {}

  DType dtype() const override { return good_->dtype(); }
  const gemma4::Checkpoint& checkpoint() const override { return good_->checkpoint(); }
  Tensor token_embedding(const Tensor& ids) const override { return good_->token_embedding(ids); }
  Tensor unscaled_embedding(const Tensor& ids) const override { return good_->unscaled_embedding(ids); }
  Tensor embed_scale() const override { return good_->embed_scale(); }
  Tensor image_features(const Tensor& pixels, const Tensor& positions,
                        const lockstep::TensorVisitor& taps) const override {
    return good_->image_features(pixels, positions, taps);
  }
  Tensor fuse(const Tensor& text, const Tensor& mask, const Tensor& features) const override {
    return good_->fuse(text, mask, features);
  }
  Tensor per_layer_inputs(const Tensor& ids, const Tensor& fused, const lockstep::TensorVisitor& taps) const override {
    return good_->per_layer_inputs(ids, fused, taps);
  }
  gemma4::AttentionMasks attention_masks(const Tensor& mask, std::int64_t past) const override {
    return good_->attention_masks(mask, past);
  }
  gemma4::RopeTables rope(const Tensor& positions) const override { return good_->rope(positions); }
  std::string identity() const override { return "undecided, " + good_->identity(); }
  std::unique_ptr<gemma4::ReferenceSession> start() const override { return good_->start(); }
  gemma4::ReferencePrompt prompt(const gemma4::ModelInputs& inputs,
                                 const lockstep::TensorVisitor& taps) const override {
    return good_->prompt(inputs, taps);
  }
  std::unique_ptr<gemma4::ReferenceSession> resume(const gemma4::ReferencePrompt& prompt) const override {
    return good_->resume(prompt);
  }
  Generation generate(const gemma4::ReferencePrompt& prompt, std::int64_t max_new_tokens,
                      const std::function<void(std::int64_t, const Tensor&)>& each) const override {
    const auto tied = [&](std::int64_t step, const Tensor& logits) {
      each(step, step != 3 ? logits : changed(logits, [](at::Tensor& v) { v[0][5] = v.max() + 0.001; }));
    };
    auto generation = good_->generate(prompt, max_new_tokens, tied);
    generation.tokens.at(3) = 5;
    return generation;
  }

 private:
  std::shared_ptr<const Reference> good_;
};

StepBench run_generation(const std::shared_ptr<const gemma4::Runtime>& runtime,
                         const std::optional<DecodeErrors>& errors = DecodeErrors{.passed = true, .bound = 1e9},
                         std::int64_t max_new_tokens = 16,
                         const std::shared_ptr<const gemma4::Reference>& reference = nullptr,
                         std::int64_t max_forks = 1) {
  const auto before = after_prefill(runtime);
  StepBench bench("gemma4.generation");
  bench.bind("batch", shared(before.batch))
      .bind("reference", reference ? reference : native_reference(runtime->dtype()))
      .bind("runtime", runtime)
      .bind("logits", shared(before.logits))
      .bind("kv_cache", shared(before.cache))
      .set("max_new_tokens", max_new_tokens)
      .set("max_forks", max_forks);
  if (errors) bench.bind("decode_errors", shared(*errors));
  bench.run();
  CHECK_FALSE(bench.error());
  return bench;
}

}  // namespace

TEST_CASE("generation passes for the native runtime: tokens, length and stop reason") {
  for (const auto dtype : {DType::bfloat16, DType::float32}) {
    const auto bench = run_generation(native_runtime(dtype));
    CHECK(bench.with(Verdict::pass) == all_checks);
    CHECK(bench.recorded().size() == 3);
  }
}

TEST_CASE("max_new_tokens ends both sides") {
  const auto bench = run_generation(native_runtime(DType::bfloat16), {}, 2);
  CHECK(bench.with(Verdict::pass) == all_checks);
  CHECK_THAT(bench.summary(), contains_text("2 tokens, length"));
}

TEST_CASE("a token that the reference is sure of is never explained") {
  const auto faulty = faulty_runtime(DType::float32);
  faulty->damage_generation = [](Generation& g) { g.tokens[3] = 5; };
  const auto bench = run_generation(faulty);
  CHECK(bench.with(Verdict::fail) == names("tokens", "greedy"));
  CHECK_THAT(bench.result("greedy").message.value(), contains_text("token 3 is 5, but "));
  CHECK_THAT(bench.result("tokens").message.value(), contains_text("token 3 is 5 ("));
}

TEST_CASE("a fork is explained only if decode passed, the margin is below error and bound, and forks are left") {
  const auto runtime = native_runtime(DType::float32);
  const auto undecided = std::make_shared<const UndecidedReference>(native_reference(DType::float32));
  const auto run = [&](const std::optional<DecodeErrors>& errors, std::int64_t max_forks = 1) {
    return run_generation(runtime, errors, 4, undecided, max_forks);
  };
  const DecodeErrors good{.passed = true, .steps = 8, .bound = 0.1};
  const auto explained = run(good);
  CHECK(explained.with(Verdict::warn) == names("forks"));
  CHECK(explained.with(Verdict::pass) == names("tokens", "greedy", "length", "stop"));
  CHECK_THAT(explained.result("forks").message.value(), contains_text("token 3 is "));
  CHECK_THAT(explained.result("forks").message.value(), contains_text("the reference's margin is 0.001"));

  CHECK(run(std::nullopt).with(Verdict::fail) == names("tokens"));
  const DecodeErrors failed{.passed = false, .steps = 8, .bound = 0.1};
  CHECK(run(failed).with(Verdict::fail) == names("tokens"));
  const DecodeErrors narrow{.passed = true, .steps = 8, .bound = 1e-5};
  CHECK(run(narrow).with(Verdict::fail) == names("tokens"));
  CHECK(run(good, 0).with(Verdict::fail) == names("tokens"));
}

TEST_CASE("a text that goes on behind the end fails tokens, length and stop") {
  const auto faulty = faulty_runtime(DType::float32);
  faulty->damage_generation = [](Generation& g) {
    g.tokens.push_back(5);
    g.stop = "length";
  };
  CHECK(run_generation(faulty).with(Verdict::fail) == names("tokens", "length", "stop"));
}

TEST_CASE("a shorter text fails tokens and length") {
  const auto faulty = faulty_runtime(DType::float32);
  faulty->damage_generation = [](Generation& g) { g.tokens.pop_back(); };
  CHECK(run_generation(faulty).with(Verdict::fail) == names("tokens", "length"));
}
