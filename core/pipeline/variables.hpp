#pragma once

#include <map>
#include <set>
#include <string>

#include "pipeline/findings.hpp"
#include "pipeline/matrix.hpp"
#include "pipeline/node.hpp"

namespace lockstep {

/// Replaces `${x}` in texts by the values of variables, `${matrix.x}` by the row's value of axis x.
///
/// A text that is exactly `${x}` becomes x's value with its type and location; inside a longer text only scalars may
/// stand; `$$` is a dollar. Variables may use others. What is wrong (unknown variable, cycle, …) is reported once, and
/// the value becomes `reported()`.
class Variables {
 public:
  /// `vars` is the merged [vars] table, `row` the values of a row, null without a matrix. Resolves all variables.
  Variables(const Node::Table& vars, const MatrixValues* row, Findings& findings);

  [[nodiscard]] Node resolve(const Node& node);
  /// The same for the id of a step, in which only `${matrix.x}` is replaced: it must be known before variables are.
  [[nodiscard]] Node resolve_id(const Node& node);

  /// Names that some text used; "matrix.x" for an axis.
  [[nodiscard]] const std::set<std::string>& used() const noexcept { return used_; }

 private:
  [[nodiscard]] Node resolve(const Node& node, std::size_t depth);
  [[nodiscard]] Node resolve_text(const Node& node, const std::string& text, std::size_t depth);
  /// Null if there is no usable value; what is wrong has been reported.
  [[nodiscard]] const Node* lookup(const std::string& name, const Node& user, std::size_t depth);
  [[nodiscard]] const Node* lookup_axis(const std::string& axis, const Node& user);
  void report_cycle(const std::string& name);
  bool spend(const Node& node, std::size_t amount);

  const Node::Table& vars_;
  const MatrixValues* row_;
  Findings& findings_;
  std::map<std::string, Node> resolved_;
  std::vector<std::string> open_;  // being resolved, outermost first
  std::set<std::string> used_;
  std::size_t spent_ = 0;
  bool exhausted_ = false;
};

/// The `required` names of a merged [vars] table that nothing sets.
void check_required_variables(const Node::Table& vars, Findings& findings);

}  // namespace lockstep
