#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <lockstep/tensor.hpp>

#include "process/temporary_file.hpp"
#include "tensor/mapped_file.hpp"

namespace lockstep {

/// A tensor whose memory lies in a file: at which byte its element [0, 0, …] is.
struct PlacedTensor {
  std::uint64_t offset = 0;
  DType dtype = DType::float32;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
};

/// Writes the memory of tensors to a file so that another process sees the same: bits, layout, alignment to a page, and
/// memory that tensors share.
class LOCKSTEP_API TensorMemory {
 public:
  /// A tensor whose memory is to be written; its index for `placed`.
  std::size_t add(const Tensor& tensor);
  /// Writes all that was added, each byte once. Throws Error if the file cannot be written.
  void write(TemporaryFile& file);
  /// After `write`.
  [[nodiscard]] PlacedTensor placed(std::size_t index) const;
  /// The tensor of this process that `place` names, if what was written holds all of it.
  [[nodiscard]] std::optional<Tensor> original(const PlacedTensor& place) const;

 private:
  struct Block {
    std::uintptr_t begin;
    std::uintptr_t end;
    std::uint64_t offset = 0;  ///< in the file
    std::vector<std::shared_ptr<const void>> owners = {};
  };
  std::vector<Tensor> tensors_;
  std::vector<Block> blocks_;  // by address, apart from each other
};

/// Where `tensor` lies in `file`, if all of it does.
[[nodiscard]] std::optional<PlacedTensor> place_in(const MappedFile& file, const Tensor& tensor);
/// The tensor at a place in a file. Throws Error if a part of it would lie outside.
[[nodiscard]] LOCKSTEP_API Tensor tensor_at(const std::shared_ptr<const MappedFile>& file, const PlacedTensor& place);

}  // namespace lockstep
