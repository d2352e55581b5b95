#include "recording/recorded_values.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <span>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

namespace gemma4 {
namespace {

using lockstep::DType;
using lockstep::Error;
using lockstep::Tensor;

constexpr std::string_view ask_the_same =
    "run the prompt and picture that were recorded, or record these with tools/record_hf.py";

template <class T>
T read(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::string element_text(const std::byte* at, DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return *at == std::byte{0} ? "false" : "true";
    case DType::int64:
      return std::to_string(read<std::int64_t>(at));
    case DType::float32:
      return fmt::format("{}", read<float>(at));
    case DType::bfloat16:
      return fmt::format("{}", std::bit_cast<float>(static_cast<std::uint32_t>(read<std::uint16_t>(at)) << 16));
    default: {
      std::string hex = "0x";
      for (std::size_t i = lockstep::element_size(dtype); i-- > 0;) {
        hex += fmt::format("{:02x}", std::to_integer<unsigned>(at[i]));
      }
      return hex;
    }
  }
}

std::span<const std::byte> bytes_of(const Tensor& contiguous) {
  return {contiguous.data(), static_cast<std::size_t>(contiguous.numel()) * lockstep::element_size(contiguous.dtype())};
}

}  // namespace

Tensor recorded_values(const Recording& recording, std::string_view name) {
  if (const auto damage = recording.damage(name)) throw Error{*damage, "record again with tools/record_hf.py"};
  if (auto values = recording.values(name)) return values->contiguous();
  throw Error{fmt::format("{}: the recording has no values of {}", recording.folder().string(), name),
              recording.tensors().contains(name)
                  ? "it knows the tensor by its hash only: take the whole reference.safetensors"
                  : "record again with tools/record_hf.py; its --help lists the options that record more"};
}

std::string place_text(std::size_t flat, const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> index(sizes.size());
  auto rest = static_cast<std::int64_t>(flat);
  for (std::size_t axis = sizes.size(); axis-- > 0; rest /= sizes[axis]) index[axis] = rest % sizes[axis];
  return lockstep::shape_text(index);
}

void require_recorded(const Recording& recording, std::string_view name, const Tensor& asked,
                      std::string_view argument) {
  const auto found = recording.tensors().find(name);
  if (found == recording.tensors().end()) {
    throw Error{fmt::format("{}: the recording has no {}, so {} cannot be told to be the recorded one",
                            recording.folder().string(), name, argument),
                std::string(ask_the_same)};
  }
  const auto& [recorded_name, entry] = *found;
  if (lockstep::name_of(asked.dtype()) != entry.dtype || asked.sizes() != entry.shape) {
    throw Error{fmt::format("{} is {}, the recording was made with {} {} ({})", argument, asked.to_string(),
                            entry.dtype, lockstep::shape_text(entry.shape), name),
                std::string(ask_the_same)};
  }
  const auto dense = asked.contiguous();
  if (!recording.values(name)) {
    if (sha256_of(dense) == entry.sha256) return;
    throw Error{fmt::format("{} is not what the recording was made with: sha256 is {}, recorded {} ({})", argument,
                            sha256_of(dense), entry.sha256, name),
                std::string(ask_the_same)};
  }
  const auto recorded = recorded_values(recording, name);
  const auto here = bytes_of(dense), there = bytes_of(recorded);
  const auto different = std::ranges::mismatch(here, there).in1;
  if (different == here.end()) return;
  const auto width = lockstep::element_size(dense.dtype());
  const auto element = static_cast<std::size_t>(std::distance(here.begin(), different)) / width;
  throw Error{
      fmt::format("{}{} is {}, the recording was made with {} ({})", argument, place_text(element, dense.sizes()),
                  element_text(here.data() + element * width, dense.dtype()),
                  element_text(there.data() + element * width, dense.dtype()), name),
      std::string(ask_the_same)};
}

void require_recorded_pixels(const Recording& recording, const Tensor& pixel_values, const Tensor& image_position_ids) {
  if (recording.cast_pixels()) {
    throw Error{
        fmt::format("{}: the recorded model was given pixel values cast to {}, this one is given {}",
                    recording.folder().string(), lockstep::name_of(recording.dtype()), pixel_values.to_string()),
        "record without --cast-pixels"};
  }
  require_recorded(recording, "img.pixel_values", pixel_values, "pixel_values");
  require_recorded(recording, "img.position_ids", image_position_ids, "image_position_ids");
}

void show_recorded(const Recording& recording, std::string_view prefix, const lockstep::TensorVisitor& taps) {
  if (!taps) return;
  for (const auto& [name, entry] : recording.tensors()) {
    if (name.starts_with(prefix) && recording.values(name)) taps(name, recorded_values(recording, name));
  }
}

}  // namespace gemma4
