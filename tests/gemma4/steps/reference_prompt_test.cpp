// The reference's pass over the prompt, handed from prefill to decode and generation.

#include <ATen/TensorOperators.h>

#include "catch.hpp"
#include "gemma4/steps/text_steps.hpp"
#include "steps/decode_errors.hpp"

using namespace gemma4::test;
using gemma4::ReferencePrompt;
using lockstep::DType;
using lockstep::StepBench;
using lockstep::Tensor;

namespace {

std::shared_ptr<const ReferencePrompt> prompt_after_prefill(const std::shared_ptr<const gemma4::Runtime>& runtime) {
  const auto stage = before_prefill(runtime);
  StepBench bench("gemma4.prefill");
  bench.bind("batch", shared(stage.batch))
      .bind("reference", native_reference(runtime->dtype()))
      .bind("runtime", runtime)
      .bind("fused_embeds", shared(stage.fused_embeds))
      .bind("masks", shared(stage.masks))
      .bind("rope", shared(stage.rope))
      .run();
  return bench.output<ReferencePrompt>("reference_prompt");
}

StepBench run_behind(const std::string& step, const std::shared_ptr<const gemma4::Runtime>& runtime,
                     const std::shared_ptr<const ReferencePrompt>& prompt) {
  const auto before = after_prefill(runtime);
  StepBench bench(step);
  bench.bind("batch", shared(before.batch))
      .bind("reference", native_reference(runtime->dtype()))
      .bind("runtime", runtime)
      .bind("logits", shared(before.logits))
      .bind("kv_cache", shared(before.cache))
      .set("feed", std::string("reference"));
  if (prompt) bench.bind("reference_prompt", prompt);
  bench.run();
  CHECK_FALSE(bench.error());
  return bench;
}
std::string whose_prompt(const StepBench& bench) {
  for (const auto& [key, value] : bench.recorded()) {
    if (key == "reference_prompt") return std::get<std::string>(value.data);
  }
  return "not recorded";
}
/// Every entry of every check with all that was measured.
std::string findings_of(const StepBench& bench) {
  std::string text;
  for (const auto& result : bench.results()) {
    text += result.name + " " + result.subject.value_or("") + " " + std::string(name_of(result.verdict.value())) + " " +
            std::to_string(result.compared) + " " + std::to_string(result.value.value_or(-1)) + "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("decode and generation find the same behind prefill's prompt as behind one of their own") {
  for (const auto dtype : {DType::bfloat16, DType::float32}) {
    const auto runtime = native_runtime(dtype);
    const auto prompt = prompt_after_prefill(runtime);
    REQUIRE(prompt);
    CHECK(prompt->cache.length > 64 - 1);  // sliding layers have dropped positions
    for (const auto* step : {"gemma4.decode", "gemma4.generation"}) {
      CAPTURE(step);
      const auto given = run_behind(step, runtime, prompt);
      const auto own = run_behind(step, runtime, nullptr);
      CHECK(whose_prompt(given) == "given");
      CHECK(whose_prompt(own) == "run here");
      CHECK(findings_of(given) == findings_of(own));
      CHECK(given.summary() == own.summary());
    }
  }
}

TEST_CASE("a prompt of another reference or of other inputs is not taken") {
  const auto runtime = native_runtime(DType::bfloat16);
  const auto good = prompt_after_prefill(runtime);
  const auto changed_prompt = [&](const std::function<void(ReferencePrompt&)>& change) {
    auto prompt = *good;
    auto& values = prompt.cache.layers.front().value;
    values = changed(values, [](at::Tensor& v) { v.zero_(); });  // whoever takes it is wrong
    change(prompt);
    return run_behind("gemma4.decode", runtime, shared(prompt));
  };
  const auto foreign = changed_prompt([](ReferencePrompt& p) { p.made_by = "another"; });
  CHECK(whose_prompt(foreign) == "run here: the given one is of another reference");
  CHECK(foreign.with(lockstep::Verdict::fail).empty());
  const auto other = changed_prompt([](ReferencePrompt& p) {
    p.inputs.pixel_values = changed(*p.inputs.pixel_values, [](at::Tensor& v) { v[0][0][0] += 1; });
  });
  CHECK(whose_prompt(other) == "run here: the given one is of another prompt");
  CHECK(other.with(lockstep::Verdict::fail).empty());
  const auto damaged = changed_prompt([](ReferencePrompt&) {});
  CHECK_FALSE(damaged.with(lockstep::Verdict::fail).empty());
}
