#include "steps/slot_parts.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace gemma4 {
namespace {

using lockstep::DType;
using lockstep::Tensor;

/// Why `tensor` cannot be read as a row of slots; or "".
std::string form_fault(const Tensor& tensor, std::string_view name, DType dtype, std::int64_t max_seq) {
  if (tensor.dtype() == dtype && tensor.sizes() == std::vector<std::int64_t>{1, max_seq} && tensor.is_contiguous()) {
    return "";
  }
  return fmt::format("{} is {}, expected contiguous {} [1, {}]", name, tensor.to_string(), lockstep::name_of(dtype),
                     max_seq);
}

Tensor row_of_flags(const std::vector<std::uint8_t>& flags) {
  return Tensor::copy_of(std::as_bytes(std::span(flags)), DType::boolean, {1, std::ssize(flags)});
}

}  // namespace

Tensor row_of_ids(std::span<const std::int64_t> ids) { return Tensor::copy_of(ids, {1, std::ssize(ids)}); }

Tensor row_of_true(std::int64_t length) {
  return row_of_flags(std::vector<std::uint8_t>(static_cast<std::size_t>(length), 1));
}

StaticBatch batch_of_slots(std::span<const std::int64_t> ids, std::optional<std::int64_t> image, std::int64_t pad,
                           std::int64_t max_seq) {
  const auto length = std::ssize(ids);
  std::vector<std::int64_t> padded, positions;
  std::vector<std::uint8_t> mask;
  for (std::int64_t slot = 0; slot < max_seq; ++slot) {
    const auto id = slot < length ? ids[static_cast<std::size_t>(slot)] : pad;
    padded.push_back(id == image ? pad : id);
    mask.push_back(slot < length);
    positions.push_back(slot);
  }
  return {.input_ids = row_of_ids(padded),
          .attention_mask = row_of_flags(mask),
          .position_ids = row_of_ids(positions),
          .valid_length = length,
          .raw_input_ids = row_of_ids(ids)};
}

std::string padding_fault(const Tensor& input_ids, std::int64_t length, std::int64_t pad, std::int64_t max_seq) {
  if (auto fault = form_fault(input_ids, "input_ids", DType::int64, max_seq); !fault.empty()) return fault;
  const auto behind = input_ids.values<std::int64_t>().subspan(static_cast<std::size_t>(length));
  const auto other = std::ranges::find_if(behind, [&](std::int64_t id) { return id != pad; });
  if (other == behind.end()) return "";
  return fmt::format("slot {} is behind the prompt and holds id {}, expected the pad id {}",
                     length + (other - behind.begin()), *other, pad);
}

std::string mask_fault(const Tensor& attention_mask, std::int64_t max_seq) {
  if (auto fault = form_fault(attention_mask, "attention_mask", DType::boolean, max_seq); !fault.empty()) return fault;
  const auto flags = attention_mask.values<bool>();
  const auto hole = std::ranges::find(flags, false);
  const auto after = std::find(hole, flags.end(), true);
  if (after == flags.end()) return "";
  return fmt::format("slot {} is valid behind slot {} which is not, expected padding on the right",
                     after - flags.begin(), hole - flags.begin());
}

}  // namespace gemma4
