#pragma once

#include <cstdint>
#include <optional>

#include <lockstep/tensor.hpp>
#include "recording/recording.hpp"

namespace gemma4 {

/// Where transformers put the rows of the pictures in a recorded prompt.
class RecordedFusion {
 public:
  /// Throws lockstep::Error unless the recording shows the placement: each row of llm.fused is the next row of vis.proj
  /// where tok.ids has `image`, and the row of llm.embed elsewhere.
  RecordedFusion(const Recording& recording, std::optional<std::int64_t> image);

  /// The same placement of other values: text_embeds [B, S, H], image_mask bool [B, S], image_features [V, H]. S may be
  /// more than was recorded. Throws lockstep::Error if the mask is not the recorded one, with padding behind it, or if
  /// shapes or dtypes do not fit.
  [[nodiscard]] lockstep::Tensor place(const lockstep::Tensor& text_embeds, const lockstep::Tensor& image_mask,
                                       const lockstep::Tensor& image_features) const;

 private:
  std::vector<std::uint8_t> mask_;  // [B, S] as recorded
  std::int64_t rows_, slots_;
  std::int64_t pictures_ = 0;  // true places
};

}  // namespace gemma4
