#pragma once

#include <cstddef>
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
  RecordingComparison(const Recording& recording, bool same_machine, lockstep::Check& bits, lockstep::Check& norm_wise)
      : recording_(recording), same_machine_(same_machine), bits_(bits), norm_wise_(norm_wise) {}

  void operator()(std::string_view name, const lockstep::Tensor& computed);

  [[nodiscard]] std::size_t compared() const noexcept { return compared_.size(); }
  /// In the order of their names.
  [[nodiscard]] std::vector<std::string> not_compared() const;

 private:
  void compare_with_hash(const std::string& name, const RecordedTensor& entry, const lockstep::Tensor& computed);

  const Recording& recording_;
  bool same_machine_;
  lockstep::Check& bits_;
  lockstep::Check& norm_wise_;
  std::set<std::string, std::less<>> compared_;
};

}  // namespace gemma4
