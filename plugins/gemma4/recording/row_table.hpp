#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <lockstep/tensor.hpp>
#include "recording/recording.hpp"

namespace gemma4 {

/// Recorded rows of one width and dtype by an integer that decides about them: embeddings by token id, rotary tables by
/// position.
class RowTable {
 public:
  /// `key` is how errors call the integer: "id".
  RowTable(std::string folder, std::string key) : folder_(std::move(folder)), key_(std::move(key)) {}

  /// keys int64 [...], rows [..., width]; `name` stands in errors. Throws lockstep::Error if the shapes do not fit, or
  /// if one key has rows of different bits.
  void add(const lockstep::Tensor& keys, const lockstep::Tensor& rows, const std::string& name);

  /// int64 [...] -> [..., width]. Throws lockstep::Error that names a key without a row and its place in `argument`.
  [[nodiscard]] lockstep::Tensor gather(const lockstep::Tensor& keys, const std::string& argument) const;

 private:
  std::string folder_, key_;
  lockstep::DType dtype_ = lockstep::DType::float32;
  std::int64_t width_ = 0;
  std::map<std::int64_t, std::span<const std::byte>> rows_;
  std::vector<lockstep::Tensor> owners_;
};

/// The rows of `name` ("llm.embed", "rope.full.cos") by `keys` ("llm.ids", "llm.position_ids"): of the prefill and of
/// every decode step. Throws lockstep::Error if the prefill has none.
[[nodiscard]] RowTable recorded_rows(const Recording& recording, const std::string& keys, const std::string& name,
                                     const std::string& key);

}  // namespace gemma4
