#pragma once

#include <memory>
#include <optional>

#include "checkpoint/checkpoint.hpp"
#include "reference/embedding.hpp"
#include "reference/per_layer_inputs.hpp"
#include "reference/rotary_embedding.hpp"
#include "reference/text_model.hpp"
#include "reference/vision_tower.hpp"

namespace gemma4 {

/// The modules of Gemma4ForConditionalGeneration over one checkpoint, in one dtype. Immutable; sessions share them.
struct Modules {
  Modules(std::shared_ptr<const Checkpoint> checkpoint, lockstep::DType dtype);

  std::shared_ptr<const Checkpoint> checkpoint;
  at::ScalarType dtype;
  ScaledWordEmbedding embed_tokens;
  PerLayerInputs per_layer_inputs;
  RotaryEmbedding rotary_embedding;
  TextModel text;
  std::optional<VisionTower> vision;

  [[nodiscard]] const Config& config() const noexcept { return checkpoint->config(); }

  /// VisionTower's, with the shapes of its inputs checked. Throws lockstep::Error; also for a checkpoint without
  /// vision.
  [[nodiscard]] at::Tensor image_features(const lockstep::Tensor& pixel_values,
                                          const lockstep::Tensor& image_position_ids, const Taps& taps) const;
};

}  // namespace gemma4
