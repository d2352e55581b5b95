#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/text_tensors.hpp"
#include "processor/tokenizer.hpp"
#include "runtime/runtime.hpp"

namespace gemma4 {

using Tokens = std::vector<std::int64_t>;

/// A greedy generation with the logits that chose each token.
struct GenerationRun {
  Generation generation;
  std::vector<lockstep::Tensor> logits;

  void keep(std::int64_t, const lockstep::Tensor& row) { logits.push_back(row); }
};

/// What the runtime generates from `logits` T [1, V] and `cache`: it takes the first `given` tokens of `right`, then
/// chooses itself. `each` sees how many tokens there are, after each.
[[nodiscard]] GenerationRun generate_after(const Runtime& runtime, const KvCache& cache, const lockstep::Tensor& logits,
                                           const Tokens& right, std::size_t given, std::int64_t max_new_tokens,
                                           const std::function<void(std::int64_t tokens)>& each);

/// Where two lists part; none if they are equal.
[[nodiscard]] std::optional<std::size_t> fork_of(const Tokens& expected, const Tokens& actual);

/// What both sides say at a fork where both chose a token from logits of the same context.
struct ForkMargin {
  double margin = 0;  ///< by which the reference prefers its own token to the runtime's
  double error = 0;   ///< max |a - e| of the logits
};
/// None where one side has stopped: that is not rounding.
[[nodiscard]] std::optional<ForkMargin> margin_at(const GenerationRun& expected, const GenerationRun& actual,
                                                  std::size_t fork);
/// "token 3 is 5 (…), expected 7 (…); the reference's margin is …"
[[nodiscard]] std::string fork_text(const GenerationRun& expected, const GenerationRun& actual, std::size_t fork,
                                    const Tokenizer& tokenizer);

}  // namespace gemma4
