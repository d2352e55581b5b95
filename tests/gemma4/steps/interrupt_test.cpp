// Ctrl-C during a long stage: every layer and token is a place where it ends.

#include <ATen/TensorOperators.h>

#include "catch.hpp"
#include "gemma4/steps/text_steps.hpp"

using namespace gemma4::test;
using lockstep::DType;
using lockstep::StepBench;
using lockstep::Tensor;

namespace {

StepBench bench_of(const std::string& step, const std::shared_ptr<const gemma4::Runtime>& runtime) {
  StepBench bench(step);
  const auto before = after_prefill(runtime);
  const auto stage = before_prefill(runtime);
  bench.bind("batch", shared(stage.batch))
      .bind("reference", native_reference(runtime->dtype()))
      .bind("runtime", runtime);
  if (step == "gemma4.prefill") {
    bench.bind("fused_embeds", shared(stage.fused_embeds))
        .bind("masks", shared(stage.masks))
        .bind("rope", shared(stage.rope));
  } else if (step != "gemma4.vision_prefill") {
    bench.bind("logits", shared(before.logits)).bind("kv_cache", shared(before.cache));
  }
  return bench;
}
/// The reports of a whole run.
Names reports_of(const std::string& step) { return bench_of(step, native_runtime(DType::bfloat16)).run().progress(); }

}  // namespace

TEST_CASE("the long stages report every layer and every token of both sides") {
  const auto prefill = reports_of("gemma4.prefill");
  REQUIRE(prefill.size() == 20);
  CHECK(prefill[0] == "runtime layer 1 of 10");
  CHECK(prefill[9] == "runtime layer 10 of 10");
  CHECK(prefill[10] == "reference layer 1 of 10");
  CHECK(prefill[19] == "reference layer 10 of 10");
  const auto vision = reports_of("gemma4.vision_prefill");
  const auto layers = native_reference(DType::bfloat16)->checkpoint().config().vision->num_hidden_layers;
  REQUIRE(std::ssize(vision) == 3 * layers);
  CHECK(vision[0].starts_with("runtime layer 1 of "));
  CHECK(vision[static_cast<std::size_t>(layers)].starts_with("eager layer 1 of "));
  CHECK(vision[static_cast<std::size_t>(2 * layers)].starts_with("reference layer 1 of "));
  const auto decode = reports_of("gemma4.decode");
  CHECK(decode.front() == "reference layer 1 of 10");  // the prompt, which no prefill handed on
  CHECK(std::ranges::count(decode, "token 3 of 8") == 1);
  const auto generation = reports_of("gemma4.generation");
  CHECK(std::ranges::count(generation, "reference token 3 of 16") == 1);
  CHECK(std::ranges::count(generation, "runtime token 3 of 16") == 1);
}

TEST_CASE("an interruption ends a stage at its next layer or token, wherever it comes") {
  for (const auto* step : {"gemma4.prefill", "gemma4.vision_prefill", "gemma4.decode", "gemma4.generation"}) {
    const auto runtime = native_runtime(DType::bfloat16);
    const auto all = bench_of(step, runtime).run().progress().size();
    for (std::size_t report = 1; report < all; report += 5) {
      CAPTURE(step, report);
      auto bench = bench_of(step, runtime);
      bench.interrupt_after(report).run();
      CHECK(bench.status() == "skipped");
      CHECK(bench.skip_reason() == "interrupted");
      CHECK(bench.progress().size() == report);
      CHECK(bench.results().empty());
    }
  }
}
