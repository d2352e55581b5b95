#include "steps/generation_run.hpp"

#include <algorithm>

#include <ATen/TensorOperators.h>
#include <fmt/format.h>

#include <lockstep/torch.hpp>

#include "steps/tensor_rows.hpp"

namespace gemma4 {

using lockstep::Tensor;
using lockstep::to_torch;

GenerationRun generate_after(const Runtime& runtime, const KvCache& cache, const Tensor& logits, const Tokens& right,
                             std::size_t given, std::int64_t max_new_tokens,
                             const std::function<void(std::int64_t tokens)>& each) {
  const auto session = runtime.resume(cache);
  GenerationRun run;
  auto row = logits;
  for (std::size_t i = 0; i < given; ++i) {
    run.logits.push_back(row);
    run.generation.tokens.push_back(right[i]);
    each(std::ssize(run.logits));
    if (i + 1 == right.size()) break;
    row = session->decode(single(right[i]));
  }
  const auto left = max_new_tokens - static_cast<std::int64_t>(given);
  if (left == 0 || (given > 0 && given == right.size())) {
    run.generation.stop = left == 0 ? "length" : "eos";
    return run;
  }
  const auto rest = session->generate(row, left, [&](std::int64_t step, const Tensor& l) {
    run.keep(step, l);
    each(std::ssize(run.logits));
  });
  run.generation.tokens.insert(run.generation.tokens.end(), rest.tokens.begin(), rest.tokens.end());
  run.generation.stop = rest.stop;
  return run;
}

std::optional<std::size_t> fork_of(const Tokens& expected, const Tokens& actual) {
  const auto [e, a] = std::ranges::mismatch(expected, actual);
  if (e == expected.end() && a == actual.end()) return std::nullopt;
  return static_cast<std::size_t>(e - expected.begin());
}

std::optional<ForkMargin> margin_at(const GenerationRun& expected, const GenerationRun& actual, std::size_t fork) {
  const auto& right = expected.generation.tokens;
  const auto& found = actual.generation.tokens;
  if (fork >= right.size() || fork >= found.size()) return std::nullopt;
  const auto e = to_torch(expected.logits[fork]).to(at::kDouble).flatten();
  const auto a = to_torch(actual.logits[fork]).to(at::kDouble).flatten();
  return ForkMargin{.margin = e[right[fork]].item().toDouble() - e[found[fork]].item().toDouble(),
                    .error = (e - a).abs().max().item().toDouble()};
}

std::string fork_text(const GenerationRun& expected, const GenerationRun& actual, std::size_t fork,
                      const Tokenizer& tokenizer) {
  const auto token = [&](const Tokens& list) {
    return fork < list.size() ? fmt::format("{} ({:?})", list[fork], tokenizer.token_of(list[fork]).value_or("?"))
                              : std::string("none");
  };
  auto text = fmt::format("token {} is {}, expected {}", fork, token(actual.generation.tokens),
                          token(expected.generation.tokens));
  if (const auto at = margin_at(expected, actual, fork)) {
    text += fmt::format("; the reference's margin is {:.4g}, the largest error of the logits {:.4g}", at->margin,
                        at->error);
  }
  return text;
}

}  // namespace gemma4
