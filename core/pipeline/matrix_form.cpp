#include <unordered_map>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>
#include "pipeline/matrix.hpp"
#include "pipeline/render_diagnostic.hpp"

namespace lockstep {
namespace {

constexpr std::size_t most_entries = 10'000;  // of include and exclude

void refuse(Node& node) { node.data = std::monostate{}; }

/// Whether a value of the matrix is a scalar that needs no variable; else it is reported.
bool check_value(Node& value, std::string_view axis, Findings& findings) {
  if (value.reported()) return false;
  if (!scalar_text(value)) {
    findings
        .error("P070", value,
               fmt::format("a value of axis {} is {}, expected text, a number or a boolean", in_quotes(axis),
                           kind_text(value)))
        .help = "choose a list or a table by name: a variable holds it, the axis holds the name";
    return false;
  }
  if (value.text() != nullptr && value.text()->find("${") != std::string::npos) {
    findings
        .error(
            "P070", value,
            fmt::format("a value of axis {} uses a variable, but rows are known before variables are", in_quotes(axis)))
        .help = "use both where the value is used: path = \"${folder}/${matrix." + std::string(axis) + "}\"";
    return false;
  }
  return true;
}

/// Whether it is what `--set` takes as text because it is no TOML, and a list was meant: `[float32]`.
bool is_broken_list(const Node& axis) {
  if (axis.text() == nullptr || !axis.text()->starts_with('[') || axis.location.line != 1) return false;
  const auto& written = axis.location.source->text;
  return axis.location.column <= written.size() && written[axis.location.column - 1] == '[';  // else in quotes
}

void check_axis(const std::string& name, Node& axis, Findings& findings) {
  auto* values = std::get_if<Node::List>(&axis.data);
  if (values == nullptr) {
    if (is_broken_list(axis)) {
      findings.error("P070", axis, fmt::format("the values of axis {} are not a list of TOML", in_quotes(name))).help =
          fmt::format("put texts in quotes, and the argument too: --set 'matrix.{}=[\"float32\"]'", name);
      refuse(axis);
    } else if (!check_value(axis, name, findings)) {
      refuse(axis);
    }
    return;
  }
  if (values->empty()) {
    findings.error("P070", axis, fmt::format("axis {} has no values, so the matrix has no rows", in_quotes(name)))
        .help = "give it one value or more, or leave it out";
    refuse(axis);
    return;
  }
  std::unordered_map<std::string, Location> seen;
  bool good = true;
  for (auto& value : *values) {
    if (!check_value(value, name, findings)) {
      good = false;
      continue;
    }
    const auto [first, is_new] = seen.emplace(*scalar_text(value), value.location);
    if (is_new) continue;
    findings
        .error("P072", value, fmt::format("axis {} has the value {} twice", in_quotes(name), in_quotes(first->first)))
        .notes.push_back({"the first one is here", first->second});
    good = false;
  }
  if (!good) refuse(axis);
}

void check_entries(const std::string& name, Node& node, Findings& findings) {
  auto* entries = std::get_if<Node::List>(&node.data);
  if (entries == nullptr) {
    findings.error("P070", node, fmt::format("{} is {}, expected a list of tables", in_quotes(name), kind_text(node)))
        .help = fmt::format("for example {} = [{{ dtype = \"float32\", max_seq = 128 }}]", name);
    refuse(node);
    return;
  }
  if (entries->size() > most_entries) {
    findings.error("P076", node,
                   fmt::format("{} has {} entries, more than {}", in_quotes(name), entries->size(), most_entries));
    refuse(node);
    return;
  }
  bool good = true;
  for (auto& entry : *entries) {
    if (entry.table() == nullptr || entry.table()->empty()) {
      findings.error("P070", entry,
                     fmt::format("an entry of {} is {}, expected a table of axes and values", in_quotes(name),
                                 entry.table() != nullptr ? "empty" : kind_text(entry)));
      good = false;
      continue;
    }
    for (auto& [axis, member] : *entry.table()) good = check_value(member.value, axis, findings) && good;
  }
  if (!good) refuse(node);
}

}  // namespace

void check_matrix_form(Node::Table& document, Findings& findings) {
  const auto found = document.find("matrix");
  if (found == document.end()) return;
  auto& matrix = found->second.value;
  if (matrix.table() == nullptr) {
    findings.error("P008", matrix, fmt::format("[matrix] is {}, expected a table", kind_text(matrix)));
    refuse(matrix);
    return;
  }
  for (auto& [name, member] : *matrix.table()) {
    if (name == "include" || name == "exclude") {
      check_entries(name, member.value, findings);
    } else if (!is_identifier(name)) {
      findings.error("P070", member.key, fmt::format("{} is not the name of an axis", in_quotes(name))).help =
          "a name is a letter or '_', then letters, digits, '_' and '-'";
      refuse(member.value);
    } else {
      check_axis(name, member.value, findings);
    }
  }
}

}  // namespace lockstep
