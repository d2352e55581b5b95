#include <lockstep/step.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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
#include "steps/layer_types.hpp"
#include "steps/logits_checks.hpp"
#include "steps/model_inputs.hpp"

namespace {
using namespace lockstep;

Tensor one_token(std::int64_t id) { return Tensor::copy_of(std::span<const std::int64_t>(&id, 1), {1, 1}); }

/// [1, 1, V] as [1, V]
Tensor row_of(const Tensor& logits) {
  return {
      logits.owner(), logits.data(), logits.dtype(), {1, logits.size(2)}, {logits.strides()[1], logits.strides()[2]}};
}

/// What the runtime shows of one step.
struct Inner {
  gemma4::AttentionMasks masks;
  gemma4::RopeTables rope;
  std::optional<Tensor> logits_raw;
};

TensorVisitor collecting(Inner& inner) {
  return [&inner](std::string_view name, const Tensor& tensor) {
    if (name == "logits_raw") inner.logits_raw = tensor;
    if (name == "mask.sliding") inner.masks.sliding = tensor;
    if (name == "mask.full") inner.masks.full = tensor;
    if (name == "rope.sliding.cos") inner.rope.sliding.cos = tensor;
    if (name == "rope.sliding.sin") inner.rope.sliding.sin = tensor;
    if (name == "rope.full.cos") inner.rope.full.cos = tensor;
    if (name == "rope.full.sin") inner.rope.full.sin = tensor;
  };
}

/// Compares single-token passes with a growing cache. Both sides get the reference's tokens: as long as the runtime
/// would have chosen the same ones itself, that is free-running decoding; where it would not, the fork is reported with
/// its margin, and the comparison goes on with the reference's token.
struct Decode final : Step {
  In<gemma4::StaticBatch> batch{*this, "batch", "padded inputs"};
  In<gemma4::Reference> reference{*this, "reference", "what is right"};
  In<gemma4::Runtime> runtime{*this, "runtime", "what is verified"};
  In<Tensor> logits{*this, "logits", "[1, vocab] of the prompt's last token"};
  In<gemma4::KvCache> kv_cache{*this, "kv_cache", "the runtime's cache after the prompt"};
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
  Check step_mask{*this, "step_mask", expect(),
                  "0 for the last valid slots within the window and for the token itself"};
  Check step_rope{*this, "step_rope", close(), "reference's cos and sin of the token's position"};

  void run(StepContext& context) override {
    const auto free = runtime->layout().max_seq - 1 - kv_cache->length;
    room.expect(*steps <= free,
                fmt::format("the cache has room for {} more tokens, expected {}: raise max_seq or lower "
                            "steps",
                            free, *steps));
    const auto count = std::min(*steps, free);
    const auto session = runtime->resume(*kv_cache);
    const auto right = reference->start();
    auto expected = row_of(right->prefill(gemma4::model_inputs_of(*batch), 1));
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
      const auto token = one_token(choice.first);
      Inner inner;
      const auto length = session->length();
      const auto answer = gemma4::ask_runtime(context, logits_checks.logits(), [&] {
        auto row = session->decode(token, collecting(inner));
        return std::pair(std::move(row), session->snapshot());
      });
      if (!answer) return;
      const auto& [actual, cache_now] = *answer;
      fed.push_back(choice.first);
      rows.push_back(to_torch(actual));
      expected = row_of(right->decode(token));
      const auto subject = fmt::format("step {}", step);
      const auto outcome = logits_checks.compare(expected, actual, subject, *mode == "free_running");
      compare_inner(inner, actual, length, subject);
      const bool cache = cache_checks.compare(right->snapshot(), cache_now, subject);
      errors.passed = errors.passed && outcome.within_bound && cache && (outcome.same_token || outcome.near_tie);
      errors.bound = std::min(errors.bound, outcome.bound);
      own_choice = outcome.actual.first;
    }
    leave_out_what_was_not_shown();
    context.progress(count, count, "token");
    context.summary(fmt::format("{} steps{}{}", count, forks.empty() ? "" : ", ", forks));
    decode_errors = errors;
    if (rows.empty()) return;
    decode_tokens = Tensor::copy_of(std::span<const std::int64_t>(fed), {1, count});
    decode_logits = Tensor(at::cat(rows, 0));
    decode_cache = session->snapshot();
  }

 private:
  void compare_inner(const Inner& inner, const Tensor& actual, std::int64_t length, const std::string& subject) {
    const auto& config = reference->checkpoint().config().text;
    if (inner.logits_raw && config.final_logit_softcapping) {
      softcap_shown_ = true;
      logits_checks.compare_softcap(*inner.logits_raw, actual, *config.final_logit_softcapping, subject);
    }
    const auto expected = reference->rope(one_token(length));
    for (const auto type : gemma4::layer_types(config)) {
      const auto name = fmt::format("{} {}", subject, gemma4::name_of(type));
      const auto window = type == gemma4::LayerType::sliding_attention ? config.sliding_window : 0;
      if (inner.masks[type].numel() > 0) compare_mask(name, inner.masks[type], length, window);
      const auto& rope = inner.rope[type];
      if (rope.cos.numel() > 0) step_rope.at(name + " cos").compare(Expected{expected[type].cos}, Actual{rope.cos});
      if (rope.sin.numel() > 0) step_rope.at(name + " sin").compare(Expected{expected[type].sin}, Actual{rope.sin});
    }
  }

  /// The cache holds `length` positions before the token, which comes last among the keys.
  void compare_mask(const std::string& name, const Tensor& mask, std::int64_t length, std::int64_t window) {
    const auto slots = runtime->layout().max_seq;
    const auto first = window == 0 ? 0 : std::max<std::int64_t>(0, length - window + 1);
    const auto values = to_torch(mask).to(at::kDouble).contiguous();
    if (values.numel() != slots) {
      step_mask.at(name).expect(false, fmt::format("the mask is {}, expected {} slots", mask.to_string(), slots));
      return;
    }
    const std::span<const double> row(values.const_data_ptr<double>(), static_cast<std::size_t>(slots));
    std::int64_t slot = 0;
    const auto right = [&](double value) {
      const bool allowed = (slot >= first && slot < length) || slot == slots - 1;
      ++slot;
      return allowed ? value == 0 : value < 0;
    };
    const auto wrong = std::ranges::find_if_not(row, right);
    step_mask.at(name).expect(
        wrong == row.end(),
        wrong == row.end() ? std::string()
                           : fmt::format("slot {} has {}, expected 0 for slots {} to {} and {}, less for the others",
                                         wrong - row.begin(), *wrong, first, length - 1, slots - 1));
  }

  /// A runtime that cannot look inside is judged by its logits and its cache.
  void leave_out_what_was_not_shown() {
    if (!softcap_shown_) logits_checks.leave_out_softcap();
    for (auto* check : {&step_mask, &step_rope}) {
      if (check->results().empty()) check->configure({.level = Level::off});
    }
  }

  bool softcap_shown_ = false;
};
}  // namespace

LOCKSTEP_STEP("gemma4.decode", Decode, "verifies decoding token by token: logits and caches")
