#include "recording/recorded_fusion.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

#include "recording/recorded_values.hpp"

namespace gemma4 {
namespace {

using lockstep::DType;
using lockstep::Error;
using lockstep::Tensor;

std::size_t row_bytes(const Tensor& tensor) {
  return static_cast<std::size_t>(tensor.size(-1)) * lockstep::element_size(tensor.dtype());
}

}  // namespace

RecordedFusion::RecordedFusion(const Recording& recording, std::optional<std::int64_t> image) {
  const auto ids = recorded_values(recording, "tok.ids");
  rows_ = ids.size(0);
  slots_ = ids.size(1);
  for (const auto id : ids.values<std::int64_t>()) {
    mask_.push_back(image && id == *image);
    pictures_ += mask_.back();
  }
  const auto fused = recorded_values(recording, "llm.fused");
  const auto text = recorded_values(recording, "llm.embed");
  const auto features = pictures_ > 0 ? recorded_values(recording, "vis.proj") : Tensor();
  const auto width = row_bytes(fused);
  const bool fits = fused.sizes() == text.sizes() && fused.dtype() == text.dtype() &&
                    fused.numel() == ids.numel() * fused.size(-1) &&
                    (pictures_ == 0 || (features.dtype() == fused.dtype() && features.dim() == 2 &&
                                        features.size(0) == pictures_ && features.size(1) == fused.size(-1)));
  const auto* next = features.data();
  for (std::size_t slot = 0; fits && slot < mask_.size(); ++slot) {
    const auto* expected = mask_[slot] ? next : text.data() + slot * width;
    if (mask_[slot]) next += width;
    if (std::memcmp(fused.data() + slot * width, expected, width) == 0) continue;
    throw Error{
        fmt::format("{}: the row of llm.fused at {} is not the {}", recording.folder().string(),
                    place_text(slot, ids.sizes()), mask_[slot] ? "next one of vis.proj" : "one of llm.embed there"),
        "record again with tools/record_hf.py"};
  }
  if (!fits) {
    throw Error{fmt::format("{}: llm.fused {}, llm.embed {} and vis.proj {} do not fit {} placeholders in {}",
                            recording.folder().string(), fused.to_string(), text.to_string(), features.to_string(),
                            pictures_, ids.to_string()),
                "record again with tools/record_hf.py"};
  }
}

Tensor RecordedFusion::place(const Tensor& text_embeds, const Tensor& image_mask, const Tensor& image_features) const {
  const auto text = text_embeds.contiguous(), mask = image_mask.contiguous(), features = image_features.contiguous();
  const std::vector<std::int64_t> places =
      text.dim() == 3 ? std::vector<std::int64_t>{text.size(0), text.size(1)} : std::vector<std::int64_t>();
  if (text.dim() != 3 || mask.dtype() != DType::boolean || mask.sizes() != places) {
    throw Error{fmt::format("text_embeds is {} and image_mask {}, expected [B, S, H] and bool [B, S]", text.to_string(),
                            mask.to_string())};
  }
  if (text.size(0) != rows_ || text.size(1) < slots_) {
    throw Error{
        fmt::format("text_embeds is {}, the recorded prompt has {} rows of {} tokens", text.to_string(), rows_, slots_),
        "raise max_seq to the recorded prompt's tokens"};
  }
  if (features.dim() != 2 || features.size(0) != pictures_ || features.size(1) != text.size(2) ||
      features.dtype() != text.dtype()) {
    throw Error{fmt::format("image_features is {}, expected {} [{}, {}]", features.to_string(),
                            lockstep::name_of(text.dtype()), pictures_, text.size(2))};
  }
  const auto width = row_bytes(text);
  std::vector<std::byte> fused(
      text.data(), text.data() + static_cast<std::size_t>(text.numel()) * lockstep::element_size(text.dtype()));
  const auto flags = mask.values<bool>();
  const auto* next = features.data();
  for (std::size_t slot = 0; slot < flags.size(); ++slot) {
    const auto row = static_cast<std::int64_t>(slot) / text.size(1),
               column = static_cast<std::int64_t>(slot) % text.size(1);
    const bool recorded = column < slots_ && mask_[static_cast<std::size_t>(row * slots_ + column)] != 0;
    if (flags[slot] != recorded) {
      throw Error{fmt::format("image_mask{} is {}, the recorded prompt has {} there", place_text(slot, mask.sizes()),
                              flags[slot], recorded ? "the image token" : "no image token"),
                  "run the prompt that was recorded"};
    }
    if (!recorded) continue;
    std::memcpy(fused.data() + slot * width, next, width);
    next += width;
  }
  return Tensor::copy_of(fused, text.dtype(), text.sizes());
}

}  // namespace gemma4
