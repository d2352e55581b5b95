#include "runtime/fusion.hpp"

#include <vector>

#include <ATen/ops/cat.h>
#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>
#include <lockstep/torch.hpp>

namespace gemma4 {
namespace {

[[noreturn]] void refuse(const at::Tensor& visual, const std::string& expected, const std::string& help) {
  throw lockstep::Error{fmt::format("visual_embeds is {}, expected {}", lockstep::Tensor(visual).to_string(), expected),
                        help};
}

}  // namespace

at::Tensor fixed_slot_fuse(const at::Tensor& text_embeds, const at::Tensor& visual_embeds, std::int64_t start,
                           std::int64_t count) {
  const auto& text = text_embeds;
  if (text.dim() != 3) {
    throw lockstep::Error{fmt::format("text_embeds is {}, expected [B, S, H]", lockstep::Tensor(text).to_string()),
                          "pass the token embedding of the whole static prompt"};
  }
  if (visual_embeds.dim() != 2 && visual_embeds.dim() != 3) {
    refuse(visual_embeds, "[V, H] or [B, V, H]", "pass the result of vision_prefill");
  }
  const auto visual = visual_embeds.dim() == 2 ? visual_embeds.unsqueeze(0) : visual_embeds;
  if (visual.size(0) != text.size(0)) {
    refuse(visual_embeds, fmt::format("a batch of {}, as text_embeds has", text.size(0)), "fuse one prompt at a time");
  }
  if (visual.size(2) != text.size(2)) {
    refuse(visual_embeds, fmt::format("rows of {} values, as text_embeds has", text.size(2)),
           "take text and vision from one checkpoint");
  }
  if (visual.scalar_type() != text.scalar_type()) {
    refuse(visual_embeds, fmt::format("{}", lockstep::name_of(lockstep::from_torch(text.scalar_type()))),
           "compute text and vision in one dtype");
  }
  if (visual.size(1) != count) {
    refuse(visual_embeds, fmt::format("{} rows, got {}", count, visual.size(1)),
           "set num_visual_tokens of the profile to the rows that the picture gives, or resize the picture to the "
           "profile's image_height and image_width");
  }
  const auto slots = text.size(1);
  if (start < 0 || start > slots || count > slots - start) {
    throw lockstep::Error{
        fmt::format("the picture's slots {} to {} lie outside the prompt's {} slots", start, start + count - 1, slots),
        "raise max_seq, or lower visual_start_idx"};
  }
  if (count == 0) return text;
  if (count == slots) return visual;
  std::vector<at::Tensor> segments;
  if (start > 0) segments.push_back(text.slice(1, 0, start));
  segments.push_back(visual);
  if (start + count < slots) segments.push_back(text.slice(1, start + count));
  return at::cat(segments, 1);
}

}  // namespace gemma4
