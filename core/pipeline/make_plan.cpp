#include <algorithm>
#include <optional>
#include <set>
#include <thread>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>
#include <lockstep/safetensors.hpp>
#include "pipeline/bind_steps.hpp"
#include "pipeline/exit_code.hpp"
#include "pipeline/form.hpp"
#include "pipeline/matrix.hpp"
#include "pipeline/overlay.hpp"
#include "pipeline/plan.hpp"
#include "pipeline/render_diagnostic.hpp"
#include "pipeline/row_findings.hpp"
#include "pipeline/source_file.hpp"
#include "pipeline/step_ids.hpp"
#include "pipeline/toml_document.hpp"
#include "pipeline/variables.hpp"

namespace lockstep {
namespace {

/// The merged pipeline before substitution, and what the pipeline file itself declares.
struct Merged {
  Node document;
  std::set<std::string> declared;       ///< variables
  std::set<std::string> declared_axes;  ///< of the matrix
  std::vector<std::string> axes;        ///< of all files: those of the pipeline first
};

const Node::Table& table_or_empty(const Node& document, std::string_view name) {
  static const Node::Table empty;
  const auto* member = document.find(name);
  return member != nullptr && member->value.table() != nullptr ? *member->value.table() : empty;
}

/// Reads, checks and merges all files and arguments. None if they cannot be looked at together.
std::optional<Merged> read_and_merge(const PipelineRequest& request, Plan& plan, Findings& findings) {
  const auto file = read_source(request.file, findings);
  if (file.usable) plan.sha256 = sha256(file.source->text);
  auto document = parse_document(file, findings);
  bool understood = document && check_pipeline_form(*document, findings);

  std::vector<Node> overlays;
  for (const auto& config : request.configs) {
    const auto source = read_source(config, findings);
    plan.config_sha256.push_back(source.usable ? sha256(source.source->text) : "");
    auto overlay = parse_document(source, findings);
    if (overlay && check_overlay_form(*overlay, findings))
      overlays.push_back(std::move(*overlay));
    else
      understood = false;
  }
  auto sets = overlay_of_sets(request.sets, findings);
  (void)check_overlay_form(sets, findings);
  overlays.push_back(std::move(sets));
  if (!document) return std::nullopt;

  if (const auto* name = document->find("name"); name != nullptr && name->value.text() != nullptr)
    plan.name = *name->value.text();
  if (!understood) return std::nullopt;
  Merged result;
  for (const auto& [name, member] : table_or_empty(*document, "vars")) result.declared.insert(name);
  result.axes = axes_in_order(*document);
  result.declared_axes = {result.axes.begin(), result.axes.end()};
  for (const auto& overlay : overlays) {
    for (auto& axis : axes_in_order(overlay)) {
      if (std::ranges::find(result.axes, axis) == result.axes.end()) result.axes.push_back(std::move(axis));
    }
    merge_overlay(*document, overlay, findings);
  }
  result.document = std::move(*document);
  return result;
}

/// The document with variables replaced; in ids those of the matrix only.
Node substituted(const Node& merged, Variables& variables) {
  Node document = merged;
  for (auto& [key, member] : *document.table()) {
    auto* steps = std::get_if<Node::List>(&member.value.data);
    if (key == "vars" || key == "matrix") continue;
    if (key != "step" || steps == nullptr) {
      member.value = variables.resolve(member.value);
      continue;
    }
    for (auto& step : *steps) {
      for (auto& [name, entry] : *step.table()) {
        entry.value = name == "id" ? variables.resolve_id(entry.value) : variables.resolve(entry.value);
      }
    }
  }
  return document;
}

/// A variable that only an overlay or `--set` names and nothing uses is a mistyped one.
void check_stray_variables(const Node::Table& vars, std::set<std::string> declared, const Variables& variables,
                           Findings& findings) {
  if (const auto required = vars.find("required"); required != vars.end() && required->second.value.list() != nullptr) {
    for (const auto& name : *required->second.value.list()) declared.insert(*name.text());
  }
  declared.erase("required");
  for (const auto& [name, member] : vars) {
    if (name == "required" || declared.contains(name) || variables.used().contains(name)) continue;
    auto& error = findings.error("P022", member.key, fmt::format("the pipeline has no variable {}", in_quotes(name)));
    if (!findings.full()) error.did_you_mean = did_you_mean(name, {declared.begin(), declared.end()});
  }
}

/// The same of an axis.
void check_stray_axes(const Merged& merged, const Variables& variables, Findings& findings) {
  const auto* matrix = merged.document.find("matrix");
  for (const auto& axis : merged.axes) {
    if (merged.declared_axes.contains(axis) || variables.used().contains("matrix." + axis)) continue;
    auto& error = findings.error("P071", matrix->value.find(axis)->key,
                                 fmt::format("the pipeline has no axis {}, and nothing uses it", in_quotes(axis)));
    if (!findings.full())
      error.did_you_mean = did_you_mean(axis, {merged.declared_axes.begin(), merged.declared_axes.end()});
  }
}

PlannedEnvironment read_environment(const Node& document, Findings& findings) {
  PlannedEnvironment result;
  result.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const auto& environment = table_or_empty(document, "environment");
  constexpr std::int64_t most_threads = 4096;
  if (const auto found = environment.find("threads"); found != environment.end() && !found->second.value.reported()) {
    const auto& node = found->second.value;
    const auto* count = std::get_if<std::int64_t>(&node.data);
    if (node.text() != nullptr && *node.text() == "auto") {
      result.threads.reset();
    } else if (count == nullptr) {
      findings.error("P008", node,
                     fmt::format("'threads' is {}, expected an integer or \"auto\"",
                                 node.text() != nullptr ? in_quotes(*node.text()) : kind_text(node)));
    } else if (*count < 1 || *count > most_threads) {
      findings.error("P017", node, fmt::format("'threads' is {}, expected 1 to {} or \"auto\"", *count, most_threads));
    } else {
      result.threads = static_cast<int>(*count);
    }
  }
  if (const auto found = environment.find("seed"); found != environment.end() && !found->second.value.reported()) {
    const auto& node = found->second.value;
    const auto* seed = std::get_if<std::int64_t>(&node.data);
    if (seed == nullptr)
      findings.error("P008", node, fmt::format("'seed' is {}, expected an integer", kind_text(node)));
    else if (*seed < 0)
      findings.error("P017", node, fmt::format("'seed' is {}, expected at least 0", *seed));
    else
      result.seed = static_cast<std::uint64_t>(*seed);
  }
  if (const auto found = environment.find("kernels"); found != environment.end() && !found->second.value.reported()) {
    const auto& node = found->second.value;
    const auto* kernels = node.text();
    if (kernels != nullptr && (*kernels == "auto" || *kernels == "torch")) {
      result.kernels = *kernels;
    } else {
      findings.error("P008", node,
                     fmt::format("'kernels' is {}, expected \"auto\" or \"torch\"",
                                 kernels != nullptr ? in_quotes(*kernels) : kind_text(node)));
    }
  }
  return result;
}

/// Plans one row, or a pipeline without a matrix; `plan` holds what the rows have in common.
void plan_row(const Merged& merged, const Matrix::Row* row, const PipelineRequest& request, StepCatalog& catalog,
              Plan& plan, Findings& findings) {
  const auto& vars = table_or_empty(merged.document, "vars");
  Variables variables(vars, row != nullptr ? &row->values : nullptr, findings);
  const Node document = substituted(merged.document, variables);
  check_stray_variables(vars, merged.declared, variables, findings);
  check_stray_axes(merged, variables, findings);
  if (const auto* name = document.find("name"); name != nullptr && name->value.text() != nullptr)
    plan.name = *name->value.text();
  if (const auto* text = document.find("description"); text != nullptr && text->value.text() != nullptr)
    plan.description = *text->value.text();
  plan.environment = read_environment(document, findings);
  if (row != nullptr)
    plan.row = row->row;
  else
    plan.common_name = plan.name;
  bind_steps(document, request, catalog, plan, findings);
}

void check_skips(const PipelineRequest& request, const std::vector<std::string>& ids, Findings& findings) {
  if (ids.empty()) return;
  for (const auto& id : request.skips) {
    if (std::ranges::find(ids, id) != ids.end()) continue;
    const auto argument = argument_source("--skip", id, findings);
    findings
        .error("P034", Location{argument.source, 1, 1, std::max<std::size_t>(id.size(), 1)},
               fmt::format("the pipeline has no step {}", in_quotes(id)))
        .did_you_mean = did_you_mean(id, ids);
  }
}

/// The name with its variables replaced, but with `${matrix.x}` as it is written.
std::string common_name(const Merged& merged, const Matrix& matrix, const std::string& file_name) {
  const auto* name = merged.document.find("name");
  if (name == nullptr) return file_name;
  MatrixValues as_written;
  for (const auto& axis : matrix.axes) as_written[axis].data = fmt::format("${{matrix.{}}}", axis);
  Findings told_by_rows;
  Variables variables(table_or_empty(merged.document, "vars"), &as_written, told_by_rows);
  const auto resolved = variables.resolve(name->value);
  return resolved.text() == nullptr ? file_name : *resolved.text();
}

void plan_rows(const Merged& merged, const PipelineRequest& request, StepCatalog& catalog, const PlanVisitor& visit,
               PlanResult& result, Findings& findings) {
  /// False for a row without any of the steps that were asked for.
  const auto plan_and_visit = [&](const Matrix::Row* row, Plan& plan, Findings& found) {
    plan_row(merged, row, request, catalog, plan, found);
    if (row != nullptr && !has_selected_step(plan, request)) return false;
    std::vector<Diagnostic> more;
    if (visit) visit(plan, more);
    for (auto& diagnostic : more) found.add({std::move(diagnostic)});
    return true;
  };
  const auto* member = merged.document.find("matrix");
  if (member == nullptr) {
    (void)select_rows(nullptr, request, findings);
    plan_and_visit(nullptr, result.plan, findings);
    result.step_ids = step_ids(merged.document, nullptr);
    check_skips(request, result.step_ids, findings);
    return;
  }
  const auto matrix = expand_matrix(*member, merged.axes, findings);
  const auto selected = select_rows(&matrix, request, findings);
  if (!matrix.broken) {
    for (const auto& row : matrix.rows) result.plan.all_rows.push_back(row.row.name);
    result.plan.common_name = common_name(merged, matrix, result.plan.name);
    result.step_ids = step_ids(merged.document, &matrix);
    check_skips(request, result.step_ids, findings);
  }
  RowFindings found_in_rows(selected.size());
  const auto common = result.plan;
  bool has_plan = false;
  for (std::size_t i = 0; i < selected.size(); ++i) {
    const auto& row = matrix.rows[selected[i]];
    if (selected.size() == 1) {
      if (plan_and_visit(&row, result.plan, findings) && !matrix.broken) result.rows.push_back(row.row);
      return;
    }
    auto plan = common;
    Findings found;
    const bool has_steps = plan_and_visit(&row, plan, found);
    found_in_rows.add(row, found.take());
    if (has_steps && !matrix.broken) result.rows.push_back(row.row);
    if (i == 0 || (has_steps && !has_plan)) result.plan = std::move(plan);
    has_plan = has_plan || has_steps;
    if (found_in_rows.full()) break;
  }
  found_in_rows.move_to(findings);
}

std::vector<std::string> override_texts(const PipelineRequest& request) {
  std::vector<std::string> result;
  for (const auto& config : request.configs) result.push_back("--config " + config.string());
  for (const auto& set : request.sets) result.push_back("--set " + set);
  return result;
}

std::vector<std::string> selection_texts(const PipelineRequest& request) {
  std::vector<std::string> result;
  for (const auto& id : request.only) result.push_back("--only " + id);
  if (request.from) result.push_back("--from " + *request.from);
  if (request.to) result.push_back("--to " + *request.to);
  for (const auto& id : request.skips) result.push_back("--skip " + id);
  return result;
}

}  // namespace

bool PlanResult::ok() const noexcept {
  return std::ranges::none_of(diagnostics, [](const Diagnostic& each) { return each.severity == Severity::error; });
}

int PlanResult::exit_code() const noexcept {
  const auto errors = std::ranges::count(diagnostics, Severity::error, &Diagnostic::severity);
  if (errors == 0) return exit_code::passed;
  return static_cast<std::size_t>(errors) > unloadable ? exit_code::invalid : exit_code::not_loadable;
}

PlanResult make_plan(const PipelineRequest& request, StepCatalog& catalog, const PlanVisitor& visit) {
  PlanResult result;
  Findings findings;
  auto& plan = result.plan;
  plan.file = request.file.string();
  plan.name = request.file.stem().string();
  plan.overrides = override_texts(request);
  plan.selection = selection_texts(request);
  plan.run_id = request.run_id;
  if (const auto merged = read_and_merge(request, plan, findings)) {
    check_required_variables(table_or_empty(merged->document, "vars"), findings);
    plan_rows(*merged, request, catalog, visit, result, findings);
  }
  result.unloadable = findings.unloadable_count();
  result.diagnostics = findings.take_sorted();
  return result;
}

}  // namespace lockstep
