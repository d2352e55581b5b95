#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "pipeline/findings.hpp"
#include "pipeline/node.hpp"
#include "pipeline/plan.hpp"

namespace lockstep {

/// The values of one row, by axis: what `${matrix.axis}` stands for. `reported()` for an axis that is wrong.
using MatrixValues = std::map<std::string, Node, std::less<>>;

/// The rows of a pipeline.
struct Matrix {
  struct Row {
    MatrixRow row;
    MatrixValues values;
    Location location;  ///< of its `include` entry, else of [matrix]
  };
  std::vector<std::string> axes;  ///< in the order of the file
  std::vector<Row> rows;
  bool broken = false;  ///< something is wrong with it and has been reported; there is one row, which stands for all
};

/// The form of [matrix] in a pipeline file or an overlay: axes are lists of scalars, or one scalar; `include` and
/// `exclude` are lists of tables of scalars. What is wrong is reported and made `reported()`.
void check_matrix_form(Node::Table& document, Findings& findings);

/// The axes of one checked file, in its order.
[[nodiscard]] std::vector<std::string> axes_in_order(const Node& document);

/// All rows: the product of the axes, the last one fastest, without what `exclude` takes out; then the rows of
/// `include`. `matrix` is the merged [matrix], `axes` its axes in order.
[[nodiscard]] Matrix expand_matrix(const Node::Member& matrix, std::vector<std::string> axes, Findings& findings);

/// The indices of the rows that `--row` and `--shard` choose, in the order of the matrix; row k of them belongs to
/// shard k mod N + 1, so every machine divides alike. All rows without these options. A null `matrix` has no rows.
[[nodiscard]] std::vector<std::size_t> select_rows(const Matrix* matrix, const PipelineRequest& request,
                                                   Findings& findings);

/// `dtype=bfloat16,max_seq=128`: letters, digits, `_.+-` and what is not ASCII stay, other bytes are %-escaped; a name
/// that would be too long for a file's name ends in a hash of the whole.
[[nodiscard]] std::string row_name(const std::vector<std::string>& axes, const MatrixValues& values);

}  // namespace lockstep
