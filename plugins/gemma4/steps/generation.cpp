#include <lockstep/step.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/isfinite.h>
#include <fmt/format.h>

#include <lockstep/torch.hpp>

#include "processor/tokenizer.hpp"
#include "reference/reference.hpp"
#include "runtime/runtime.hpp"
#include "steps/ask_runtime.hpp"
#include "steps/decode_errors.hpp"
#include "steps/generation_run.hpp"
#include "steps/logits_checks.hpp"
#include "steps/own_error.hpp"
#include "steps/reference_feed.hpp"
#include "steps/reference_prompt.hpp"
#include "steps/tensor_rows.hpp"

namespace {
using namespace lockstep;
using Run = gemma4::GenerationRun;

/// Compares what both sides generate, token by token, without the prompt. A differing token is explained by rounding
/// only where decode passed and the reference was all but undecided.
struct GenerationStep final : Step {
  In<gemma4::StaticBatch> batch{*this, "batch", "padded inputs"};
  In<gemma4::Reference> reference{*this, "reference", "what is right"};
  In<gemma4::Runtime> runtime{*this, "runtime", "what is verified"};
  In<Tensor> logits{*this, "logits", "[1, vocab] of the prompt's last token"};
  In<gemma4::KvCache> kv_cache{*this, "kv_cache", "the runtime's cache after the prompt"};
  In<gemma4::ReferencePrompt> reference_prompt{
      *this, "reference_prompt", "the reference's pass over the prompt; without it, it is run again", optional};
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
  Check greedy{*this, "greedy", expect(), "the runtime's tokens are the arg max of its own logits, which are finite"};
  Check length{*this, "length", equal(), "tokens that the reference generates"};
  Check stop{*this, "stop", equal(), "why the reference stops"};
  gemma4::OwnError own_error{*this};

  void run(StepContext& context) override {
    const bool fed = own_error.begin();
    const auto tokenizer = gemma4::Tokenizer::from_checkpoint(reference->checkpoint());
    Run expected;
    const auto prompt = gemma4::prompt_of(context, *reference, *batch, reference_prompt.shared());
    expected.generation = reference->generate(*prompt, *max_new_tokens, [&](std::int64_t step, const Tensor& row) {
      expected.keep(step, row);
      context.progress(step + 1, *max_new_tokens, "reference token");
    });
    const auto answer =
        gemma4::ask_runtime(context, tokens, [&] { return generate_along(context, expected, tokenizer); });
    if (!answer) return;
    const auto& actual = *answer;

    const auto& right = expected.generation;
    length.equal(Expected{right.tokens.size()}, Actual{actual.tokens.size()});
    stop.equal(Expected{right.stop}, Actual{actual.stop});
    const auto expected_text = tokenizer.decode(right.tokens);
    const auto actual_text = tokenizer.decode(actual.tokens);
    context.record("expected_text", expected_text);
    context.record("actual_text", actual_text);
    if (fed) compare_fed(context, *prompt, expected, tokenizer);
    own_error.summarize(context,
                        (expected_text == actual_text
                             ? fmt::format("{} tokens, {}: {:?}", right.tokens.size(), right.stop, expected_text)
                             : fmt::format("expected {:?}, actual {:?}", expected_text, actual_text)));
  }

 private:
  std::function<void(std::int64_t)> reporting(StepContext& context, std::string_view unit) const {
    return [this, &context, unit](std::int64_t count) { context.progress(count, *max_new_tokens, unit); };
  }

  /// The runtime's own generation; after an explained fork it goes on from the reference's token.
  gemma4::Generation generate_along(StepContext& context, const Run& expected, const gemma4::Tokenizer& tokenizer) {
    const auto& right = expected.generation.tokens;
    std::int64_t explained = 0;
    std::size_t given = 0;  // tokens of the reference that the runtime was made to take
    while (true) {
      const auto actual = gemma4::generate_after(*runtime, *kv_cache, *logits, right, given, *max_new_tokens,
                                                 reporting(context, "runtime token"));
      if (given == 0) {
        publish(actual);
        check_greedy(actual);
      }
      const auto fork = gemma4::fork_of(right, actual.generation.tokens);
      if (!fork) {
        tokens.expect(true, {});
        if (explained == 0) forks.expect(true, {});
        return actual.generation;
      }
      const auto message = gemma4::fork_text(expected, actual, *fork, tokenizer);
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

  void check_greedy(const Run& run) {
    const auto count = std::min(run.logits.size(), run.generation.tokens.size());
    if (count == 0) return greedy.configure({.level = Level::off});  // the runtime shows no logits
    for (std::size_t i = 0; i < count; ++i) {
      const auto row = to_torch(run.logits[i]).to(at::kFloat);
      const auto token = run.generation.tokens[i];
      const bool finite = at::isfinite(row).all().item().toBool();
      if (finite && gemma4::top_two(run.logits[i]).first == token) continue;
      const auto why = finite ? fmt::format("{} is the largest logit", gemma4::top_two(run.logits[i]).first)
                              : std::string("its logits are not finite");
      greedy.expect(false, fmt::format("token {} is {}, but {}", i, token, why));
      return;
    }
    greedy.expect(true, {});
  }

  [[nodiscard]] bool is_explained(const Run& expected, const Run& actual, std::size_t fork) const {
    if (!decode_errors || !decode_errors->passed) return false;
    const auto at = gemma4::margin_at(expected, actual, fork);
    return at && at->margin <= at->error && at->margin <= decode_errors->bound;
  }

  /// The same generation from the reference's cache and logits. Rows are compared as long as their contexts agree.
  void compare_fed(StepContext& context, const gemma4::ReferencePrompt& prompt, const Run& expected,
                   const gemma4::Tokenizer& tokenizer) {
    own_error.run([&] {
      const auto cache = gemma4::static_cache_of(prompt.cache, runtime->layout().max_seq - 1);
      const auto first = gemma4::last_row(prompt.logits);
      const auto& tokens_right = expected.generation.tokens;
      const auto actual = gemma4::generate_after(*runtime, cache, first, tokens_right, 0, *max_new_tokens,
                                                 reporting(context, "runtime token, fed"));
      const auto fork = gemma4::fork_of(tokens_right, actual.generation.tokens);
      const auto alike =
          std::min({expected.logits.size(), actual.logits.size(), fork.value_or(tokens_right.size()) + 1});
      bool good = true;
      for (std::size_t i = 1; i < alike; ++i) {  // those of token 0 are the reference's own, which it was given
        const Tensor row(to_torch(expected.logits[i]).to(to_torch(first.dtype())));
        good = own_error.logits(row, actual.logits[i], fmt::format("token {}", i), false) && good;
      }
      const auto at = fork ? gemma4::margin_at(expected, actual, *fork) : std::nullopt;
      const bool same = !fork || (good && at && at->margin <= at->error);
      own_error.expect(same, same ? "" : gemma4::fork_text(expected, actual, *fork, tokenizer), "tokens");
      const bool stops = fork || expected.generation.stop == actual.generation.stop;
      own_error.expect(stops, stops ? "" : fmt::format("stops by {}", actual.generation.stop), "stop");
    });
  }
};
}  // namespace

LOCKSTEP_STEP("gemma4.generation", GenerationStep, "verifies greedy generation: tokens, length and stop reason")
