#include "pipeline/overlay.hpp"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>
#include "pipeline/render_diagnostic.hpp"
#include "pipeline/source_file.hpp"
#include "pipeline/toml_document.hpp"

namespace lockstep {
namespace {

/// The path of an assignment from the root of an overlay; empty if there is no such place, which is reported.
std::vector<std::string> overlay_path(const Assignment& assignment, Findings& findings) {
  const auto& path = assignment.path;
  if (path.size() == 1) return {"vars", path.front()};
  const std::vector<std::string> roots{"vars", "environment", "matrix", "step"};
  if (std::ranges::find(roots, path.front()) == roots.end()) {
    auto& error = findings.error("P033", assignment.key,
                                 fmt::format("'--set' cannot set anything in {}", in_quotes(path.front())));
    error.did_you_mean = did_you_mean(path.front(), roots);
    error.help = "KEY is a variable, or vars.NAME, environment.NAME, matrix.AXIS, step.ID.KEY…";
    return {};
  }
  if (path.front() == "step" && path.size() < 3) {
    findings.error("P033", assignment.key, fmt::format("'--set' needs a key of step {}", in_quotes(path[1]))).help =
        fmt::format("for example step.{}.with.NAME=VALUE", path[1]);
    return {};
  }
  return path;
}

void insert(Node& root, const std::vector<std::string>& path, const Assignment& assignment) {
  Node* place = &root;
  for (const auto& part : path) {
    if (place->table() == nullptr) {
      place->data = Node::Table{};
      place->location = assignment.key;
    }
    auto& member = (*place->table())[part];
    member.key = assignment.key;
    place = &member.value;
  }
  *place = assignment.value;
}

void merge(Node& base, const Node& overlay) {
  if (base.table() == nullptr || overlay.table() == nullptr) {
    base = overlay;
    return;
  }
  for (const auto& [key, member] : *overlay.table()) {
    const auto [entry, is_new] = base.table()->try_emplace(key, member);
    if (is_new) continue;
    entry->second.key = member.key;
    merge(entry->second.value, member.value);
  }
}

void merge_vars(Node& pipeline, const Node& overlay) {
  const auto* added = overlay.find("vars");
  if (added == nullptr) return;
  auto& vars = (*pipeline.table())["vars"].value;
  if (vars.table() == nullptr) vars.data = Node::Table{};
  Node::List required;
  for (const auto* source : {vars.find("required"), added->value.find("required")}) {
    if (source == nullptr || source->value.list() == nullptr) continue;
    required.insert(required.end(), source->value.list()->begin(), source->value.list()->end());
  }
  merge(vars, added->value);
  if (!required.empty()) (*vars.table())["required"].value.data = std::move(required);
}

void merge_step(Node& step, const Node& overlay) {
  auto& table = *step.table();
  const bool other_step = overlay.find("uses") != nullptr;
  const bool other_file = overlay.find("plugin") != nullptr;
  if (other_step || other_file) {
    for (const auto* key : {"with", "checks", "inputs"}) table.erase(key);
    if (!other_file) table.erase("plugin");
  }
  merge(step, overlay);
}

void merge_steps(Node& pipeline, const Node& overlay, Findings& findings) {
  const auto* changes = overlay.find("step");
  if (changes == nullptr || changes->value.table() == nullptr) return;
  std::unordered_map<std::string, Node*> steps;
  std::vector<std::string> ids;
  if (const auto found = pipeline.table()->find("step"); found != pipeline.table()->end()) {
    if (found->second.value.reported()) return;  // the pipeline's steps cannot be read
    for (auto& step : *std::get_if<Node::List>(&found->second.value.data)) {
      const auto* id = step.find("id");
      if (id == nullptr || id->value.text() == nullptr) continue;
      if (steps.emplace(*id->value.text(), &step).second) ids.push_back(*id->value.text());
    }
  }
  for (const auto& [id, member] : *changes->value.table()) {
    if (const auto step = steps.find(id); step != steps.end()) {
      merge_step(*step->second, member.value);
      continue;
    }
    auto& error = findings.error("P030", member.key, fmt::format("the pipeline has no step {}", in_quotes(id)));
    if (!findings.full()) error.did_you_mean = did_you_mean(id, ids);
  }
}

}  // namespace

Node overlay_of_sets(const std::vector<std::string>& sets, Findings& findings) {
  Node result;
  result.data = Node::Table{};
  for (const auto& argument : sets) {
    const auto source = argument_source("--set", argument, findings);
    const auto assignment = parse_assignment(source, findings);
    if (!assignment) continue;
    if (const auto path = overlay_path(*assignment, findings); !path.empty()) insert(result, path, *assignment);
  }
  return result;
}

void merge_overlay(Node& pipeline, const Node& overlay, Findings& findings) {
  merge_vars(pipeline, overlay);
  if (const auto* environment = overlay.find("environment")) {
    merge((*pipeline.table())["environment"].value, environment->value);
  }
  if (const auto* matrix = overlay.find("matrix")) {
    auto& member = (*pipeline.table())["matrix"];
    if (!member.key.source) member.key = matrix->key;
    merge(member.value, matrix->value);
  }
  merge_steps(pipeline, overlay, findings);
}

}  // namespace lockstep
