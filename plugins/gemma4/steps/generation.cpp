#include <lockstep/step.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <fmt/format.h>

#include <lockstep/torch.hpp>

#include "processor/tokenizer.hpp"
#include "reference/reference.hpp"
#include "runtime/runtime.hpp"
#include "steps/ask_runtime.hpp"
#include "steps/decode_errors.hpp"
#include "steps/logits_checks.hpp"
#include "steps/model_inputs.hpp"

namespace {
using namespace lockstep;

using Tokens = std::vector<std::int64_t>;

/// A greedy generation with the logits that chose each token.
struct Run {
  gemma4::Generation generation;
  std::vector<Tensor> logits;

  void keep(std::int64_t, const Tensor& row) { logits.push_back(row); }
};

/// Where two lists part; none if they are equal.
std::optional<std::size_t> fork_of(const Tokens& expected, const Tokens& actual) {
  const auto [e, a] = std::ranges::mismatch(expected, actual);
  if (e == expected.end() && a == actual.end()) return std::nullopt;
  return static_cast<std::size_t>(e - expected.begin());
}

/// What both sides say at a fork where both chose a token from logits of the same context.
struct Fork {
  double margin = 0;  ///< by which the reference prefers its own token to the runtime's
  double error = 0;   ///< max |a - e| of the logits
};
Fork measure(const Tensor& expected, const Tensor& actual, std::int64_t expected_token, std::int64_t actual_token) {
  const auto right = to_torch(expected).to(at::kDouble).flatten();
  const auto found = to_torch(actual).to(at::kDouble).flatten();
  return {.margin = right[expected_token].item().toDouble() - right[actual_token].item().toDouble(),
          .error = (right - found).abs().max().item().toDouble()};
}

/// Compares what both sides generate, token by token, without the prompt. A differing token is explained by rounding
/// only where decode passed and the reference was all but undecided.
struct GenerationStep final : Step {
  In<gemma4::StaticBatch> batch{*this, "batch", "padded inputs"};
  In<gemma4::Reference> reference{*this, "reference", "what is right"};
  In<gemma4::Runtime> runtime{*this, "runtime", "what is verified"};
  In<Tensor> logits{*this, "logits", "[1, vocab] of the prompt's last token"};
  In<gemma4::KvCache> kv_cache{*this, "kv_cache", "the runtime's cache after the prompt"};
  In<gemma4::DecodeErrors> decode_errors{*this, "decode_errors", "what decode found; without it no fork is explained",
                                         optional};

  Out<Tensor> generated_tokens{*this, "generated_tokens", "int64 [1, n]: the runtime's own", optional};
  Out<Tensor> generated_logits{*this, "generated_logits", "[n, vocab]: the rows that chose them", optional};

  Param<std::int64_t> max_new_tokens{
      *this, "max_new_tokens", "longest generated text", {.default_value = 16, .min = 1, .unit = "tokens"}};
  Param<std::int64_t> max_forks{
      *this, "max_forks", "explained forks that are accepted", {.default_value = 1, .min = 0}};

  Check tokens{*this, "tokens", expect(), "reference's tokens"};
  Check forks{*this, "forks", expect(), "no token differs, explained or not", Level::inform};
  Check length{*this, "length", equal(), "tokens that the reference generates"};
  Check stop{*this, "stop", equal(), "why the reference stops"};

  void run(StepContext& context) override {
    const auto tokenizer = gemma4::Tokenizer::from_checkpoint(reference->checkpoint());
    Run expected;
    expected.generation = reference->generate(gemma4::model_inputs_of(*batch), *max_new_tokens,
                                              [&](std::int64_t step, const Tensor& row) { expected.keep(step, row); });
    const auto answer = gemma4::ask_runtime(context, tokens, [&] { return generate_along(expected, tokenizer); });
    if (!answer) return;
    const auto& actual = *answer;

    const auto& right = expected.generation;
    length.equal(Expected{right.tokens.size()}, Actual{actual.tokens.size()});
    stop.equal(Expected{right.stop}, Actual{actual.stop});
    const auto expected_text = tokenizer.decode(right.tokens);
    const auto actual_text = tokenizer.decode(actual.tokens);
    context.record("expected_text", expected_text);
    context.record("actual_text", actual_text);
    context.summary(expected_text == actual_text
                        ? fmt::format("{} tokens, {}: \"{}\"", right.tokens.size(), right.stop, expected_text)
                        : fmt::format("expected \"{}\", actual \"{}\"", expected_text, actual_text));
  }

