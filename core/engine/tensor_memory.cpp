#include "engine/tensor_memory.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

namespace lockstep {
namespace {

constexpr std::uint64_t page = 4096;

/// The bytes of a tensor, relative to element [0, 0, …]: negative strides reach before it.
struct Extent {
  std::int64_t before;  ///< bytes before the first element
  std::int64_t after;   ///< bytes from its start to the end
};

/// None for a tensor without elements, and for one whose strides lead further than 64 bits count.
std::optional<Extent> extent_of(DType dtype, const std::vector<std::int64_t>& sizes,
                                const std::vector<std::int64_t>& strides) {
  const auto width = static_cast<std::int64_t>(element_size(dtype));
  Extent extent{0, width};
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    if (sizes[axis] == 0) return std::nullopt;
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(sizes[axis] - 1, strides[axis], &reach) || __builtin_mul_overflow(reach, width, &reach))
      return std::nullopt;
    auto& side = reach < 0 ? extent.before : extent.after;
    if (__builtin_add_overflow(side, reach < 0 ? -reach : reach, &side)) return std::nullopt;
  }
  return extent;
}

std::optional<Extent> extent_of(const Tensor& tensor) {
  return extent_of(tensor.dtype(), tensor.sizes(), tensor.strides());
}

std::uintptr_t address_of(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

bool holds(std::uint64_t begin, std::uint64_t end, std::uint64_t place, const Extent& extent) {
  const auto before = static_cast<std::uint64_t>(extent.before);
  const auto after = static_cast<std::uint64_t>(extent.after);
  return place >= begin && place - begin >= before && place <= end && end - place >= after;
}

}  // namespace

std::size_t TensorMemory::add(const Tensor& tensor) {
  tensors_.push_back(tensor);
  if (const auto extent = extent_of(tensor)) {
    const auto data = address_of(tensor.data());
    blocks_.push_back({.begin = data - static_cast<std::uintptr_t>(extent->before),
                       .end = data + static_cast<std::uintptr_t>(extent->after),
                       .owners = {tensor.owner()}});
  }
  return tensors_.size() - 1;
}

void TensorMemory::write(TemporaryFile& file) {
  std::ranges::sort(blocks_, {}, &Block::begin);
  std::vector<Block> merged;
  for (auto& block : blocks_) {
    if (merged.empty() || block.begin >= merged.back().end) {
      merged.push_back(std::move(block));
    } else {
      merged.back().end = std::max(merged.back().end, block.end);
      merged.back().owners.push_back(std::move(block.owners.front()));
    }
  }
  blocks_ = std::move(merged);
  std::uint64_t end = 0;
  for (auto& block : blocks_) {
    block.offset = end + (block.begin % page + page - end % page) % page;
    end = block.offset + (block.end - block.begin);
    file.write({reinterpret_cast<const char*>(block.begin), block.end - block.begin}, block.offset);
  }
}

PlacedTensor TensorMemory::placed(std::size_t index) const {
  const auto& tensor = tensors_.at(index);
  PlacedTensor place{.dtype = tensor.dtype(), .sizes = tensor.sizes(), .strides = tensor.strides()};
  if (!extent_of(tensor)) return place;
  const auto data = address_of(tensor.data());
  const auto after = std::ranges::upper_bound(blocks_, data, {}, &Block::begin);
  const auto& block = *std::prev(after);
  place.offset = block.offset + (data - block.begin);
  return place;
}

std::optional<Tensor> TensorMemory::original(const PlacedTensor& place) const {
  const auto extent = extent_of(place.dtype, place.sizes, place.strides);
  if (!extent) return std::nullopt;
  for (const auto& block : blocks_) {
    if (!holds(block.offset, block.offset + (block.end - block.begin), place.offset, *extent)) continue;
    const auto* data = reinterpret_cast<const void*>(block.begin + (place.offset - block.offset));
    return Tensor(std::make_shared<std::vector<std::shared_ptr<const void>>>(block.owners), data, place.dtype,
                  place.sizes, place.strides);
  }
  return std::nullopt;
}

std::optional<PlacedTensor> place_in(const MappedFile& file, const Tensor& tensor) {
  const auto begin = address_of(file.bytes().data());
  const auto extent = extent_of(tensor);
  const auto data = address_of(tensor.data());
  if (!extent || !holds(begin, begin + file.bytes().size(), data, *extent)) return std::nullopt;
  return PlacedTensor{data - begin, tensor.dtype(), tensor.sizes(), tensor.strides()};
}

Tensor tensor_at(const std::shared_ptr<const MappedFile>& file, const PlacedTensor& place) {
  if (place.sizes.size() != place.strides.size()) throw Error{"a tensor has not as many strides as sizes"};
  const bool is_empty = std::ranges::count(place.sizes, 0) > 0;
  if (is_empty) return {nullptr, nullptr, place.dtype, place.sizes, place.strides};
  const auto extent = extent_of(place.dtype, place.sizes, place.strides);
  if (!extent || !holds(0, file->bytes().size(), place.offset, *extent)) {
    throw Error{fmt::format("a tensor {} {} at byte {} reaches out of the {} bytes that were handed over",
                            name_of(place.dtype), shape_text(place.sizes), place.offset, file->bytes().size())};
  }
  return {file, file->bytes().data() + place.offset, place.dtype, place.sizes, place.strides};
}

}  // namespace lockstep
