#include "steps/recorded_passes.hpp"

#include <ATen/ops/argmax.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/stack.h>
#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>
#include <lockstep/torch.hpp>
#include <string>
#include <vector>

#include "reference/generation.hpp"

namespace gemma4 {
namespace {

using lockstep::Tensor;
using lockstep::TensorVisitor;

/// Shows tensors to `compare` under names that begin with `prefix`.
TensorVisitor prefixed(std::string prefix, RecordingComparison& compare) {
  return [prefix = std::move(prefix), &compare](std::string_view name, const Tensor& tensor) {
    compare(prefix + std::string(name), tensor);
  };
}

void compare_cache(const KvCache& cache, const std::string& name, RecordingComparison& compare) {
  visit_tensors(cache, [&](std::string_view tensor_name, const Tensor& tensor) {
    compare(name + std::string(tensor_name.substr(std::string_view("cache").size())), tensor);
  });
}

/// The tokens that decode steps were fed, int64 [B, n]; none where the recording has only their hash.
std::optional<at::Tensor> recorded_tokens(const Recording& recording, std::int64_t batch) {
  const std::string name = "decode.tokens";
  const auto values = recording.values(name);
  if (!values || recording.damage(name)) return std::nullopt;
  if (const std::vector<std::int64_t> expected{batch, recording.steps()};
      values->dtype() != lockstep::DType::int64 || values->sizes() != expected) {
    throw lockstep::Error{fmt::format("{}: {} is {}, expected int64 {}", recording.folder().string(), name,
                                      values->to_string(), lockstep::shape_text(expected)),
                          "record again with tools/record_hf.py"};
  }
  return lockstep::to_torch(*values);
}

/// float32 [B, V] of the last position.
at::Tensor last_logits(const Tensor& logits) { return lockstep::to_torch(logits).select(1, -1).to(at::kFloat); }

void replay_decode(ReferenceSession& session, at::Tensor logits, const Recording& recording,
                   RecordingComparison& compare) {
  const auto fed = recorded_tokens(recording, logits.size(0));
  std::vector<at::Tensor> chosen, chosen_by;
  for (std::int64_t step = 0; step < recording.steps(); ++step) {
    chosen_by.push_back(logits);
    chosen.push_back(at::argmax(logits, -1, /*keepdim=*/true));
    const auto token = fed ? fed->slice(1, step, step + 1) : chosen.back();
    logits = last_logits(session.decode(token, prefixed(fmt::format("decode.{}.", step), compare)));
  }
  if (chosen.empty()) return;
  compare.tokens("decode.tokens", at::cat(chosen, 1), at::stack(chosen_by, 1));
  compare_cache(session.snapshot(), "cache_final", compare);
}

void replay_generation(const Reference& reference, const ReferencePrompt& prompt, const Recording& recording,
                       RecordingComparison& compare) {
  if (!recording.tensors().contains("gen.ids")) return;
  std::vector<at::Tensor> logits;
  const auto ids = generate_greedily(reference, prompt, recording.steps() + 1, [&](std::int64_t, const Tensor& scores) {
    logits.push_back(lockstep::to_torch(scores));
  });
  const auto all_logits = at::stack(logits, 1);  // [B, n, V]
  const auto equal = compare.tokens("gen.ids", ids, all_logits);
  // The logits that chose the first differing token still come from equal inputs; those after it do not.
  compare.leading("gen.logits", all_logits, equal + 1);
}

}  // namespace

void replay_passes(const Reference& reference, const ModelInputs& inputs, const Recording& recording,
                   RecordingComparison& compare) {
  const auto session = reference.start();
  const auto logits = last_logits(session->prefill(inputs, 0, prefixed("", compare)));
  compare_cache(session->snapshot(), "cache", compare);
  replay_decode(*session, logits, recording, compare);
  const auto prompt = reference.prompt(inputs);
  compare("prefill_last.logits_capped", prompt.logits);
  replay_generation(reference, prompt, recording, compare);
}

}  // namespace gemma4
