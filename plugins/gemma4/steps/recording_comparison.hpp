#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <lockstep/check.hpp>
#include <lockstep/tensor.hpp>
#include "recording/recording.hpp"

namespace gemma4 {

/// Compares what was computed here with the tensor of the same name in a recording, one check entry per tensor.
///
/// Bits where `same_machine`, and always for integers and bools; the norm-wise bound for the others. A tensor that the
/// recording knows by its hash only is compared where `same_machine`. Names that the recording lacks are passed over.
class RecordingComparison {
 public:
  struct Checks {
    lockstep::Check& bits;
    lockstep::Check& norm_wise;
    lockstep::Check& tokens;
  };
  RecordingComparison(const Recording& recording, bool same_machine, const Checks& checks)
      : recording_(recording), same_machine_(same_machine), checks_(checks) {}

  void operator()(std::string_view name, const lockstep::Tensor& computed);
  /// Tokens, int64 [B, n], each the arg max of its place in `logits`, [B, n, V]. Bits as well, but on another machine
  /// near ties may fall the other way: there a difference only informs, and says how near the tie is.
  /// Returns how many leading columns agree with the recording; n if it has no values.
  std::int64_t tokens(std::string_view name, const lockstep::Tensor& computed, const lockstep::Tensor& logits);
  /// Of a tensor [B, n, …], the first `columns` only, unless `same_machine`.
  void leading(std::string_view name, const lockstep::Tensor& computed, std::int64_t columns);

  [[nodiscard]] std::size_t compared() const noexcept { return compared_.size(); }
  /// In the order of their names.
  [[nodiscard]] std::vector<std::string> not_compared() const;

 private:
  void compare_values(const std::string& name, const lockstep::Tensor& expected, const lockstep::Tensor& actual);
  void compare_with_hash(const std::string& name, const RecordedTensor& entry, const lockstep::Tensor& computed);

  const Recording& recording_;
  bool same_machine_;
  Checks checks_;
  std::set<std::string, std::less<>> compared_;
};

}  // namespace gemma4
