#include "reference/generation.hpp"

#include <ATen/ops/argmax.h>
#include <ATen/ops/cat.h>
#include <fmt/format.h>

#include <algorithm>
#include <lockstep/diagnostic.hpp>
#include <lockstep/torch.hpp>
#include <vector>

namespace gemma4 {

lockstep::Tensor generate_greedily(const Reference& reference, const ReferencePrompt& prompt,
                                   std::int64_t max_new_tokens,
                                   const std::function<void(std::int64_t step, const lockstep::Tensor& logits)>& each) {
  if (max_new_tokens < 1) {
    throw lockstep::Error{fmt::format("max_new_tokens is {}, expected at least 1", max_new_tokens)};
  }
  const auto& eos = reference.checkpoint().generation().eos_token_ids;
  const auto session = reference.resume(prompt);
  std::vector<char> finished(static_cast<std::size_t>(prompt.inputs.input_ids.size(0)), 0);
  std::vector<at::Tensor> columns;
  auto logits = prompt.logits;
  for (std::int64_t step = 0;; ++step) {
    const auto scores = lockstep::to_torch(logits).select(1, -1).to(at::kFloat);
    if (each) each(step, scores);
    const auto tokens = at::argmax(scores, -1, /*keepdim=*/true);
    auto* token = tokens.mutable_data_ptr<std::int64_t>();
    for (auto& row : finished) {
      if (row) *token = reference.checkpoint().config().tokens.pad;
      row = row || std::ranges::find(eos, *token) != eos.end();
      ++token;
    }
    columns.push_back(tokens);
    const bool all_finished = std::ranges::all_of(finished, [](char row) { return row != 0; });
    if (all_finished || step + 1 == max_new_tokens) return at::cat(columns, 1);
    logits = session->decode(tokens);
  }
}

}  // namespace gemma4
