#include "steps/model_inputs.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gemma4 {

ModelInputs model_inputs_of(const StaticBatch& batch) {
  const std::vector<std::int64_t> ones(static_cast<std::size_t>(batch.raw_input_ids.numel()), 1);
  return {.input_ids = batch.raw_input_ids,
          .attention_mask = lockstep::Tensor::copy_of(std::span(ones), batch.raw_input_ids.sizes()),
          .pixel_values = batch.pixel_values,
          .image_position_ids = batch.image_position_ids};
}

}  // namespace gemma4
