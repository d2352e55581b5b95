#include <lockstep/step.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "checkpoint/checkpoint.hpp"
#include "processor/prompt.hpp"
#include "processor/tokenizer.hpp"
#include "runtime/runtime.hpp"
#include "steps/chat_parts.hpp"

namespace {
using namespace lockstep;

using Ids = std::vector<std::int64_t>;

Tensor row(const Ids& values) {
  return Tensor::copy_of(std::span<const std::int64_t>(values), {1, static_cast<std::int64_t>(values.size())});
}

Tensor boolean_row(const std::vector<std::uint8_t>& values) {
  return Tensor::copy_of(std::as_bytes(std::span(values)), DType::boolean,
                         {1, static_cast<std::int64_t>(values.size())});
}

/// Builds the padded inputs of a prompt with the runtime, and every value of them a second time from the tokenizer up:
/// the chat format from the ids of its parts instead of from a rendered text, each slot from its number. The two ways
/// share the tokenizer and nothing else. A prompt that breaks a contract fails a check and publishes nothing.
struct BuildStaticInputs final : Step {
  In<gemma4::Checkpoint> checkpoint{*this, "checkpoint", "tokenizer, chat template, special token ids"};
  In<gemma4::Runtime> runtime{*this, "runtime", "what is verified"};
  Out<gemma4::StaticBatch> batch{*this, "batch", "padded inputs"};

  Param<std::string> prompt{*this, "prompt", "the user's text"};
  Param<std::string> prompt_format{*this,
                                   "prompt_format",
                                   "the text as it is, or one user turn of the checkpoint's chat format",
                                   {.default_value = "raw", .choices = {"raw", "chat"}}};
  Param<std::string> system{*this, "system", "system turn of the chat format", {.optional = true}};
  Param<FilePath> image{*this, "image", "picture of the prompt; not supported yet", {.optional = true}};

  Check prompt_is_text{*this, "prompt_is_text", expect(), "no placeholder of a picture, a sound or a video"};
  Check prompt_fits{*this, "prompt_fits", expect(), "1 to max_seq tokens"};
  Check ids_in_vocabulary{*this, "ids_in_vocabulary", expect(), "ids below vocab_size"};
  Check raw_input_ids{*this, "raw_input_ids", bits(), "the prompt's ids"};
  Check input_ids{*this, "input_ids", bits(), "the prompt's ids, then the pad id"};
  Check attention_mask{*this, "attention_mask", bits(), "true for the prompt's slots"};
  Check valid_length{*this, "valid_length", equal(), "the number of the prompt's tokens"};
  Check position_ids{*this, "position_ids", bits(), "the number of each slot"};
  Check padding_is_pad{*this, "padding_is_pad", expect(), "the pad id in every slot behind the prompt"};
  Check mask_has_no_hole{*this, "mask_has_no_hole", expect(), "no valid slot behind an invalid one"};

  void validate(Rules& rules) const override {
    if (system.has_value() && *prompt_format != "chat") {
      rules.error(system, "system is given, but prompt_format is \"raw\", which has no system turn",
                  "set prompt_format to \"chat\", or write the system text into the prompt");
    }
    if (image.has_value() && !image->path.empty()) {
      rules.error(image, "pictures are not supported yet: gemma4.build_static_inputs takes text prompts only",
                  "leave image out, and <|image|> out of the prompt");
    }
  }

  void run(StepContext& context) override {
    const auto tokenizer = open_tokenizer();
    const auto ids = chat() ? ids_of_rendered_chat(tokenizer, context) : tokenizer.encode(*prompt, true);
    const auto expected =
        chat() ? gemma4::ids_of_chat_parts(tokenizer, given(system), *prompt) : tokenizer.encode(*prompt, true);

    const auto slots = runtime->layout().max_seq;
    context.summary(fmt::format("{} tokens in {} slots", ids.size(), slots));
    if (!prompt_keeps_contracts(tokenizer, expected, slots)) return;

    const std::vector<std::uint8_t> all_valid(ids.size(), 1);
    const auto built = runtime->build_static_inputs({.input_ids = row(ids), .attention_mask = boolean_row(all_valid)});
    compare_slots(built, expected, slots);
    batch = built;
  }

 private:
  static std::optional<std::string> given(const Param<std::string>& text) {
    return text.has_value() ? std::optional<std::string>(*text) : std::nullopt;
  }
  [[nodiscard]] bool chat() const { return *prompt_format == "chat"; }

  [[nodiscard]] gemma4::Tokenizer open_tokenizer() const {
    const auto config = checkpoint->tokenizer_config_file();
    return std::filesystem::exists(config) ? gemma4::Tokenizer::from_files(checkpoint->tokenizer_file(), config)
                                           : gemma4::Tokenizer::from_file(checkpoint->tokenizer_file());
  }

