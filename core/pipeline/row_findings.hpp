#pragma once

#include <map>
#include <string>
#include <vector>

#include "pipeline/findings.hpp"
#include "pipeline/matrix.hpp"

namespace lockstep {

/// What is wrong with the rows of a matrix: the same finding in several rows becomes one, and one that is not in all of
/// them says in which.
class RowFindings {
 public:
  /// `rows`: how many are looked at.
  explicit RowFindings(std::size_t rows) : rows_(rows) {}

  void add(const Matrix::Row& row, std::vector<Findings::Finding> findings);
  /// So much is wrong that further rows need not be looked at.
  [[nodiscard]] bool full() const;
  /// Hands everything over, in the order in which it was first found.
  void move_to(Findings& findings);

 private:
  struct Entry {
    Findings::Finding finding;
    std::vector<std::string> rows;
    Location row_location;  ///< of the first row
  };

  std::size_t rows_;
  std::size_t looked_at_ = 0;
  std::vector<Entry> entries_;
  std::map<std::string, std::size_t> known_;  // indices of entries_, by all that a reader sees of them
};

}  // namespace lockstep
