#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <lockstep/tensor.hpp>

namespace lockstep {

/// What stands before the data of a `.npy` file.
struct NpyHeader {
  DType dtype = DType::float32;
  bool big_endian = false;
  bool fortran_order = false;  ///< the first axis is the one without gaps
  std::vector<std::int64_t> shape;
  std::size_t data_start = 0;  ///< byte of the file
};

/// Format versions 1.0, 2.0 and 3.0 (numpy.lib.format). Throws Error that begins with `name` and says what was found.
[[nodiscard]] NpyHeader read_npy_header(std::string_view bytes, const std::string& name);

/// The array of a whole `.npy` file: a view of `bytes`, which `owner` keeps alive, in the file's order of axes; a copy
/// where the bytes must be swapped or do not lie at a multiple of the element size. Throws Error as read_npy_header
/// does, and if the data is shorter or longer than the header says.
[[nodiscard]] LOCKSTEP_API Tensor read_npy(const std::shared_ptr<const void>& owner, std::string_view bytes,
                                           const std::string& name);

}  // namespace lockstep