  /// The text that the chat template gives, encoded as a whole.
  [[nodiscard]] Ids ids_of_rendered_chat(const gemma4::Tokenizer& tokenizer, StepContext& context) const {
    const auto format = gemma4::ChatFormat::for_template(checkpoint->chat_template_file());
    context.record("chat_template_sha256", format.template_sha256());
    std::vector<gemma4::Message> messages;
    if (system.has_value()) messages.push_back({"system", *system});
    messages.push_back({"user", *prompt});
    return tokenizer.encode(format.render(messages));
  }

  bool prompt_keeps_contracts(const gemma4::Tokenizer& tokenizer, const Ids& ids, std::int64_t slots) {
    const auto& special = checkpoint->config().tokens;
    std::string placeholders;
    for (const auto& id : {special.image, special.audio, special.video}) {
      if (!id) continue;
      if (const auto count = std::ranges::count(ids, *id)) {
        placeholders += fmt::format("{}{} x '{}'", placeholders.empty() ? "" : ", ", count,
                                    tokenizer.token_of(*id).value_or(std::to_string(*id)));
      }
    }
    const auto length = static_cast<std::int64_t>(ids.size());
    const auto vocabulary = checkpoint->config().text.vocab_size;
    const auto outside = std::ranges::find_if(ids, [&](std::int64_t id) { return id < 0 || id >= vocabulary; });
    const bool text = prompt_is_text.expect(
        placeholders.empty(),
        fmt::format("the prompt has {}, expected none: only text prompts are supported yet", placeholders));
    const bool fits = prompt_fits.expect(
        length >= 1 && length <= slots,
        fmt::format("the prompt has {} tokens, expected 1 to {} (max_seq of the runtime)", length, slots));
    const bool known = ids_in_vocabulary.expect(
        outside == ids.end(),
        outside == ids.end()
            ? ""
            : fmt::format("token {} of the prompt is id {}, expected 0 to {} (vocab_size of the checkpoint)",
                          outside - ids.begin(), *outside, vocabulary - 1));
    return text && fits && known;
  }

  void compare_slots(const gemma4::StaticBatch& built, const Ids& ids, std::int64_t slots) {
    const auto pad = checkpoint->config().tokens.pad;
    const auto length = static_cast<std::int64_t>(ids.size());
    Ids padded, positions;
    std::vector<std::uint8_t> mask;
    for (std::int64_t slot = 0; slot < slots; ++slot) {
      padded.push_back(slot < length ? ids[static_cast<std::size_t>(slot)] : pad);
      mask.push_back(slot < length);
      positions.push_back(slot);
    }
    raw_input_ids.compare(Expected{row(ids)}, Actual{built.raw_input_ids});
    input_ids.compare(Expected{row(padded)}, Actual{built.input_ids});
    attention_mask.compare(Expected{boolean_row(mask)}, Actual{built.attention_mask});
    valid_length.equal(Expected{length}, Actual{built.valid_length});
    position_ids.compare(Expected{row(positions)}, Actual{built.position_ids});

    if (has_form(padding_is_pad, built.input_ids, "input_ids", DType::int64, slots)) {
      const auto behind = built.input_ids.values<std::int64_t>().subspan(static_cast<std::size_t>(length));
      const auto other = std::ranges::find_if(behind, [&](std::int64_t id) { return id != pad; });
      padding_is_pad.expect(other == behind.end(),
                            other == behind.end()
                                ? ""
                                : fmt::format("slot {} is behind the prompt and holds id {}, expected the pad id {}",
                                              length + (other - behind.begin()), *other, pad));
    }
    if (has_form(mask_has_no_hole, built.attention_mask, "attention_mask", DType::boolean, slots)) {
      const auto flags = built.attention_mask.values<bool>();
      const auto hole = std::ranges::find(flags, false);
      const auto after = std::find(hole, flags.end(), true);
      mask_has_no_hole.expect(after == flags.end(),
                              fmt::format("slot {} is valid behind slot {} which is not, expected padding on the right",
                                          after - flags.begin(), hole - flags.begin()));
    }
  }

  /// True if `tensor` can be read as a row of slots; else the check fails with its form.
  static bool has_form(Check& check, const Tensor& tensor, std::string_view name, DType dtype, std::int64_t slots) {
    if (tensor.dtype() == dtype && tensor.sizes() == std::vector<std::int64_t>{1, slots} && tensor.is_contiguous()) {
      return true;
    }
    check.expect(false, fmt::format("{} is {}, expected contiguous {} [1, {}]", name, tensor.to_string(),
                                    name_of(dtype), slots));
    return false;
  }
};
}  // namespace

LOCKSTEP_STEP("gemma4.build_static_inputs", BuildStaticInputs, "builds and verifies the padded inputs of a prompt")
