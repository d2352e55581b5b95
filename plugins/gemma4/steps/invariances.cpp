#include <lockstep/step.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <ATen/ops/isfinite.h>
#include <fmt/format.h>

#include <lockstep/torch.hpp>

#include "checkpoint/checkpoint.hpp"
#include "runtime/runtime.hpp"
#include "steps/ask_runtime.hpp"
#include "steps/layer_types.hpp"
#include "steps/pass_checks.hpp"
#include "steps/runtime_passes.hpp"
#include "steps/tensor_rows.hpp"

namespace {
using namespace lockstep;

using Ids = std::vector<std::int64_t>;

// Far from every embedding and every key, and finite after the norms of any layer.
constexpr double large = 3e4;

bool all_finite(const Tensor& tensor) { return at::isfinite(to_torch(tensor)).all().item<bool>(); }

/// Compares a runtime with itself, without a reference: what must not matter (padding, slots that hold nothing, the
/// number of slots) is changed, and a token that is decoded is compared with the same token at the end of a longer
/// prompt. Prompts of other lengths repeat the text tokens of the pipeline's prompt.
struct Invariances final : Step {
  In<gemma4::Checkpoint> checkpoint{*this, "checkpoint", "the window and the image id"};
  In<gemma4::StaticBatch> batch{*this, "batch", "padded inputs"};
  In<gemma4::Runtime> runtime{*this, "runtime", "what is verified"};

  Param<std::int64_t> steps{
      *this, "steps", "tokens decoded after each prompt", {.default_value = 4, .min = 1, .unit = "tokens"}};
  Param<std::int64_t> other_max_seq{*this,
                                    "other_max_seq",
                                    "slots of the runtime that this one is compared with; half as many again if not "
                                    "given",
                                    {.min = 2, .unit = "slots", .optional = true}};

  Check fits{*this, "fits", expect(), "the prompt leaves slots of max_seq for every decoded token"};
  Check other_prompts{*this, "other_prompts", expect(), "the runtime runs prompts other than the pipeline's"};
  gemma4::PassChecks padding{*this, "padding", bits(), "the prompt with the pad id in padding"};
  gemma4::PassChecks unused{*this, "unused", bits(), "the session that the snapshot was taken from"};
  gemma4::PassChecks max_seq{*this, "max_seq", norm_wise(), "the prompt with this max_seq, and decoding"};
  Check finite{*this, "finite", expect(), "neither NaN nor infinity in logits and valid slots"};
  gemma4::PassChecks longer_prompt{*this, "longer_prompt", norm_wise(), "the prompt that ends in the decoded tokens"};
  Check longer_prompt_noise{*this, "longer_prompt_noise", sqnr(50),
                            "cache of the prompt that ends in the decoded tokens, their slots", Level::inform};

  void run(StepContext& context) override {
    const auto room = runtime->layout().max_seq - 1 - *steps;
    if (!fits.expect(batch->valid_length <= room,
                     fmt::format("the prompt has {} tokens, expected at most {}: raise max_seq, shorten the prompt or "
                                 "lower steps",
                                 batch->valid_length, room))) {
      return;
    }
    (void)gemma4::ask_runtime(context, other_prompts, [&] {
      // A dump holds the results of one prompt and gives them whatever the inputs are: nothing could fail.
      const auto given = runtime->build_static_inputs(gemma4::raw_text(text(0, 1))).valid_length;
      if (!other_prompts.expect(given == 1, fmt::format("asked for a prompt of 1 token, the runtime gave one of {}: a "
                                                        "runtime from a dump has no other, leave this step out",
                                                        given))) {
        return false;
      }
      const auto prompt = gemma4::prepare(*runtime, *batch);
      auto pass = gemma4::prefilled(*runtime, prompt);
      change_padding(prompt, pass);
      const auto cache = pass.session->snapshot();
      gemma4::decode_all(pass, text(batch->valid_length, *steps));
      change_unused_slots(cache, pass);
      change_max_seq(context, pass);
      change_length(context);
      return true;
    });
  }

 private:
  [[nodiscard]] Ids text(std::int64_t first, std::int64_t count) const {
    return gemma4::repeated_text(*batch, checkpoint->config().tokens.image, first, count);
  }

  [[nodiscard]] gemma4::Pass prefilled_text(std::int64_t length) const {
    const auto prompt = runtime->build_static_inputs(gemma4::raw_text(text(0, length)));
    return gemma4::prefilled(*runtime, gemma4::prepare(*runtime, prompt));
  }

  void change_padding(const gemma4::PreparedPrompt& prompt, const gemma4::Pass& expected) {
    const auto compare = [&](const std::string& subject, const gemma4::PreparedPrompt& changed) {
      const auto actual = gemma4::prefilled(*runtime, changed);
      padding.compare(subject, expected, actual);
    };
    compare("other ids", gemma4::with_other_padding(*runtime, *batch, text(0, batch->valid_length)));
    compare("large embeddings", gemma4::with_padding_embeds(prompt, large));
  }

