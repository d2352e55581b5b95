#include <lockstep/step.hpp>

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "checkpoint/checkpoint.hpp"
#include "processor/image_processor.hpp"
#include "processor/prompt.hpp"
#include "processor/tokenizer.hpp"
#include "runtime/not_served.hpp"
#include "runtime/runtime.hpp"
#include "steps/chat_parts.hpp"
#include "steps/picture_parts.hpp"
#include "steps/prompt_rules.hpp"
#include "steps/slot_parts.hpp"

namespace {
using namespace lockstep;

using Ids = std::vector<std::int64_t>;

/// Builds the padded inputs of a prompt with the runtime, and every value of them a second time: the chat format from
/// the ids of its parts instead of from a rendered text, soft tokens from the ids instead of from an expanded text,
/// patches from the resized picture, each slot from its number. The two ways share the tokenizer, the picture's
/// decoding and its resizing, and nothing else. A prompt that breaks a contract fails a check and publishes nothing.
/// From a runtime that has no inputs to show the step's own are published, and nothing but the prompt is judged.
struct BuildStaticInputs final : Step {
  In<gemma4::Checkpoint> checkpoint{*this, "checkpoint",
                                    "tokenizer, chat template, image processor, special token ids"};
  In<gemma4::Runtime> runtime{*this, "runtime", "what is verified"};
  Out<gemma4::StaticBatch> batch{*this, "batch", "padded inputs"};

  Param<std::string> prompt{*this, "prompt", "the user's text; <|image|> stands for the picture"};
  Param<std::string> prompt_format{*this,
                                   "prompt_format",
                                   "the text as it is, or one user turn of the checkpoint's chat format",
                                   {.default_value = "raw", .choices = {"raw", "chat"}}};
  Param<std::string> system{*this, "system", "system turn of the chat format", {.optional = true}};
  Param<FilePath> image{*this,
                        "image",
                        "PNG or JPEG for the prompt's <|image|>; plain white of the profile's size if not given",
                        {.optional = true}};

  Check one_picture{*this, "one_picture", expect(), "at most one <|image|>, as a static profile has one picture"};
  Check no_sound_or_video{*this, "no_sound_or_video", expect(), "no placeholder of a sound or a video"};
  Check prompt_fits{*this, "prompt_fits", expect(), "1 to max_seq tokens"};
  Check ids_in_vocabulary{*this, "ids_in_vocabulary", expect(), "ids below vocab_size"};
  Check picture_fits_profile{*this, "picture_fits_profile", expect(), "the profile's size, patches and soft tokens"};
  Check visual_start{*this, "visual_start", expect(), "the first image token in the profile's visual_start_idx"};
  Check visual_count{*this, "visual_count", expect(), "the profile's num_visual_tokens image tokens"};
  Check visual_contiguous{*this, "visual_contiguous", expect(), "no other token between image tokens"};
  Check raw_input_ids{*this, "raw_input_ids", bits(), "the prompt's ids"};
  Check input_ids{*this, "input_ids", bits(), "the prompt's ids, the pad id for image tokens and behind the prompt"};
  Check attention_mask{*this, "attention_mask", bits(), "true for the prompt's slots"};
  Check valid_length{*this, "valid_length", equal(), "the number of the prompt's tokens"};
  Check position_ids{*this, "position_ids", bits(), "the number of each slot"};
  Check padding_is_pad{*this, "padding_is_pad", expect(), "the pad id in every slot behind the prompt"};
  Check mask_has_no_hole{*this, "mask_has_no_hole", expect(), "no valid slot behind an invalid one"};
  Check pixel_values{*this, "pixel_values", bits(), "the resized picture's pixels, patch by patch; none for a text"};
  Check image_position_ids{*this, "image_position_ids", bits(), "column and row of each patch; none for a text"};

  void validate(Rules& rules) const override {
    if (system.has_value() && *prompt_format != "chat") {
      rules.error(system, "system is given, but prompt_format is \"raw\", which has no system turn",
                  "set prompt_format to \"chat\", or write the system text into the prompt");
    }
    const gemma4::ImageTokens tokens;
    const bool placeholder =
        gemma4::count_images(*prompt, tokens) > 0 || (system.has_value() && gemma4::count_images(*system, tokens) > 0);
    if (picture_given() && !placeholder) {
      rules.error(
          image, fmt::format("image is given, but prompt has no {} that says where the picture goes", tokens.image),
          fmt::format("write {} into prompt, or give no image (--set image=) to run the text alone", tokens.image));
    }
  }

