#include "check/elements.hpp"

#include <algorithm>
#include <cstring>

namespace lockstep::numeric {
namespace {

template <std::size_t width>
void copy_strided(const std::byte* from, std::ptrdiff_t stride, std::int64_t n, std::byte* out) {
  for (std::int64_t i = 0; i < n; ++i) {
    std::memcpy(out, from, width);
    from += stride;
    out += width;
  }
}

void copy_run(const std::byte* from, std::ptrdiff_t stride, std::ptrdiff_t width, std::int64_t n, std::byte* out) {
  if (stride == width) {
    std::memcpy(out, from, static_cast<std::size_t>(n * width));
    return;
  }
  switch (width) {
    case 1:
      return copy_strided<1>(from, stride, n, out);
    case 2:
      return copy_strided<2>(from, stride, n, out);
    case 4:
      return copy_strided<4>(from, stride, n, out);
    default:
      return copy_strided<8>(from, stride, n, out);
  }
}

}  // namespace

Elements::Elements(const Tensor& tensor)
    : data_(tensor.data()),
      dtype_(tensor.dtype()),
      count_(tensor.numel()),
      width_(static_cast<std::ptrdiff_t>(element_size(tensor.dtype()))) {
  for (std::size_t i = 0; i < tensor.sizes().size(); ++i) {
    const Axis axis{tensor.sizes()[i], tensor.strides()[i] * width_};
    if (axis.size == 1) continue;
    if (!axes_.empty() && axes_.back().stride == axis.size * axis.stride) {
      axes_.back() = {axes_.back().size * axis.size, axis.stride};
    } else {
      axes_.push_back(axis);
    }
  }
  dense_ = count_ == 0 || axes_.empty() || (axes_.size() == 1 && axes_.front().stride == width_);
}

const std::byte* Elements::read(std::int64_t first, std::int64_t n, Scratch& scratch) const {
  if (dense_) return data_ + first * width_;
  gather(first, n, scratch.bytes);
  return scratch.bytes;
}

void Elements::gather(std::int64_t first, std::int64_t n, std::byte* out) const {
  const Axis& inner = axes_.back();
  while (n > 0) {
    std::int64_t rest = first / inner.size;
    const std::int64_t column = first % inner.size;
    const std::byte* from = data_ + column * inner.stride;
    for (std::size_t i = axes_.size() - 1; i-- > 0;) {
      from += (rest % axes_[i].size) * axes_[i].stride;
      rest /= axes_[i].size;
    }
    const std::int64_t run = std::min(n, inner.size - column);
    copy_run(from, inner.stride, width_, run, out);
    out += run * width_;
    first += run;
    n -= run;
  }
}

std::vector<std::int64_t> index_of(std::int64_t flat, const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> index(sizes.size());
  for (std::size_t i = sizes.size(); i-- > 0;) {
    index[i] = flat % sizes[i];
    flat /= sizes[i];
  }
  return index;
}

}  // namespace lockstep::numeric
