#include <lockstep/tensor.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

namespace lockstep {
namespace {

constexpr std::size_t alignment = 64;  // a cache line, and the widest vector register

std::shared_ptr<std::byte> allocate(std::size_t bytes) {
  const std::size_t rounded = std::max(alignment, (bytes + alignment - 1) / alignment * alignment);
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(alignment, rounded));
  if (memory == nullptr) throw std::bad_alloc();
  return {memory, [](std::byte* p) { std::free(p); }};
}

void require_sizes(const std::vector<std::int64_t>& sizes) {
  if (std::any_of(sizes.begin(), sizes.end(), [](std::int64_t n) { return n < 0; })) {
    throw Error{fmt::format("tensor sizes {} hold a negative size", shape_text(sizes))};
  }
}

/// Throws if the product does not fit: a size from a file must not become a small allocation.
std::int64_t element_count(const std::vector<std::int64_t>& sizes) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return 0;
  std::int64_t count = 1;
  for (const std::int64_t n : sizes) {
    if (__builtin_mul_overflow(count, n, &count)) {
      throw Error{fmt::format("tensor sizes {} hold more elements than 64 bits count", shape_text(sizes))};
    }
  }
  return count;
}

std::vector<std::int64_t> row_major_strides(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> strides(sizes.size());
  std::int64_t step = 1;
  for (std::size_t axis = sizes.size(); axis-- > 0;) {
    strides[axis] = step;
    step *= std::max<std::int64_t>(sizes[axis], 1);
  }
  return strides;
}

/// Copies the elements of one axis and all later ones, row-major, to `out`; returns the end of what was written.
std::byte* copy_axis(const Tensor& from, std::size_t axis, const std::byte* data, std::byte* out) {
  const auto width = static_cast<std::ptrdiff_t>(element_size(from.dtype()));
  if (axis == from.sizes().size()) {
    std::memcpy(out, data, static_cast<std::size_t>(width));
    return out + width;
  }
  const std::int64_t step = from.strides()[axis];
  const std::int64_t count = from.sizes()[axis];
  if (axis + 1 == from.sizes().size() && step == 1) {
    const auto bytes = static_cast<std::size_t>(count * width);
    std::memcpy(out, data, bytes);
    return out + bytes;
  }
  for (std::int64_t i = 0; i < count; ++i) out = copy_axis(from, axis + 1, data + i * step * width, out);
  return out;
}

}  // namespace

Tensor::Tensor() = default;

Tensor::Tensor(std::shared_ptr<const void> owner, const void* data, DType dtype, std::vector<std::int64_t> sizes,
               std::vector<std::int64_t> strides)
    : owner_(std::move(owner)),
      data_(static_cast<const std::byte*>(data)),
      dtype_(dtype),
      sizes_(std::move(sizes)),
      strides_(std::move(strides)) {
  require_sizes(sizes_);
  if (sizes_.size() != strides_.size()) {
    throw Error{fmt::format("a tensor of sizes {} has {} strides, expected {}", shape_text(sizes_), strides_.size(),
                            sizes_.size())};
  }
  if (element_count(sizes_) > 0 && data_ == nullptr) {
    throw Error{fmt::format("a tensor of sizes {} has no data", shape_text(sizes_))};
  }
}

Tensor::Tensor(std::shared_ptr<const void> owner, const void* data, DType dtype, std::vector<std::int64_t> sizes)
    : owner_(std::move(owner)), data_(static_cast<const std::byte*>(data)), dtype_(dtype), sizes_(std::move(sizes)) {
  require_sizes(sizes_);
  if (element_count(sizes_) > 0 && data_ == nullptr) {
    throw Error{fmt::format("a tensor of sizes {} has no data", shape_text(sizes_))};
  }
  strides_ = row_major_strides(sizes_);
}

Tensor Tensor::copy_of(std::span<const std::byte> bytes, DType dtype, std::vector<std::int64_t> sizes) {
  require_sizes(sizes);
  std::int64_t expected = 0;
  if (__builtin_mul_overflow(element_count(sizes), static_cast<std::int64_t>(element_size(dtype)), &expected) ||
      bytes.size() != static_cast<std::size_t>(expected)) {
    throw Error{fmt::format("{} bytes were given for a tensor {} {}, expected {}", bytes.size(), name_of(dtype),
                            shape_text(sizes), expected)};
  }
  const auto memory = allocate(bytes.size());
  if (!bytes.empty()) std::memcpy(memory.get(), bytes.data(), bytes.size());
  return {memory, memory.get(), dtype, std::move(sizes)};
}

std::int64_t Tensor::size(std::int64_t axis) const {
  const std::int64_t index = axis < 0 ? axis + dim() : axis;
  if (index < 0 || index >= dim()) {
    throw Error{fmt::format("axis {} of a tensor {} with {} axes", axis, to_string(), dim())};
  }
  return sizes_[static_cast<std::size_t>(index)];
}

std::int64_t Tensor::numel() const noexcept {
  std::int64_t count = 1;
  for (const std::int64_t n : sizes_) {
    if (n == 0) return 0;
    count *= n;
  }
  return count;
}

bool Tensor::is_contiguous() const noexcept {
  std::int64_t step = 1;
  for (std::size_t axis = sizes_.size(); axis-- > 0;) {
    if (sizes_[axis] == 0) return true;
    if (sizes_[axis] != 1 && strides_[axis] != step) {
      return numel() == 0;
    }
    step *= sizes_[axis];
  }
  return true;
}

Tensor Tensor::contiguous() const {
  if (is_contiguous()) return *this;
  const auto memory = allocate(static_cast<std::size_t>(numel()) * element_size(dtype_));
  copy_axis(*this, 0, data_, memory.get());
  return {memory, memory.get(), dtype_, sizes_};
}

std::string Tensor::to_string() const { return fmt::format("{} {}", name_of(dtype_), shape_text(sizes_)); }

std::string shape_text(std::span<const std::int64_t> sizes) {
  std::string text = "[";
  for (const std::int64_t n : sizes) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(n);
  }
  return text + "]";
}

void detail::require_values(const Tensor& tensor, DType dtype) {
  if (tensor.dtype() != dtype) {
    throw Error{fmt::format("the tensor {} is read as {}", tensor.to_string(), name_of(dtype))};
  }
  if (!tensor.is_contiguous()) {
    throw Error{fmt::format("the tensor {} with strides {} is read as contiguous", tensor.to_string(),
                            shape_text(tensor.strides())),
                "call contiguous() first"};
  }
  if (reinterpret_cast<std::uintptr_t>(tensor.data()) % element_size(dtype) != 0) {
    throw Error{fmt::format("the tensor {} does not start at a multiple of its element size", tensor.to_string()),
                "copy it with Tensor::copy_of"};
  }
}

}  // namespace lockstep
