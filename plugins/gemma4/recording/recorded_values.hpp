#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <lockstep/port.hpp>
#include <lockstep/tensor.hpp>
#include "recording/recording.hpp"

// What a recording can answer, and whether a question is one that was recorded.

namespace gemma4 {

/// The values of a tensor, contiguous. Throws lockstep::Error that names the tensor if reference.safetensors lacks it
/// or it is damaged.
[[nodiscard]] lockstep::Tensor recorded_values(const Recording& recording, std::string_view name);

/// Throws lockstep::Error unless `asked` has the dtype, shape and bits of the recorded tensor `name`: it says where the
/// first difference is and both values. A tensor that is known by its hash only is judged by it. `argument` is what the
/// caller calls the tensor.
void require_recorded(const Recording& recording, std::string_view name, const lockstep::Tensor& asked,
                      std::string_view argument);

/// The same for what the vision tower was given. Throws also if the recorded model was given cast pixel values.
void require_recorded_pixels(const Recording& recording, const lockstep::Tensor& pixel_values,
                             const lockstep::Tensor& image_position_ids);

/// Shows every tensor whose values are there and whose name starts with `prefix`.
void show_recorded(const Recording& recording, std::string_view prefix, const lockstep::TensorVisitor& taps);

/// "[0, 5]": the place of the element number `flat` of a contiguous tensor of these sizes.
[[nodiscard]] std::string place_text(std::size_t flat, const std::vector<std::int64_t>& sizes);

}  // namespace gemma4
