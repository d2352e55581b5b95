#pragma once

#include <string>
#include <utility>
#include <vector>

#include <lockstep/value.hpp>

namespace lockstep {

/// One row of a pipeline's [matrix].
struct MatrixRow {
  std::string name;  ///< "dtype=bfloat16,max_seq=128": axes in the order of the file; fit for a file's name
  std::vector<std::pair<std::string, Value>> values;  ///< by axis

  friend bool operator==(const MatrixRow&, const MatrixRow&) = default;
};

}  // namespace lockstep
