#include "reference/modules.hpp"

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>
#include <lockstep/torch.hpp>
#include <utility>
#include <vector>

namespace gemma4 {
namespace {

using lockstep::DType;
using lockstep::Tensor;

void check_patches(const Tensor& pixel_values, const Tensor& position_ids, const VisionConfig& config) {
  const auto width = 3 * config.patch_size * config.patch_size;
  if (pixel_values.dim() != 3 || pixel_values.size(2) != width || !is_floating_point(pixel_values.dtype())) {
    throw lockstep::Error{
        fmt::format("pixel_values is {}, expected floating [pictures, patches, {}]", pixel_values.to_string(), width)};
  }
  const std::vector<std::int64_t> expected{pixel_values.size(0), pixel_values.size(1), 2};
  if (position_ids.dtype() != DType::int64 || position_ids.sizes() != expected) {
    throw lockstep::Error{fmt::format("image_position_ids is {}, expected int64 {}", position_ids.to_string(),
                                      lockstep::shape_text(expected))};
  }
}

}  // namespace

Modules::Modules(std::shared_ptr<const Checkpoint> of, DType in_dtype)
    : checkpoint(std::move(of)),
      dtype(lockstep::to_torch(in_dtype)),
      embed_tokens(*checkpoint, "embed_tokens", config().text.hidden_size, in_dtype),
      per_layer_inputs(*checkpoint, dtype),
      rotary_embedding(config().text, dtype),
      text(*checkpoint, dtype) {
  if (config().vision) vision.emplace(*checkpoint, dtype);
}

at::Tensor Modules::image_features(const Tensor& pixel_values, const Tensor& image_position_ids,
                                   const Taps& taps) const {
  if (!vision) throw lockstep::Error{fmt::format("checkpoint '{}' has no vision tower", checkpoint->name())};
  check_patches(pixel_values, image_position_ids, *config().vision);
  return vision->image_features(lockstep::to_torch(pixel_values), lockstep::to_torch(image_position_ids), taps);
}

}  // namespace gemma4
