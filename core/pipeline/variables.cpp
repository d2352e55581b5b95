#include "pipeline/variables.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lockstep/diagnostic.hpp>
#include "pipeline/render_diagnostic.hpp"

namespace lockstep {
namespace {

constexpr std::size_t deepest = 300;        // nested variables and tables together
constexpr std::size_t largest = 4'000'000;  // bytes and values that variables may expand to, in all

/// A literal part of a text, or the name of a variable.
struct Piece {
  std::string text;
  bool variable = false;
};

struct Pieces {
  std::vector<Piece> pieces;
  std::vector<std::string> broken;  ///< references that are none
};

/// Where the reference at the start of `text` ends: behind its brace, or, if that is missing, where the next one
/// begins.
std::size_t end_of_reference(std::string_view text) {
  const auto close = text.find('}');
  auto next = text.find("${", 2);
  while (next != std::string_view::npos && text[next - 1] == '$') next = text.find("${", next + 2);
  return close < next ? close + 1 : std::min(next, text.size());
}

constexpr std::string_view matrix_prefix = "matrix.";

/// "x" of "matrix.x"; "" of another name.
std::string_view axis_of(std::string_view name) {
  return name.starts_with(matrix_prefix) ? name.substr(matrix_prefix.size()) : std::string_view{};
}

Pieces split(std::string_view text) {
  Pieces result;
  std::string literal;
  const auto flush = [&] {
    if (!literal.empty()) result.pieces.push_back({std::move(literal), false});
    literal.clear();
  };
  while (!text.empty()) {
    const auto dollar = text.find('$');
    literal += text.substr(0, dollar);
    if (dollar == std::string_view::npos) break;
    text.remove_prefix(dollar);
    if (text.starts_with("$$")) {
      literal += '$';
      text.remove_prefix(2);
    } else if (text.starts_with("${")) {
      const auto reference = text.substr(0, end_of_reference(text));
      const auto name = reference.ends_with('}') ? reference.substr(2, reference.size() - 3) : std::string_view{};
      if (is_identifier(name) || is_identifier(axis_of(name))) {
        flush();
        result.pieces.push_back({std::string(name), true});
      } else {
        result.broken.emplace_back(reference);
      }
      text.remove_prefix(reference.size());
    } else {
      literal += '$';
      text.remove_prefix(1);
    }
  }
  flush();
  return result;
}

/// Where `part` stands inside the text that was written at `whole`; `whole` itself if that is not to be seen.
Location place_inside(const Location& whole, std::string_view part) {
  if (!whole.source || whole.line == 0) return whole;
  std::string_view text = whole.source->text;
  for (std::size_t line = 1; line < whole.line; ++line) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return whole;
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n')).substr(0, whole.column - 1 + whole.length);
  const auto at = text.find(part.substr(0, part.find('\n')), whole.column - 1);
  if (at == std::string_view::npos) return whole;
  return {whole.source, whole.line, at + 1, std::min(part.size(), text.size() - at)};
}

Location reference_place(const Node& user, const std::string& name) {
  return place_inside(user.location, "${" + name + "}");
}

std::size_t weight(const Node& node) {
  std::size_t result = 1;
  if (const auto* text = node.text()) result += text->size();
  if (const auto* list = node.list()) {
    for (const auto& element : *list) result += weight(element);
  }
  if (const auto* table = node.table()) {
    for (const auto& [key, member] : *table) result += key.size() + weight(member.value);
  }
  return result;
}

Node reported_at(const Node& node) {
  Node result;
  result.location = node.location;
  return result;
}

}  // namespace

Variables::Variables(const Node::Table& vars, const MatrixValues* row, Findings& findings)
    : vars_(vars), row_(row), findings_(findings) {
  for (const auto& [name, member] : vars_) {
    if (name == "required") continue;
    const bool was_used = used_.contains(name);
    (void)lookup(name, member.value, 0);
    if (!was_used) used_.erase(name);
  }
}

Node Variables::resolve(const Node& node) { return resolve(node, 0); }

bool Variables::spend(const Node& node, std::size_t amount) {
  spent_ += amount;
  if (spent_ <= largest) return true;
  if (!std::exchange(exhausted_, true)) {
    findings_.error("P028", node, fmt::format("variables expand to more than {} bytes", largest));
  }
  return false;
}

Node Variables::resolve(const Node& node, std::size_t depth) {
  if (depth > deepest) {
    findings_.error("P028", node, fmt::format("variables are nested more than {} levels deep", deepest));
    return reported_at(node);
  }
  if (const auto* text = node.text()) {
    return text->find('$') == std::string::npos ? node : resolve_text(node, *text, depth);
  }
  Node result = reported_at(node);
  result.used_at = node.used_at;
  result.raw = node.raw;
  result.folder = node.folder;
  if (const auto* list = node.list()) {
    Node::List elements;
    for (const auto& element : *list) elements.push_back(resolve(element, depth + 1));
    result.data = std::move(elements);
  } else if (const auto* table = node.table()) {
    Node::Table members;
    for (const auto& [key, member] : *table)
      members.emplace(key, Node::Member{member.key, resolve(member.value, depth + 1)});
    result.data = std::move(members);
  } else {
    result.data = node.data;
  }
  return result;
}

Node Variables::resolve_text(const Node& node, const std::string& text, std::size_t depth) {
  const auto [pieces, broken] = split(text);
  for (const auto& reference : broken) {
    const bool closed = reference.ends_with('}');
    findings_
        .error("P024", place_inside(node.location, reference),
               closed ? fmt::format("{} is not a reference to a variable", in_quotes(reference)) : "'${' is not closed")
        .help = "write ${name}; a dollar sign itself is $$";
  }
  if (broken.empty() && pieces.size() == 1 && pieces.front().variable) {
    const auto* value = lookup(pieces.front().text, node, depth);
    if (value == nullptr || !spend(node, weight(*value))) return reported_at(node);
    Node result = *value;
    result.used_at = node.location;
    return result;
  }

  Node result = node;
  std::string whole;
  bool good = broken.empty();
  for (const auto& piece : pieces) {
    if (!piece.variable) {
      whole += piece.text;
      continue;
    }
    const auto* value = lookup(piece.text, node, depth);
    if (value == nullptr) {
      good = false;
      continue;
    }
    const auto scalar = scalar_text(*value);
    if (!scalar) {
      auto& error = findings_.error(
          "P025", reference_place(node, piece.text),
          fmt::format("variable {} is {}, which cannot stand inside a text", in_quotes(piece.text), kind_text(*value)));
      error.notes.push_back({"it is set here", value->location});
      error.help = "use it alone, as \"${" + piece.text + "}\"";
      good = false;
      continue;
    }
    if (!spend(node, scalar->size())) return reported_at(node);
    if (whole.empty() && !scalar->empty()) result.folder = value->folder;
    whole += *scalar;
  }
  if (!good) return reported_at(node);
  result.data = std::move(whole);
  return result;
}

Node Variables::resolve_id(const Node& node) {
  const auto* text = node.text();
  if (text == nullptr || text->find("${matrix.") == std::string::npos) return node;
  const auto [pieces, broken] = split(*text);
  if (!broken.empty()) return node;  // no id; said where ids are read
  Node result = node;
  std::string id;
  for (const auto& piece : pieces) {
    if (!piece.variable || axis_of(piece.text).empty()) {
      id += piece.variable ? "${" + piece.text + "}" : piece.text;
      continue;
    }
    const auto* value = lookup(piece.text, node, 0);
    if (value == nullptr) return reported_at(node);
    id += scalar_text(*value).value_or("");
  }
  result.data = std::move(id);
  return result;
}

const Node* Variables::lookup_axis(const std::string& axis, const Node& user) {
  if (row_ != nullptr) {
    if (const auto found = row_->find(axis); found != row_->end())
      return found->second.reported() ? nullptr : &found->second;
  }
  const auto place = reference_place(user, std::string(matrix_prefix) + axis);
  if (row_ == nullptr) {
    findings_.error("P071", place, fmt::format("{} names an axis, but the pipeline has no [matrix]", in_quotes(axis)))
        .help = fmt::format("give it one: [matrix] with {} = [ … ]", axis);
    return nullptr;
  }
  auto& error = findings_.error("P071", place, fmt::format("the matrix has no axis {}", in_quotes(axis)));
  std::vector<std::string> axes;
  for (const auto& entry : *row_) axes.push_back(entry.first);
  error.did_you_mean = did_you_mean(axis, axes);
  error.help = fmt::format("axes: {}", fmt::join(axes, ", "));
  return nullptr;
}

const Node* Variables::lookup(const std::string& name, const Node& user, std::size_t depth) {
  used_.insert(name);
  if (const auto axis = axis_of(name); !axis.empty()) return lookup_axis(std::string(axis), user);
  if (const auto known = resolved_.find(name); known != resolved_.end()) {
    return known->second.reported() ? nullptr : &known->second;
  }
  if (std::ranges::find(open_, name) != open_.end()) {
    report_cycle(name);
    return nullptr;
  }
  const auto found = vars_.find(name);
  if (found == vars_.end() || name == "required") {
    const auto* required = vars_.contains("required") ? vars_.find("required")->second.value.list() : nullptr;
    const auto is_name = [&](const Node& node) { return node.text() != nullptr && *node.text() == name; };
    if (required != nullptr && std::ranges::any_of(*required, is_name)) return nullptr;  // reported as not set
    auto& error =
        findings_.error("P022", reference_place(user, name), fmt::format("unknown variable {}", in_quotes(name)));
    if (findings_.full()) return nullptr;
    std::vector<std::string> names;
    for (const auto& entry : vars_) {
      if (entry.first != "required") names.push_back(entry.first);
    }
    error.did_you_mean = did_you_mean(name, names);
    if (names.empty())
      error.help = "the pipeline has no variables; they are set in [vars]";
    else if (names.size() <= 30)
      error.help = fmt::format("variables: {}", fmt::join(names, ", "));
    return nullptr;
  }
  open_.push_back(name);
  auto value = resolve(found->second.value, depth + 1);
  open_.pop_back();
  const auto& stored = resolved_.insert_or_assign(name, std::move(value)).first->second;
  return stored.reported() ? nullptr : &stored;
}

void Variables::report_cycle(const std::string& name) {
  std::vector<std::string> cycle(std::ranges::find(open_, name), open_.end());
  cycle.push_back(name);
  auto& error = findings_.error("P023", vars_.find(name)->second.value,
                                fmt::format("variables use one another in a circle: {}", fmt::join(cycle, " -> ")));
  for (std::size_t i = 1; i + 1 < cycle.size(); ++i) {
    error.notes.push_back(
        {fmt::format("{} is set here", in_quotes(cycle[i])), vars_.find(cycle[i])->second.value.location});
  }
}

void check_required_variables(const Node::Table& vars, Findings& findings) {
  const auto required = vars.find("required");
  if (required == vars.end() || required->second.value.list() == nullptr) return;
  std::set<std::string> seen;
  for (const auto& name : *required->second.value.list()) {
    if (vars.contains(*name.text()) || !seen.insert(*name.text()).second) continue;
    findings.error("P026", name, fmt::format("variable {} is required and not set", in_quotes(*name.text()))).help =
        fmt::format("set it with --set {}=VALUE or in a file given with --config", *name.text());
  }
}

}  // namespace lockstep
