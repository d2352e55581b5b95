#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <lockstep/tensor.hpp>
#include "recording/recording.hpp"

namespace gemma4 {

/// The embedding rows that a recording has, by token id.
class RecordedRows {
 public:
  /// Reads llm.ids with llm.embed, decode.{s}.llm.ids with decode.{s}.llm.embed, and llm.pad_embed for `pad`. Throws
  /// lockstep::Error if there is no llm.ids or llm.embed, or if one id has rows of different bits.
  RecordedRows(const Recording& recording, std::int64_t pad);

  /// int64 [B, S] -> [B, S, width]. Throws lockstep::Error that names an id which the recording does not have.
  [[nodiscard]] lockstep::Tensor gather(const lockstep::Tensor& input_ids) const;

 private:
  void add(const lockstep::Tensor& ids, const lockstep::Tensor& rows, const std::string& name);

  std::string folder_;
  lockstep::DType dtype_;
  std::int64_t width_;
  std::map<std::int64_t, std::span<const std::byte>> rows_;
  std::vector<lockstep::Tensor> owners_;
};

}  // namespace gemma4
