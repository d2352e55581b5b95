#include "pipeline/form.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lockstep/diagnostic.hpp>
#include "pipeline/matrix.hpp"
#include "pipeline/render_diagnostic.hpp"

namespace lockstep {
namespace {

using Names = std::vector<std::string>;

const Names step_keys{"id", "uses", "with", "inputs", "checks", "plugin", "skip", "isolation", "time_limit"};
const Names overlay_step_keys{"uses", "with", "inputs", "checks", "plugin", "skip", "isolation", "time_limit"};
const Names environment_keys{"threads", "seed", "kernels"};
const Names pipeline_keys{"schema", "name", "description", "vars", "environment", "matrix", "step"};
const Names overlay_keys{"schema", "vars", "environment", "matrix", "step"};

bool contains(const Names& names, std::string_view name) { return std::ranges::find(names, name) != names.end(); }

/// Takes out a member that must be a table and is not; says so. True if it is there and fit.
bool require_table(Node::Table& parent, const std::string& name, std::string_view what, Findings& findings) {
  const auto found = parent.find(name);
  if (found == parent.end()) return false;
  if (found->second.value.table() != nullptr) return true;
  const auto& value = found->second.value;
  findings.error("P008", value, fmt::format("{} is {}, expected a table", what, kind_text(value)));
  parent.erase(found);
  return false;
}

/// Reports and takes out the keys that are not in `known`.
void drop_unknown_keys(Node::Table& table, const Names& known, std::string_view where, Findings& findings) {
  for (auto entry = table.begin(); entry != table.end();) {
    if (contains(known, entry->first)) {
      ++entry;
      continue;
    }
    auto& error =
        findings.error("P007", entry->second.key, fmt::format("unknown key {} in {}", in_quotes(entry->first), where));
    error.did_you_mean = did_you_mean(entry->first, known);
    error.help = fmt::format("keys here: {}", fmt::join(known, ", "));
    entry = table.erase(entry);
  }
}

bool check_schema(Node::Table& document, bool required, const Node& whole, Findings& findings) {
  const auto found = document.find("schema");
  if (found == document.end()) {
    if (required) {
      findings
          .error("P006", Location{whole.location.source, 1, 1, 1}, "the pipeline does not say which schema it follows")
          .help = "write schema = 1 as the first line";
    }
    return true;
  }
  const auto& value = found->second.value;
  const auto* version = std::get_if<std::int64_t>(&value.data);
  if (version != nullptr && *version == 1) return true;
  const auto shown = scalar_text(value);
  findings
      .error("P006", value,
             fmt::format("schema is {}, expected 1",
                         value.text() != nullptr ? in_quotes(*shown) : shown.value_or(kind_text(value))))
      .help = "this version of Lockstep reads schema 1";
  return false;
}

void check_text(Node::Table& document, const std::string& name, Findings& findings) {
  const auto found = document.find(name);
  if (found == document.end() || found->second.value.text() != nullptr) return;
  const auto& value = found->second.value;
  findings.error("P008", value, fmt::format("{} is {}, expected text", in_quotes(name), kind_text(value)));
  document.erase(found);
}

void check_required(Node& required, Findings& findings) {
  auto* names = std::get_if<Node::List>(&required.data);
  if (names == nullptr) {
    findings
        .error("P027", required,
               fmt::format("'required' in [vars] is {}, expected a list of variable names", kind_text(required)))
        .help = "'required' is reserved: it lists the variables that have no default";
    required.data = Node::List{};
    return;
  }
  std::erase_if(*names, [&](const Node& name) {
    if (name.text() != nullptr && is_identifier(*name.text())) return false;
    const auto shown = scalar_text(name);
    findings.error(
        "P027", name,
        fmt::format("{} in 'required' is not the name of a variable", shown ? in_quotes(*shown) : kind_text(name)));
    return true;
  });
}

void check_vars(Node::Table& document, Findings& findings) {
  if (!require_table(document, "vars", "[vars]", findings)) return;
  auto& vars = *document.find("vars")->second.value.table();
  for (auto entry = vars.begin(); entry != vars.end();) {
    if (entry->first == "required") check_required(entry->second.value, findings);
    if (is_identifier(entry->first)) {
      ++entry;
      continue;
    }
    findings.error("P027", entry->second.key, fmt::format("{} is not the name of a variable", in_quotes(entry->first)))
        .help = "a name is a letter or '_', then letters, digits, '_' and '-'";
    entry = vars.erase(entry);
  }
}

void check_environment(Node::Table& document, Findings& findings) {
  if (!require_table(document, "environment", "[environment]", findings)) return;
  drop_unknown_keys(*document.find("environment")->second.value.table(), environment_keys, "[environment]", findings);
}

/// The bytes of the source under a location: "[step.runtime.with]".
std::string_view spelling(const Location& location) {
  if (!location.source || location.line == 0) return {};
  std::string_view text = location.source->text;
  for (std::size_t line = 1; line < location.line; ++line)
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return text.substr(std::min(location.column - 1, text.size()), location.length);
}

/// `[step.runtime.with]` behind a [[step]]: TOML reads it as key `runtime` of that step.
bool is_misplaced_table(const std::string& key, const Node& value, const std::set<std::string>& ids) {
  const auto* table = value.table();
  if (table == nullptr || !spelling(value.location).starts_with('[')) return false;
  return ids.contains(key) ||
         std::ranges::any_of(*table, [](const auto& member) { return contains(step_keys, member.first); });
}

void drop_misplaced_tables(Node& step, const std::string& where, const std::set<std::string>& ids, Findings& findings) {
  auto& table = *step.table();
  for (auto entry = table.begin(); entry != table.end();) {
    const auto& [key, member] = *entry;
    if (contains(step_keys, key) || findings.full() || !is_misplaced_table(key, member.value, ids)) {
      ++entry;
      continue;
    }
    auto& error = findings.error("P013", member.value.location,
                                 fmt::format("TOML reads {} here as key {} of {}",
                                             in_quotes(spelling(member.value.location)), in_quotes(key), where));
    error.notes.push_back({"the [[step]] that it falls into", step.location});
    error.help =
        "write [step.with] right after the [[step]] that it belongs to, or with = { … } inside it; [step.<id>] is for "
        "overlays";
    entry = table.erase(entry);
  }
}

std::string step_text(const Node& step) {
  const auto* id = step.find("id");
  return id != nullptr && id->value.text() != nullptr ? "step " + in_quotes(*id->value.text()) : "this step";
}

void check_step_list(Node::Table& document, Findings& findings) {
  const auto found = document.find("step");
  if (found == document.end()) return;
  auto& value = found->second.value;
  auto* steps = std::get_if<Node::List>(&value.data);
  if (steps == nullptr) {
    findings.error("P008", value, fmt::format("'step' is {}, expected [[step]]", kind_text(value))).help =
        "each step of a pipeline starts with [[step]] and has an 'id'; [step.<id>] is for overlays";
    value.data = std::monostate{};
    return;
  }
  std::set<std::string> ids;
  for (const auto& step : *steps) {
    if (const auto* id = step.find("id"); id != nullptr && id->value.text() != nullptr) ids.insert(*id->value.text());
  }
  std::erase_if(*steps, [&](Node& step) {
    if (step.table() == nullptr) {
      findings.error("P008", step, fmt::format("a step is {}, expected a table", kind_text(step))).help =
          "write each step as [[step]]";
      return true;
    }
    const auto where = step_text(step);
    drop_misplaced_tables(step, where, ids, findings);
    drop_unknown_keys(*step.table(), step_keys, where, findings);
    return false;
  });
}

void check_step_table(Node::Table& document, Findings& findings) {
  const auto found = document.find("step");
  if (found == document.end()) return;
  auto& value = found->second.value;
  if (value.list() != nullptr) {
    const auto& place = value.list()->empty() ? value : value.list()->front();
    findings.error("P029", place, "an overlay cannot add a [[step]]").help =
        "an overlay changes steps of the pipeline: [step.<id>], with the step's id";
    document.erase(found);
    return;
  }
  if (!require_table(document, "step", "'step'", findings)) return;
  auto& steps = *found->second.value.table();
  for (auto entry = steps.begin(); entry != steps.end();) {
    auto& [id, member] = *entry;
    const auto where = fmt::format("[step.{}]", id);
    auto* step = member.value.table();
    if (step == nullptr) {
      findings.error("P008", member.value,
                     fmt::format("{} is {}, expected a table", in_quotes("step." + id), kind_text(member.value)));
      entry = steps.erase(entry);
      continue;
    }
    if (const auto new_id = step->find("id"); new_id != step->end()) {
      findings
          .error("P031", new_id->second.key, fmt::format("an overlay cannot change the id of step {}", in_quotes(id)))
          .help = "other steps refer to it; every other key may be changed";
      step->erase(new_id);
    }
    drop_unknown_keys(*step, overlay_step_keys, in_quotes(where), findings);
    ++entry;
  }
}

}  // namespace

bool check_pipeline_form(Node& document, Findings& findings) {
  auto& table = *document.table();
  if (!check_schema(table, true, document, findings)) return false;
  drop_unknown_keys(table, pipeline_keys, "the pipeline", findings);
  check_text(table, "name", findings);
  check_text(table, "description", findings);
  check_vars(table, findings);
  check_environment(table, findings);
  check_matrix_form(table, findings);
  check_step_list(table, findings);
  return true;
}

bool check_overlay_form(Node& document, Findings& findings) {
  auto& table = *document.table();
  if (!check_schema(table, false, document, findings)) return false;
  drop_unknown_keys(table, overlay_keys, "an overlay", findings);
  check_vars(table, findings);
  check_environment(table, findings);
  check_matrix_form(table, findings);
  check_step_table(table, findings);
  return true;
}

}  // namespace lockstep
