#include <lockstep/step.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "reference/reference.hpp"
#include "runtime/runtime.hpp"
#include "steps/ask_runtime.hpp"

namespace {
using namespace lockstep;

/// Compares the prompt's embeddings with the picture in its slots with the reference's: the runtime writes to fixed
/// slots, the reference wherever the prompt has the image token. A text prompt has no picture and stays as it is.
struct MmFusion final : Step {
  In<gemma4::StaticBatch> batch{*this, "batch", "padded inputs"};
  In<gemma4::Reference> reference{*this, "reference", "what is right"};
  In<gemma4::Runtime> runtime{*this, "runtime", "what is verified"};
  In<Tensor> text_embeds{*this, "text_embeds", "[1, max_seq, hidden]"};
  In<Tensor> visual_embeds{*this, "visual_embeds", "[num_visual_tokens, hidden]; none for a text prompt", optional};
  Out<Tensor> fused_embeds{*this, "fused_embeds", "[1, max_seq, hidden]"};

  Check start{*this, "start", expect(), "the first image token in the slot where the runtime puts the picture"};
  Check count{*this, "count", expect(), "one row of visual_embeds for each image token, as many as the profile says"};
  Check length{*this, "length", expect(), "1 to max_seq tokens, and a row of text_embeds for each slot"};
  Check matches_reference{*this, "matches_reference", bits(), "reference's fusion of the same inputs"};

  void run(StepContext& context) override {
    const auto places = image_places();
    const bool fits = check_places(places);
    if (!fits) return;

    const auto answer = gemma4::ask_runtime(context, matches_reference, [&] {
      return visual_embeds ? runtime->fuse(*text_embeds, *visual_embeds) : *text_embeds;
    });
    if (!answer) return;
    const auto& actual = *answer;
    const auto features = visual_embeds ? *visual_embeds : no_features();
    matches_reference.compare(Expected{reference->fuse(*text_embeds, mask_of(places), features)}, Actual{actual});
    context.summary(visual_embeds ? fmt::format("{} of {} slots hold the picture", places.size(), text_embeds->size(1))
                                  : "text only");
    fused_embeds = actual;
  }

 private:
  /// Slots of the prompt that hold the image token.
  [[nodiscard]] std::vector<std::int64_t> image_places() const {
    const auto image = reference->checkpoint().config().tokens.image;
    std::vector<std::int64_t> places;
    if (!image) return places;
    const auto ids = batch->raw_input_ids.contiguous();
    std::int64_t slot = 0;
    for (const auto id : ids.values<std::int64_t>()) {
      if (id == *image) places.push_back(slot);
      ++slot;
    }
    return places;
  }

  /// Whether the two fusions can be computed at all; that is, whether all three checks of the places hold.
  bool check_places(const std::vector<std::int64_t>& places) {
    const auto& layout = runtime->layout();
    const auto found = static_cast<std::int64_t>(places.size());
    const auto prompt = batch->raw_input_ids.numel();
    const bool slots_fit =
        text_embeds->dim() == 3 && text_embeds->size(0) == 1 && text_embeds->size(1) == layout.max_seq;
    const bool short_enough = length.expect(
        slots_fit && prompt >= 1 && prompt <= layout.max_seq,
        slots_fit
            ? fmt::format("the prompt has {} tokens, expected 1 to {}: raise max_seq or shorten the prompt", prompt,
                          layout.max_seq)
            : fmt::format("text_embeds is {}, expected [1, {}, hidden]", text_embeds->to_string(), layout.max_seq));
    if (!visual_embeds) {
      start.expect(places.empty(),
                   fmt::format("the prompt has an image token in slot {}, expected none: there are no visual_embeds",
                               places.empty() ? 0 : places.front()));
      return count.expect(places.empty(),
                          fmt::format("the prompt has {} image tokens, but there are no visual_embeds", found)) &&
             short_enough;
    }
    const bool starts = start.expect(
        !places.empty() && places.front() == layout.visual_start_idx,
        places.empty()
            ? fmt::format("the prompt has no image token, expected the first in slot {}", layout.visual_start_idx)
            : fmt::format("the prompt's first image token is in slot {}, expected slot {}: change the "
                          "prompt, or visual_start_idx of the profile",
                          places.front(), layout.visual_start_idx));
    const auto rows = visual_embeds->dim() >= 2 ? visual_embeds->size(-2) : 0;
    const bool rows_fit = rows == 0 || (visual_embeds->dtype() == text_embeds->dtype() && text_embeds->dim() > 0 &&
                                        visual_embeds->size(-1) == text_embeds->size(-1));
    const bool counts = count.expect(
        rows_fit && found == layout.num_visual_tokens && rows == found,
        rows_fit ? fmt::format("the prompt has {} image tokens and visual_embeds {} rows, expected {} of both "
                               "(num_visual_tokens of the profile)",
                               found, rows, layout.num_visual_tokens)
                 : fmt::format("visual_embeds is {}, expected rows like those of text_embeds, {}",
                               visual_embeds->to_string(), text_embeds->to_string()));
    return starts && counts && short_enough;
  }

  /// [1, max_seq] bool
  [[nodiscard]] Tensor mask_of(const std::vector<std::int64_t>& places) const {
    std::vector<std::uint8_t> mask(static_cast<std::size_t>(text_embeds->size(1)), 0);
    for (const auto place : places) mask.at(static_cast<std::size_t>(place)) = 1;
    return Tensor::copy_of(std::as_bytes(std::span(mask)), DType::boolean, {1, text_embeds->size(1)});
  }

  /// [0, hidden]
  [[nodiscard]] Tensor no_features() const {
    return Tensor::copy_of(std::span<const std::byte>{}, text_embeds->dtype(), {0, text_embeds->size(-1)});
  }
};
}  // namespace

LOCKSTEP_STEP("gemma4.mm_fusion", MmFusion, "verifies the embeddings of text and picture together")