  void run(StepContext& context) override {
    const auto tokenizer = open_tokenizer();
    const auto text = chat() ? rendered_chat(context) : *prompt;
    const auto asked = pictures_asked(tokenizer, text);
    if (!picture_can_be_taken(asked)) return;
    const auto picture = asked == 0 ? std::nullopt : std::optional(prepared_picture(context));

    const auto ids = tokenizer.encode(picture ? gemma4::expand_images(text, picture->num_soft_tokens) : text, !chat());
    const auto expected_prompt = expected_ids(tokenizer, picture);
    const auto slots = runtime->layout().max_seq;
    context.summary(fmt::format("{} tokens in {} slots{}", ids.size(), slots, picture ? ", with a picture" : ""));
    if (!prompt_keeps_contracts(tokenizer, expected_prompt, slots)) return;
    if (!picture_keeps_contracts(picture, expected_prompt)) return;

    gemma4::RawInputs raw{.input_ids = gemma4::row_of_ids(ids), .attention_mask = gemma4::row_of_true(std::ssize(ids))};
    if (picture) {
      raw.pixel_values = picture->pixel_values;
      raw.image_position_ids = picture->image_position_ids;
    }
    const auto expected = expected_batch(expected_prompt, picture);
    try {
      const auto built = runtime->build_static_inputs(raw);
      compare_slots(built, expected);
      compare_picture(built, expected);
      batch = built;
    } catch (const gemma4::NotServed& missing) {
      leave_out_comparisons(context, missing);
      batch = expected;
    }
  }

 private:
  using Picture = std::optional<gemma4::ImageInputs>;

  static std::optional<std::string> given(const Param<std::string>& text) {
    return text.has_value() ? std::optional<std::string>(*text) : std::nullopt;
  }
  [[nodiscard]] bool chat() const { return *prompt_format == "chat"; }
  [[nodiscard]] bool picture_given() const { return image.has_value() && !image->path.empty(); }

  [[nodiscard]] gemma4::Tokenizer open_tokenizer() const {
    const auto config = checkpoint->tokenizer_config_file();
    return std::filesystem::exists(config) ? gemma4::Tokenizer::from_files(checkpoint->tokenizer_file(), config)
                                           : gemma4::Tokenizer::from_file(checkpoint->tokenizer_file());
  }

  /// The text that the chat template gives.
  [[nodiscard]] std::string rendered_chat(StepContext& context) const {
    const auto format = gemma4::ChatFormat::for_template(checkpoint->chat_template_file());
    context.record("chat_template_sha256", format.template_sha256());
    std::vector<gemma4::Message> messages;
    if (system.has_value()) messages.push_back({"system", *system});
    messages.push_back({"user", *prompt});
    return format.render(messages);
  }

  /// None for a checkpoint that has no picture tokens.
  [[nodiscard]] std::optional<gemma4::PictureIds> picture_ids() const {
    const auto& special = checkpoint->config().tokens;
    if (!special.begin_of_image || !special.image || !special.end_of_image) return std::nullopt;
    return gemma4::PictureIds{*special.begin_of_image, *special.image, *special.end_of_image};
  }

  [[nodiscard]] std::size_t pictures_asked(const gemma4::Tokenizer& tokenizer, const std::string& text) const {
    const auto ids = picture_ids();
    if (!ids) return 0;
    return gemma4::count_images(text, gemma4::ImageTokens::from(tokenizer, ids->begin, ids->image, ids->end));
  }

  bool picture_can_be_taken(std::size_t asked) {
    if (asked > 0 && !checkpoint->image_processor()) {
      return one_picture.expect(false, fmt::format("the prompt has {} <|image|>, but checkpoint '{}' takes no picture: "
                                                   "take <|image|> out of prompt",
                                                   asked, checkpoint->name()));
    }
    if (asked == 0 && picture_given()) {
      return one_picture.expect(false,
                                "image is given, but the prompt has no image token of this checkpoint: change "
                                "prompt, or give no image");
    }
    return one_picture.expect(
        asked <= 1, fmt::format("the prompt has {} <|image|>, expected at most 1: a static profile has one picture, "
                                "change prompt",
                                asked));
  }

  gemma4::ImageInputs prepared_picture(StepContext& context) const {
    const auto& profile = runtime->profile();
    if (!picture_given()) context.record("picture", "plain white of the profile's size");
    const std::array pictures{picture_given() ? gemma4::decode_image(image->path)
                                              : gemma4::white_picture(profile.image_height(), profile.image_width())};
    return gemma4::process_images(pictures, *checkpoint->image_processor());
  }

  [[nodiscard]] Ids expected_ids(const gemma4::Tokenizer& tokenizer, const Picture& picture) const {
    auto ids = chat() ? gemma4::ids_of_chat_parts(tokenizer, given(system), *prompt) : tokenizer.encode(*prompt, true);
    return picture ? gemma4::with_soft_tokens(ids, picture_ids().value(), picture->num_soft_tokens.front()) : ids;
  }