  /// `cache` was taken before the tokens were decoded that led to `expected`.
  void change_unused_slots(const gemma4::KvCache& cache, const gemma4::Pass& expected) {
    const auto compare = [&](const std::string& subject, const gemma4::KvCache& snapshot) {
      gemma4::Pass actual{.session = runtime->resume(snapshot), .logits = {}};
      gemma4::decode_all(actual, text(batch->valid_length, *steps));
      unused.compare(subject, expected, actual);
    };
    compare("as they are", cache);
    compare("large values", gemma4::with_unused_slots(cache, large));
    compare("NaN", gemma4::with_unused_slots(cache, std::numeric_limits<double>::quiet_NaN()));
  }

  void change_max_seq(StepContext& context, const gemma4::Pass& expected) {
    const auto slots = runtime->layout().max_seq;
    const auto others = other_max_seq.has_value() ? *other_max_seq : slots + slots / 2;
    const auto other = runtime->with_max_seq(others);
    if (!other) {
      max_seq.leave_out();
      context.record("left_out", "max_seq_logits, max_seq_cache: the runtime cannot be made with another max_seq");
      return;
    }
    auto actual = gemma4::prefilled(*other, gemma4::prepare_again(*other, *batch));
    gemma4::decode_all(actual, text(batch->valid_length, *steps));
    max_seq.compare(fmt::format("max_seq {}", others), expected, actual);
  }

  /// A single token, about the window, decoding across it, decoding into the last slot, a full cache.
  [[nodiscard]] std::vector<std::int64_t> lengths() const {
    const auto last = runtime->layout().max_seq - 1;
    std::set<std::int64_t> wanted{1, last - *steps, last};
    const auto& config = checkpoint->config().text;
    if (std::ranges::count(gemma4::layer_types(config), gemma4::LayerType::sliding_attention) > 0) {
      const auto window = config.sliding_window;
      wanted.insert({window - (*steps + 1) / 2, window - 1, window, window + 1});
    }
    std::vector<std::int64_t> result;
    std::ranges::copy_if(wanted, std::back_inserter(result), [&](auto n) { return n >= 1 && n <= last; });
    return result;
  }

  void change_length(StepContext& context) {
    const auto last = runtime->layout().max_seq - 1;
    const auto all = lengths();
    std::int64_t done = 0;
    for (const auto length : all) {
      context.progress(done++, std::ssize(all), "length");
      auto pass = prefilled_text(length);
      expect_finite(fmt::format("{} tokens", length), pass);
      const auto count = std::min(*steps, last - length);
      if (count == 0) continue;
      gemma4::decode_all(pass, text(length, count));
      const auto whole = prefilled_text(length + count);
      const auto subject = fmt::format("{} tokens and {} decoded", length, count);
      expect_finite(subject, pass);
      longer_prompt.compare(subject, whole, pass);
      compare_decoded_slots(subject, whole.session->snapshot(), pass.session->snapshot(), count);
    }
    context.progress(done, std::ssize(all), "length");
    context.summary(fmt::format("prompts of {} tokens", fmt::join(all, ", ")));
  }

  void expect_finite(const std::string& subject, const gemma4::Pass& pass) {
    const auto cache = pass.session->snapshot();
    const auto bad = std::ranges::find_if_not(cache.layers, [&](const auto& layer) {
      return all_finite(gemma4::narrow(layer.key, 2, 0, cache.length)) &&
             all_finite(gemma4::narrow(layer.value, 2, 0, cache.length));
    });
    const bool good_cache = bad == cache.layers.end();
    finite.at(subject).expect(good_cache && all_finite(pass.logits),
                              good_cache ? "a logit is NaN or infinite"
                                         : fmt::format("the cache of layer {} holds NaN or infinity", bad->index));
  }

  /// Rounding that differs is noise of the dtype, a key too many or too few is more, though within the bound of
  /// bfloat16.
  void compare_decoded_slots(const std::string& subject, const gemma4::KvCache& expected, const gemma4::KvCache& actual,
                             std::int64_t count) {
    if (expected.length != actual.length || expected.layers.size() != actual.layers.size()) return;
    for (std::size_t i = 0; i < expected.layers.size(); ++i) {
      const auto decoded = [&](const Tensor& slots) {
        return gemma4::narrow(slots, 2, expected.length - count, count);
      };
      longer_prompt_noise.at(fmt::format("{} layer {}", subject, expected.layers[i].index))
          .compare(Expected{decoded(expected.layers[i].value)}, Actual{decoded(actual.layers[i].value)});
    }
  }
};
}  // namespace

LOCKSTEP_STEP("gemma4.invariances", Invariances, "verifies what must not change a runtime's results; no reference")
