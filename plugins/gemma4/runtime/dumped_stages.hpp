#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <lockstep/port.hpp>
#include <lockstep/tensor.hpp>

#include "runtime/runtime_dump.hpp"

namespace gemma4 {

/// A dump, and which of its stages must be there.
class DumpedStages {
 public:
  DumpedStages(RuntimeDump dump, std::set<std::string, std::less<>> required);

  /// Throws NotServed that names "<stage>.<output>" if it is not there.
  [[nodiscard]] lockstep::Tensor at(std::string_view stage, std::string_view output) const;
  /// NotServed for another reason: the stage is there, and does not answer this question.
  [[noreturn]] void refuse(std::string_view stage, const std::string& why) const;

  [[nodiscard]] const RuntimeDump& dump() const noexcept { return dump_; }

 private:
  RuntimeDump dump_;
  std::set<std::string, std::less<>> required_;
};

}  // namespace gemma4
