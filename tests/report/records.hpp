#pragma once

#include "engine/record.hpp"

namespace lockstep::test {

inline StepRecord step(std::string id, StepStatus status, double seconds) {
  StepRecord record;
  record.id = std::move(id);
  record.uses = "gemma4." + record.id;
  record.status = status;
  record.seconds = seconds;
  return record;
}

inline CheckResult check(std::string name, Metric metric, Verdict verdict) {
  CheckResult result;
  result.name = std::move(name);
  result.metric = metric;
  result.verdict = verdict;
  result.bound_source = "default";
  return result;
}

inline CheckResult bits_equal(std::string name, std::int64_t compared) {
  auto result = check(std::move(name), Metric::close, Verdict::pass);
  result.value = 0;
  result.bound = {.rtol = 0.016, .atol = 1e-5};
  result.compared = compared;
  result.ladder = "bits_equal";
  return result;
}

/// The run that the documentation shows: each status once or more.
inline RunRecord example() {
  RunRecord run;
  run.pipeline_name = "gemma4-static-runtime";
  run.pipeline_file = "pipelines/gemma4.toml";
  run.environment = {{"libtorch", "2.13.0"},          {"cpu_capability", "AVX2"}, {"threads", 2}, {"seed", 0},
                     {"checkpoint", "shapes-gemma4"}, {"dtype", "bfloat16"}};
  run.verdict = RunVerdict::fail;
  run.exit_code = 1;
  run.seconds = 0.71;
  run.peak_rss_bytes = std::int64_t{190} << 20;
  run.peak_private_bytes = std::int64_t{64} << 20;

  auto checkpoint = step("checkpoint", StepStatus::done, 0.01);
  checkpoint.summary = "286 tensors, 2.49 M parameters";
  auto reference = step("reference", StepStatus::done, 0.0);
  auto runtime = step("runtime", StepStatus::done, 0.0);
  runtime.summary = "shapes_24x24_64, max_seq 160";

  auto inputs = step("build_static_inputs", StepStatus::pass, 0.02);
  for (int i = 0; i < 9; ++i) inputs.checks.push_back(check("rule_" + std::to_string(i), Metric::equal, Verdict::pass));

  auto embedding = step("token_embedding", StepStatus::pass, 0.0);
  embedding.checks = {bits_equal("matches_reference", 20480), bits_equal("scale_applied", 20480)};
  embedding.inputs = {{"batch", "build_static_inputs.batch"}};
  embedding.outputs = {{"text_embeds", "lockstep.tensor/1", {{"", DType::bfloat16, {1, 160, 128}}}},
                       {"batch", "gemma4.static_batch/1", {{"input_ids", DType::int64, {1, 160}}}}};
  embedding.parameters = {{"dtype", "bfloat16"}};

  auto vision = step("vision_prefill", StepStatus::warn, 0.31);
  vision.checks = {bits_equal("matches_eager_model", 8192), check("peir_vs_float", Metric::peir, Verdict::warn)};
  vision.checks[1].level = Level::inform;
  vision.checks[1].value = 0.031;
  vision.checks[1].bound.max = 0.02;
  vision.checks[1].bound_source = "pipelines/gemma4.toml:42:1";

  auto fusion = step("mm_fusion", StepStatus::fail, 0.0);
  fusion.checks = {check("matches_reference", Metric::bits, Verdict::fail)};
  fusion.checks[0].compared = 20480;
  fusion.checks[0].mismatched = 1024;
  fusion.checks[0].ladder = "far";
  fusion.checks[0].expected = "reference";
  fusion.checks[0].worst = CheckResult::Worst{{0, 65, 3}, -0.4130859375, 0.3984375};
  fusion.checks[0].statistics = {{"max_abs", 0.8115234375}};

  auto prefill = step("prefill", StepStatus::skipped, 0.0);
  prefill.reason = "not built yet";
  run.steps = {checkpoint, reference, runtime, inputs, embedding, vision, fusion, prefill};
  return run;
}

}  // namespace lockstep::test
