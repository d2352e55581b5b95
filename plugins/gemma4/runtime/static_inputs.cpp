#include "runtime/static_inputs.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

#include "runtime/processor_contract.hpp"

namespace gemma4 {
namespace {

using lockstep::DType;
using lockstep::Error;
using lockstep::Tensor;

// Not std::vector<bool>: Tensor views need one byte an element.
using Flags = std::vector<std::uint8_t>;

Tensor boolean_tensor(const Flags& flags, std::vector<std::int64_t> sizes) {
  return Tensor::copy_of(std::as_bytes(std::span(flags)), DType::boolean, std::move(sizes));
}

Tensor row_of(const std::vector<std::int64_t>& values) {
  return Tensor::copy_of(std::span<const std::int64_t>(values), {1, static_cast<std::int64_t>(values.size())});
}

void require_rows(const Tensor& tensor, std::string_view name, DType dtype) {
  if (tensor.dtype() == dtype && tensor.dim() == 2) return;
  throw Error{fmt::format("{} is {}, expected {} [B, n]", name, tensor.to_string(), lockstep::name_of(dtype))};
}

/// Whether each element has any bit set: right for bool and every integer type.
Flags non_zero(const Tensor& tensor) {
  const auto contiguous = tensor.contiguous();
  const auto width = lockstep::element_size(contiguous.dtype());
  Flags flags(static_cast<std::size_t>(contiguous.numel()));
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const std::span element(contiguous.data() + i * width, width);
    flags[i] = std::ranges::any_of(element, [](std::byte b) { return b != std::byte{0}; });
  }
  return flags;
}

}  // namespace

Tensor normalize_valid_mask(const Tensor& input_ids, const std::optional<Tensor>& attention_mask,
                            std::optional<std::int64_t> pad_token_id) {
  require_rows(input_ids, "input_ids", DType::int64);
  if (attention_mask) {
    if (attention_mask->sizes() != input_ids.sizes()) {
      throw Error{fmt::format("attention_mask shape {} differs from input_ids shape {}",
                              lockstep::shape_text(attention_mask->sizes()), lockstep::shape_text(input_ids.sizes())),
                  "pass the mask that belongs to these ids, or none"};
    }
    if (lockstep::is_floating_point(attention_mask->dtype())) {
      throw Error{fmt::format("attention_mask is {}, expected bool or integers", attention_mask->to_string()),
                  "pass the processor's mask of zeros and ones, not an additive one"};
    }
    return boolean_tensor(non_zero(*attention_mask), input_ids.sizes());
  }
  const auto contiguous = input_ids.contiguous();
  const auto values = contiguous.values<std::int64_t>();
  Flags valid(values.size(), 1);
  if (pad_token_id) {
    std::ranges::transform(values, valid.begin(), [pad = *pad_token_id](std::int64_t id) { return id != pad; });
  }
  return boolean_tensor(valid, input_ids.sizes());
}

void validate_padding_layout(const Tensor& valid_mask, std::string_view padding_side) {
  if (padding_side != "right") {
    throw Error{fmt::format("unsupported padding side '{}', expected 'right'", padding_side), "pad on the right"};
  }
  require_rows(valid_mask, "the valid mask", DType::boolean);
  const auto flags = non_zero(valid_mask);
  const auto length = static_cast<std::size_t>(valid_mask.size(1));
  for (std::size_t row = 0; row < static_cast<std::size_t>(valid_mask.size(0)); ++row) {
    const auto slots = std::span(flags).subspan(row * length, length);
    const auto hole = std::ranges::find(slots, 0);
    const auto after = std::find(hole, slots.end(), 1);
    if (after == slots.end()) continue;
    throw Error{
        fmt::format("right padding expected but not found: row {} has padding in slot {} and a token in slot {}", row,
                    hole - slots.begin(), after - slots.begin()),
        "move the padding behind the last token"};
  }
}

StaticBatch build_static_batch(const RawInputs& raw, const StaticLayout& layout, const VisionProfile& profile,
                               const PlaceholderIds& ids) {
  layout.validate();
  require_rows(raw.input_ids, "input_ids", DType::int64);
  if (raw.input_ids.size(0) != layout.batch_size) {
    throw Error{fmt::format("input_ids has {} rows, a static layout has {}", raw.input_ids.size(0), layout.batch_size),
                "run one prompt at a time"};
  }
  const auto valid_mask = normalize_valid_mask(raw.input_ids, raw.attention_mask, ids.pad);
  validate_padding_layout(valid_mask);
  const auto flags = non_zero(valid_mask);
  const auto valid_length = std::accumulate(flags.begin(), flags.end(), std::int64_t{0});
  if (valid_length == 0) throw Error{"the prompt has no token", "give a prompt that is not empty"};
  if (valid_length > layout.max_seq) {
    throw Error{fmt::format("the prompt has {} tokens, max_seq {} is too small", valid_length, layout.max_seq),
                fmt::format("shorten the prompt, or raise max_seq to at least {}", valid_length)};
  }

  const auto contiguous = raw.input_ids.contiguous();
  const auto first = contiguous.values<std::int64_t>().begin();
  const std::vector<std::int64_t> prompt(first, first + valid_length);
  const bool has_pixels = raw.pixel_values || raw.image_position_ids;
  if (has_pixels && !ids.image) {
    throw Error{"a picture is given, but the checkpoint has no image_token_id", "leave the picture out"};
  }
  const auto raw_input_ids = row_of(prompt);
  if (ids.image && (has_pixels || std::ranges::find(prompt, *ids.image) != prompt.end())) {
    validate_processor_outputs(
        profile,
        {.input_ids = raw_input_ids, .pixel_values = raw.pixel_values, .image_position_ids = raw.image_position_ids},
        *ids.image);
  }

  const auto slots = static_cast<std::size_t>(layout.max_seq);
  std::vector<std::int64_t> padded(slots, ids.pad);
  std::ranges::replace_copy(prompt, padded.begin(), ids.image.value_or(ids.pad), ids.pad);
  Flags mask(slots, 0);
  std::fill_n(mask.begin(), valid_length, std::uint8_t{1});
  std::vector<std::int64_t> positions(slots);
  std::iota(positions.begin(), positions.end(), std::int64_t{0});
  return {.input_ids = row_of(padded),
          .attention_mask = boolean_tensor(mask, {1, layout.max_seq}),
          .position_ids = row_of(positions),
          .valid_length = valid_length,
          .raw_input_ids = raw_input_ids,
          .pixel_values = raw.pixel_values,
          .image_position_ids = raw.image_position_ids};
}

}  // namespace gemma4