  bool prompt_keeps_contracts(const gemma4::Tokenizer& tokenizer, const Ids& ids, std::int64_t slots) {
    const auto placeholders = gemma4::other_placeholders(ids, tokenizer, checkpoint->config().tokens);
    const auto outside = gemma4::vocabulary_fault(ids, checkpoint->config().text.vocab_size);
    const auto length = std::ssize(ids);
    const bool quiet = no_sound_or_video.expect(
        placeholders.empty(), fmt::format("the prompt has {}, expected none: change prompt", placeholders));
    const bool fits = prompt_fits.expect(
        length >= 1 && length <= slots,
        fmt::format("the prompt has {} tokens, expected 1 to {} (max_seq of the runtime)", length, slots));
    const bool known = ids_in_vocabulary.expect(outside.empty(), outside);
    return quiet && fits && known;
  }

  /// Judges the image tokens in the prompt's own ids: once they are replaced by the pad id, nobody can tell.
  bool picture_keeps_contracts(const Picture& picture, const Ids& ids) {
    const auto& profile = runtime->profile();
    const auto [first, count, span] = gemma4::image_run_of(ids, checkpoint->config().tokens.image);
    const auto wanted = picture ? profile.num_visual_tokens : 0;
    const auto misfit = picture ? gemma4::misfit(*picture, profile) : "";
    const bool fits = picture_fits_profile.expect(misfit.empty(), misfit);
    const bool starts = visual_start.expect(
        !picture || first == profile.visual_start_idx,
        fmt::format("the first image token is in slot {}, expected slot {} (visual_start_idx of profile '{}'): change "
                    "prompt or prompt_format, or choose another profile",
                    first, profile.visual_start_idx, profile.name));
    const bool counts = visual_count.expect(
        count == wanted, fmt::format("the prompt has {} image tokens, expected {} (num_visual_tokens of profile '{}'): "
                                     "change image, or choose another profile",
                                     count, wanted, profile.name));
    const bool together = visual_contiguous.expect(
        span == count, fmt::format("the {} image tokens lie in {} slots from slot {} on, expected them next to each "
                                   "other: change prompt",
                                   count, span, first));
    return fits && starts && counts && together;
  }

  [[nodiscard]] gemma4::StaticBatch expected_batch(const Ids& ids, const Picture& picture) const {
    const auto& tokens = checkpoint->config().tokens;
    auto expected = gemma4::batch_of_slots(ids, tokens.image, tokens.pad, runtime->layout().max_seq);
    if (picture) {
      expected.pixel_values = gemma4::patches_of(picture->resized.front(), runtime->profile(),
                                                 checkpoint->image_processor()->rescale_factor);
      expected.image_position_ids = gemma4::places_of_patches(runtime->profile());
    }
    return expected;
  }

  void compare_slots(const gemma4::StaticBatch& built, const gemma4::StaticBatch& expected) {
    raw_input_ids.compare(Expected{expected.raw_input_ids}, Actual{built.raw_input_ids});
    input_ids.compare(Expected{expected.input_ids}, Actual{built.input_ids});
    attention_mask.compare(Expected{expected.attention_mask}, Actual{built.attention_mask});
    valid_length.equal(Expected{expected.valid_length}, Actual{built.valid_length});
    position_ids.compare(Expected{expected.position_ids}, Actual{built.position_ids});
    const auto slots = runtime->layout().max_seq;
    const auto fault =
        gemma4::padding_fault(built.input_ids, expected.valid_length, checkpoint->config().tokens.pad, slots);
    padding_is_pad.expect(fault.empty(), fault);
    const auto hole = gemma4::mask_fault(built.attention_mask, slots);
    mask_has_no_hole.expect(hole.empty(), hole);
  }

  void compare_picture(const gemma4::StaticBatch& built, const gemma4::StaticBatch& expected) {
    const auto judge = [](Check& check, const std::optional<Tensor>& right, const std::optional<Tensor>& actual) {
      if (actual && right) {
        check.compare(Expected{*right}, Actual{*actual});
      } else {
        check.expect(!actual && !right,
                     fmt::format("the batch has {}, expected {}", actual ? actual->to_string() : "no such tensor",
                                 right ? "one, as the prompt has a picture" : "none, as the prompt has no picture"));
      }
    };
    judge(pixel_values, expected.pixel_values, built.pixel_values);
    judge(image_position_ids, expected.image_position_ids, built.image_position_ids);
  }

  /// A runtime that need not show its inputs has them left out; one that must fails with the name of what is missing.
  void leave_out_comparisons(StepContext& context, const gemma4::NotServed& missing) {
    const auto& found = missing.diagnostic();
    if (missing.required()) input_ids.expect(false, found.message + ": " + found.help);
    Value::Array left_out;
    for (auto* check : {&raw_input_ids, &input_ids, &attention_mask, &valid_length, &position_ids, &padding_is_pad,
                        &mask_has_no_hole, &pixel_values, &image_position_ids}) {
      if (!check->results().empty()) continue;
      check->configure({.level = Level::off});
      left_out.emplace_back(check->info().name);
    }
    context.record("left_out", std::move(left_out));
    context.summary("the prompt alone is judged: " + found.message);
  }
};
}  // namespace

LOCKSTEP_STEP("gemma4.build_static_inputs", BuildStaticInputs, "builds and verifies the padded inputs of a prompt")
