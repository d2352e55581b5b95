#include "tensor/npy.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

namespace lockstep {
namespace {

/// Throws if the data, or the strides of an array without elements, would not fit 64 bits.
std::size_t byte_count(const NpyHeader& header, const std::string& name) {
  std::int64_t bytes = static_cast<std::int64_t>(element_size(header.dtype));
  bool empty = false;
  for (const std::int64_t size : header.shape) {
    empty = empty || size == 0;
    if (__builtin_mul_overflow(bytes, std::max<std::int64_t>(size, 1), &bytes))
      throw Error{fmt::format("{}: the shape {} has more bytes than 64 bits count", name, shape_text(header.shape))};
  }
  return empty ? 0 : static_cast<std::size_t>(bytes);
}

std::vector<std::int64_t> strides_of(const NpyHeader& header) {
  std::vector<std::int64_t> strides(header.shape.size());
  std::int64_t step = 1;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    const std::size_t axis = header.fortran_order ? i : strides.size() - 1 - i;
    strides[axis] = step;
    step *= std::max<std::int64_t>(header.shape[axis], 1);
  }
  return strides;
}

/// The bytes in memory of their own, those of each element turned about if `swap`.
Tensor copied(std::string_view data, std::size_t width, bool swap) {
  std::vector<std::byte> bytes(data.size());
  if (!data.empty()) std::memcpy(bytes.data(), data.data(), data.size());
  if (swap) {
    for (auto element = bytes.begin(); element != bytes.end(); element += static_cast<std::ptrdiff_t>(width))
      std::reverse(element, element + static_cast<std::ptrdiff_t>(width));
  }
  return Tensor::copy_of(std::span<const std::byte>(bytes), DType::uint8, {static_cast<std::int64_t>(bytes.size())});
}

}  // namespace

Tensor read_npy(const std::shared_ptr<const void>& owner, std::string_view bytes, const std::string& name) {
  auto header = read_npy_header(bytes, name);
  const auto data = bytes.substr(header.data_start);
  const auto size = byte_count(header, name);
  if (data.size() != size)
    throw Error{fmt::format("{}: {} {} needs {} bytes of data, found {}", name, name_of(header.dtype),
                            shape_text(header.shape), size, data.size())};
  const auto width = element_size(header.dtype);
  const bool aligned = reinterpret_cast<std::uintptr_t>(data.data()) % width == 0;
  auto strides = strides_of(header);
  const bool swap = header.big_endian && width > 1;
  if (aligned && !swap) return {owner, data.data(), header.dtype, std::move(header.shape), std::move(strides)};
  const Tensor copy = copied(data, width, swap);
  return {copy.owner(), copy.data(), header.dtype, std::move(header.shape), std::move(strides)};
}

}  // namespace lockstep