 private:
  /// The runtime's own generation; after an explained fork it goes on from the reference's token.
  gemma4::Generation generate_along(const Run& expected, const gemma4::Tokenizer& tokenizer) {
    const auto& right = expected.generation.tokens;
    std::int64_t explained = 0;
    std::size_t given = 0;  // tokens of the reference that the runtime was made to take
    while (true) {
      const auto actual = generate_after(right, given);
      if (given == 0) publish(actual);
      const auto fork = fork_of(right, actual.generation.tokens);
      if (!fork) {
        tokens.expect(true, {});
        if (explained == 0) forks.expect(true, {});
        return actual.generation;
      }
      const auto message = describe(expected, actual, *fork, tokenizer);
      if (!is_explained(expected, actual, *fork) || explained == *max_forks) {
        tokens.expect(false, message);
        return actual.generation;
      }
      ++explained;
      forks.expect(false, message + ": explained by rounding, as decode passed");
      given = *fork + 1;
    }
  }

  void publish(const Run& run) {
    if (run.logits.empty()) return;
    const auto& ids = run.generation.tokens;
    generated_tokens = Tensor::copy_of(std::span<const std::int64_t>(ids), {1, std::ssize(ids)});
    std::vector<at::Tensor> rows;
    for (const auto& row : run.logits) rows.push_back(to_torch(row));
    generated_logits = Tensor(at::cat(rows, 0));
  }

  /// Takes the first `given` tokens of `right`, then chooses itself.
  Run generate_after(const Tokens& right, std::size_t given) {
    const auto session = runtime->resume(*kv_cache);
    Run run;
    auto row = *logits;
    for (std::size_t i = 0; i < given; ++i) {
      run.logits.push_back(row);
      run.generation.tokens.push_back(right[i]);
      if (i + 1 == right.size()) break;
      row = session->decode(Tensor::copy_of(std::span<const std::int64_t>(&right[i], 1), {1, 1}));
    }
    const auto left = *max_new_tokens - static_cast<std::int64_t>(given);
    if (left == 0 || (given > 0 && given == right.size())) {
      run.generation.stop = left == 0 ? "length" : "eos";
      return run;
    }
    const auto rest = session->generate(row, left, [&run](std::int64_t step, const Tensor& l) { run.keep(step, l); });
    run.generation.tokens.insert(run.generation.tokens.end(), rest.tokens.begin(), rest.tokens.end());
    run.generation.stop = rest.stop;
    return run;
  }

  [[nodiscard]] bool is_explained(const Run& expected, const Run& actual, std::size_t fork) const {
    const auto& right = expected.generation.tokens;
    const auto& found = actual.generation.tokens;
    if (fork >= right.size() || fork >= found.size()) return false;  // one side stopped: that is not rounding
    if (!decode_errors || !decode_errors->passed) return false;
    const auto at = measure(expected.logits[fork], actual.logits[fork], right[fork], found[fork]);
    return at.margin <= at.error && at.margin <= decode_errors->bound;
  }

  [[nodiscard]] static std::string describe(const Run& expected, const Run& actual, std::size_t fork,
                                            const gemma4::Tokenizer& tokenizer) {
    const auto& right = expected.generation.tokens;
    const auto& found = actual.generation.tokens;
    const auto token = [&](const Tokens& list) {
      return fork < list.size() ? fmt::format("{} ({:?})", list[fork], tokenizer.token_of(list[fork]).value_or("?"))
                                : std::string("none");
    };
    auto text = fmt::format("token {} is {}, expected {}", fork, token(found), token(right));
    if (fork < right.size() && fork < found.size()) {
      const auto at = measure(expected.logits[fork], actual.logits[fork], right[fork], found[fork]);
      text += fmt::format("; the reference's margin is {:.4g}, the largest error of the logits {:.4g}", at.margin,
                          at.error);
    }
    return text;
  }
};
}  // namespace

LOCKSTEP_STEP("gemma4.generation", GenerationStep, "verifies greedy generation: tokens, length and stop reason")
