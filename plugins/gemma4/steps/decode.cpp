#include <lockstep/step.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ops/cat.h>
#include <fmt/format.h>

#include <lockstep/torch.hpp>

#include "reference/reference.hpp"
#include "runtime/runtime.hpp"
#include "steps/ask_runtime.hpp"
#include "steps/cache_checks.hpp"
#include "steps/decode_errors.hpp"
#include "steps/decode_inner.hpp"
#include "steps/logits_checks.hpp"
#include "steps/own_error.hpp"
#include "steps/reference_feed.hpp"
#include "steps/reference_prompt.hpp"
#include "steps/tensor_rows.hpp"

namespace {
using namespace lockstep;

/// Compares single-token passes with a growing cache. Both sides get the reference's tokens: as long as the runtime
/// would have chosen the same ones itself, that is free-running decoding; where it would not, the fork is reported with
/// its margin, and the comparison goes on with the reference's token.
struct Decode final : Step {
  In<gemma4::StaticBatch> batch{*this, "batch", "padded inputs"};
  In<gemma4::Reference> reference{*this, "reference", "what is right"};
  In<gemma4::Runtime> runtime{*this, "runtime", "what is verified"};
  In<Tensor> logits{*this, "logits", "[1, vocab] of the prompt's last token"};
  In<gemma4::KvCache> kv_cache{*this, "kv_cache", "the runtime's cache after the prompt"};
  In<gemma4::ReferencePrompt> reference_prompt{
      *this, "reference_prompt", "the reference's pass over the prompt; without it, it is run again", optional};
  Out<gemma4::DecodeErrors> decode_errors{*this, "decode_errors", "what generation needs to explain a fork"};
  Out<Tensor> decode_tokens{*this, "decode_tokens", "int64 [1, steps]: what both sides were fed", optional};
  Out<Tensor> decode_logits{*this, "decode_logits", "[steps, vocab]: the runtime's, a row for each token", optional};
  Out<gemma4::KvCache> decode_cache{*this, "decode_cache", "the runtime's cache after the last step", optional};

  Param<std::int64_t> steps{*this, "steps", "single-token passes", {.default_value = 8, .min = 1, .unit = "tokens"}};
  Param<std::string> mode{*this,
                          "mode",
                          "free_running: a token that the runtime would not have chosen is a finding; teacher_forced: "
                          "logits and caches are compared, tokens are not",
                          {.default_value = "free_running", .choices = {"free_running", "teacher_forced"}}};

  Check room{*this, "room", expect(), "slots of max_seq for every step"};
  gemma4::LogitsChecks logits_checks{*this};
  gemma4::CacheChecks cache_checks{*this};
  gemma4::StepInputChecks step_inputs{*this};
  gemma4::OwnError own_error{*this};

  void run(StepContext& context) override {
    const bool is_fed = own_error.begin();
    const auto free = runtime->layout().max_seq - 1 - kv_cache->length;
    room.expect(*steps <= free,
                fmt::format("the cache has room for {} more tokens, expected {}: raise max_seq or lower "
                            "steps",
                            free, *steps));
    const auto count = std::min(*steps, free);
    const auto session = runtime->resume(*kv_cache);
    const auto prompt = gemma4::prompt_of(context, *reference, *batch, reference_prompt.shared());
    const auto right = reference->resume(*prompt);
    auto expected = gemma4::last_row(prompt->logits);
    std::unique_ptr<gemma4::RuntimeSession> from_reference;
    if (is_fed) {
      own_error.run([&] {
        const auto slots = runtime->layout().max_seq - 1;
        from_reference = runtime->resume(gemma4::static_cache_of(prompt->cache, slots));
      });
    }
    auto own_choice = gemma4::top_two(*logits).first;

    gemma4::DecodeErrors errors{.passed = true, .steps = count, .bound = std::numeric_limits<double>::infinity()};
    std::string forks;
    std::vector<std::int64_t> fed;
    std::vector<at::Tensor> rows;
    for (std::int64_t step = 0; step < count; ++step) {
      context.progress(step, count, "token");
      const auto choice = gemma4::top_two(expected);
      if (choice.first != own_choice) {
        forks += fmt::format("{}{}: {}", forks.empty() ? "forks at step " : ", ", step,
                             gemma4::margin_text(choice, expected.dtype()));
      }
      const auto token = gemma4::single(choice.first);
      gemma4::DecodeInner inner;
      const auto length = session->length();
      const auto answer = gemma4::ask_runtime(context, logits_checks.logits(), [&] {
        auto row = session->decode(token, collecting(inner));
        return std::pair(std::move(row), session->snapshot());
      });
      if (!answer) return;
      const auto& [actual, cache_now] = *answer;
      fed.push_back(choice.first);
      rows.push_back(to_torch(actual));
      expected = gemma4::last_row(right->decode(token));
      const auto subject = fmt::format("step {}", step);
      const auto outcome = logits_checks.compare(expected, actual, subject, *mode == "free_running");
      compare_inner(inner, actual, length, subject);
      const auto expected_cache = right->snapshot();
      const bool cache = cache_checks.compare(expected_cache, cache_now, subject);
      if (from_reference) compare_fed(*from_reference, token, expected, expected_cache, subject);
      errors.passed = errors.passed && outcome.within_bound && cache && (outcome.same_token || outcome.near_tie);
      errors.bound = std::min(errors.bound, outcome.bound);
      own_choice = outcome.actual.first;
    }
    if (!softcap_shown_) logits_checks.leave_out_softcap();
    step_inputs.leave_out_what_was_not_shown();
    context.progress(count, count, "token");
    own_error.summarize(context, fmt::format("{} steps{}{}", count, forks.empty() ? "" : ", ", forks));
    decode_errors = errors;
    if (rows.empty()) return;
    decode_tokens = Tensor::copy_of(std::span<const std::int64_t>(fed), {1, count});
    decode_logits = Tensor(at::cat(rows, 0));
    decode_cache = session->snapshot();
  }

 private:
  /// The softcap of what the runtime shows, its masks and its rope.
  void compare_inner(const gemma4::DecodeInner& inner, const Tensor& actual, std::int64_t length,
                     const std::string& subject) {
    if (const auto cap = reference->checkpoint().config().text.final_logit_softcapping; inner.logits_raw && cap) {
      softcap_shown_ = true;
      logits_checks.compare_softcap(*inner.logits_raw, actual, *cap, subject);
    }
    step_inputs.compare(inner, *reference, runtime->layout().max_seq, length, subject);
  }

  /// The step from the reference's cache.
  void compare_fed(gemma4::RuntimeSession& session, const Tensor& token, const Tensor& expected,
                   const gemma4::KvCache& cache, const std::string& subject) {
    own_error.run([&] {
      own_error.logits(expected, session.decode(token), subject, *mode == "free_running");
      own_error.cache(cache, session.snapshot(), subject);
    });
  }

  bool softcap_shown_ = false;
};
}  // namespace

LOCKSTEP_STEP("gemma4.decode", Decode, "verifies decoding token by token: logits and caches")
