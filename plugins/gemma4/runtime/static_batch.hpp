#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <lockstep/port.hpp>
#include <lockstep/tensor.hpp>

namespace gemma4 {

/// A processor's output for one prompt, not padded (or padded on the right, with a mask that says so).
struct RawInputs {
  lockstep::Tensor input_ids;                                     ///< [1, n] int64, with image ids
  std::optional<lockstep::Tensor> attention_mask = std::nullopt;  ///< [1, n] bool or integers; none: ids other than pad
  std::optional<lockstep::Tensor> pixel_values = std::nullopt;    ///< [1, num_patches, 3 * patch_size^2]
  std::optional<lockstep::Tensor> image_position_ids = std::nullopt;  ///< [1, num_patches, 2] int64
};

/// A prompt in the form that a static runtime takes: every tensor has max_seq slots, the prompt lies at the front.
///
/// A slot of the picture is valid though its id is the pad id: never derive the mask from `input_ids`.
struct StaticBatch {
  lockstep::Tensor input_ids;       ///< [1, max_seq] int64; slots of the picture and of padding hold the pad id
  lockstep::Tensor attention_mask;  ///< [1, max_seq] bool; true for the first valid_length slots
  lockstep::Tensor position_ids;    ///< [1, max_seq] int64; 0, 1, 2, …, padding included
  std::int64_t valid_length = 0;    ///< tokens of the prompt, 1 to max_seq
  lockstep::Tensor raw_input_ids;   ///< [1, valid_length] int64; the prompt itself, with image ids
  std::optional<lockstep::Tensor> pixel_values = std::nullopt;        ///< [1, num_patches, 3 * patch_size^2]
  std::optional<lockstep::Tensor> image_position_ids = std::nullopt;  ///< [1, num_patches, 2] int64
};

inline void visit_tensors(const StaticBatch& batch, const lockstep::TensorVisitor& visit) {
  visit("input_ids", batch.input_ids);
  visit("attention_mask", batch.attention_mask);
  visit("position_ids", batch.position_ids);
  visit("raw_input_ids", batch.raw_input_ids);
  if (batch.pixel_values) visit("pixel_values", *batch.pixel_values);
  if (batch.image_position_ids) visit("image_position_ids", *batch.image_position_ids);
}

}  // namespace gemma4

LOCKSTEP_PORT_TYPE(gemma4::StaticBatch, "gemma4.static_batch/1");

template <>
struct lockstep::PortTransfer<gemma4::StaticBatch> {
  static lockstep::NamedTensors to_tensors(const gemma4::StaticBatch& batch) {
    lockstep::NamedTensors tensors;
    gemma4::visit_tensors(batch, [&tensors](std::string_view name, const lockstep::Tensor& tensor) {
      tensors.add(std::string(name), tensor);
    });
    tensors.add("valid_length", Tensor::copy_of(std::span<const std::int64_t>(&batch.valid_length, 1), {}));
    return tensors;
  }
  static gemma4::StaticBatch from_tensors(const lockstep::NamedTensors& tensors) {
    const auto maybe = [&tensors](std::string_view name) {
      const auto* tensor = tensors.find(name);
      return tensor == nullptr ? std::nullopt : std::optional(*tensor);
    };
    return {.input_ids = tensors.at("input_ids"),
            .attention_mask = tensors.at("attention_mask"),
            .position_ids = tensors.at("position_ids"),
            .valid_length = tensors.at("valid_length").values<std::int64_t>().front(),
            .raw_input_ids = tensors.at("raw_input_ids"),
            .pixel_values = maybe("pixel_values"),
            .image_position_ids = maybe("image_position_ids")};
  }
};
