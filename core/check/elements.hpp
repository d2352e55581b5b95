#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <lockstep/tensor.hpp>

namespace lockstep::numeric {

/// Elements that are read, decoded and compared at a time: a multiple of every vector length, small enough for the
/// first-level cache even as doubles.
inline constexpr std::int64_t block_size = 2048;

/// Room for one block of any dtype.
struct alignas(64) Scratch {
  std::byte bytes[block_size * 8];
};

/// A tensor as a row-major sequence of raw elements. Dense data is read in place; strided data is gathered block by
/// block. Refers to the tensor's data and does not own it.
class Elements {
 public:
  explicit Elements(const Tensor& tensor);

  [[nodiscard]] std::int64_t count() const noexcept { return count_; }
  [[nodiscard]] DType dtype() const noexcept { return dtype_; }
  /// Elements [first, first + n), n <= block_size: a pointer into the tensor, or into `scratch` after filling it. Not
  /// necessarily aligned to the element size.
  const std::byte* read(std::int64_t first, std::int64_t n, Scratch& scratch) const;

 private:
  struct Axis {
    std::int64_t size;
    std::ptrdiff_t stride;  // bytes
  };
  void gather(std::int64_t first, std::int64_t n, std::byte* out) const;

  const std::byte* data_;
  DType dtype_;
  std::int64_t count_;
  std::ptrdiff_t width_;
  std::vector<Axis> axes_;  // outermost first; axes that run on into each other are joined
  bool dense_;
};

/// The multi-index of element number `flat`.
[[nodiscard]] std::vector<std::int64_t> index_of(std::int64_t flat, const std::vector<std::int64_t>& sizes);

}  // namespace lockstep::numeric
