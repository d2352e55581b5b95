#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "pipeline/findings.hpp"
#include "pipeline/node.hpp"
#include "pipeline/plan.hpp"

namespace lockstep {

/// What the parts of the binder know about the step that they look at.
struct StepSource {
  std::string id;     ///< "" if it has none; that has been reported
  std::string label;  ///< "step 'runtime'", for messages
  std::string uses;
  Location location;  ///< of the id
  const Node* with = nullptr;
  const Node* inputs = nullptr;
  const Node* checks = nullptr;
};

/// Checks `with` against the declared parameters and assigns them. False if something is wrong; that is reported.
[[nodiscard]] bool bind_parameters(const StepSource& source, Step& step, std::vector<PlannedParameter>& planned,
                                   Findings& findings);
/// Calls `Step::validate` and reports what it finds.
void check_rules(const StepSource& source, const Step& step, Findings& findings);
/// Checks `checks` against the declared checks and configures them.
void bind_checks(const StepSource& source, Step& step, Findings& findings);
/// All that can be said about a step whose declarations are unknown: whether its tables are tables.
void check_form_only(const StepSource& source, Findings& findings);

/// The outputs of the steps so far; binds the inputs of the next one.
class Wiring {
 public:
  /// `ids` of all steps of the pipeline, in order; "" for one without.
  explicit Wiring(std::vector<StepSource> sources);

  /// Wires the inputs of step `index`; `step` is null if its declarations are unknown.
  [[nodiscard]] std::vector<PlannedWire> bind(std::size_t index, const Step* step, Findings& findings);
  /// Makes the outputs of step `index` known to later ones. With a null `step` wires to it are accepted unchecked;
  /// `broken` if that is an error and has been reported.
  void add(std::size_t index, const Step* step, bool broken);

 private:
  struct Output {
    std::size_t step;
    const PortInfo* port;
  };
  [[nodiscard]] std::optional<PlannedWire> written(std::size_t reader, const PortInfo* input, const std::string& name,
                                                   const Node::Member& member, Findings& findings) const;
  [[nodiscard]] std::optional<PlannedWire> inferred(std::size_t reader, const PortInfo& input,
                                                    Findings& findings) const;
  void report_unbound(std::size_t reader, const PortInfo& input, Findings& findings) const;
  [[nodiscard]] std::string place(const Output& output) const;

  std::vector<StepSource> sources_;
  std::unordered_map<std::string, std::size_t> indices_;  // of ids; the first of equal ones
  std::unordered_map<std::string, std::vector<Output>> by_name_;
  std::unordered_map<std::string, std::vector<Output>> by_type_;
  std::vector<std::vector<Output>> by_step_;
  std::vector<bool> unknown_;
  bool some_broken_ = false;
};

}  // namespace lockstep
