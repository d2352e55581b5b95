#include "pipeline/matrix.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lockstep/diagnostic.hpp>
#include <lockstep/safetensors.hpp>
#include "pipeline/render_diagnostic.hpp"

namespace lockstep {
namespace {

constexpr std::size_t most_rows = 10'000;
constexpr std::size_t longest_name = 160;  // a file's name has 255 bytes, and more than the row in it

/// Names of the members of a table by the place of their keys: TOML tables have an order to readers of the file only.
std::vector<std::string> names_in_order(const Node& table) {
  std::vector<std::tuple<std::size_t, std::size_t, std::string>> keys;
  for (const auto& [name, member] : *table.table()) keys.emplace_back(member.key.line, member.key.column, name);
  std::ranges::sort(keys);
  std::vector<std::string> names;
  names.reserve(keys.size());
  for (auto& [line, column, name] : keys) names.push_back(std::move(name));
  return names;
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || byte >= 0x80 ||
                       std::string_view("_.+-").find(c) != std::string_view::npos;
    if (plain)
      result += c;
    else
      result += fmt::format("%{:02X}", byte);
  }
  return result;
}

Value value_of(const Node& node) {
  return std::visit(
      [](const auto& data) -> Value {
        using T = std::decay_t<decltype(data)>;
        if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::int64_t> || std::is_same_v<T, double> ||
                      std::is_same_v<T, std::string>)
          return data;
        else
          return {};
      },
      node.data);
}

/// Builds the rows of one matrix.
class Expansion {
 public:
  Expansion(const Node::Member& matrix, std::vector<std::string> axes, Findings& findings)
      : matrix_(matrix), findings_(findings), reported_before_(findings.count()) {
    result_.axes = std::move(axes);
  }

  Matrix expand() {
    if (matrix_.value.table() == nullptr) return broken();
    if (result_.axes.empty()) take_axes_of_include();
    for (const auto& name : result_.axes) {
      const auto* axis = matrix_.value.find(name);
      values_.push_back(axis == nullptr ? Node::List{} : values_of(axis->value));
    }
    read_exclude();
    if (!has_error()) add_product();
    read_include();
    if (!has_error() && result_.rows.empty()) {
      findings_.error("P075", matrix_.key, "the matrix has no rows").help =
          "'exclude' takes out every row, or there is neither an axis nor an entry of 'include'";
    }
    return has_error() ? broken() : std::move(result_);
  }

 private:
  [[nodiscard]] bool has_error() const { return findings_.count() > reported_before_ || some_reported_; }

  /// One row whose axes stand for what they could be, so that the rest of the pipeline can be looked at.
  Matrix broken() {
    result_.broken = true;
    result_.rows.clear();
    Matrix::Row row;
    row.location = matrix_.key;
    for (const auto& axis : result_.axes) row.values[axis] = {};
    result_.rows.push_back(std::move(row));
    return std::move(result_);
  }

  Node::List values_of(const Node& axis) {
    if (axis.reported()) some_reported_ = true;
    if (const auto* list = axis.list()) return *list;
    return {axis};
  }

  [[nodiscard]] const Node::List* entries(std::string_view name) {
    const auto* member = matrix_.value.find(name);
    if (member == nullptr) return nullptr;
    if (member->value.reported()) some_reported_ = true;
    return member->value.list();
  }

  /// A matrix may be written row by row: then the first row names the axes.
  void take_axes_of_include() {
    only_include_ = true;
    const auto* include = entries("include");
    if (include != nullptr && !include->empty()) result_.axes = names_in_order(include->front());
  }

  bool check_names(const Node& entry, std::string_view where) {
    bool good = true;
    for (const auto& [name, member] : *entry.table()) {
      if (std::ranges::find(result_.axes, name) != result_.axes.end()) continue;
      auto& error = findings_.error(
          "P071", member.key,
          fmt::format("{} names axis {}, which the matrix does not have", in_quotes(where), in_quotes(name)));
      error.did_you_mean = did_you_mean(name, result_.axes);
      error.help = fmt::format("axes: {}", fmt::join(result_.axes, ", "));
      good = false;
    }
    return good;
  }

  /// Overlays may narrow an axis, so only what is at odds with its own file is a mistake.
  [[nodiscard]] bool written_together(const Node& entry, const std::string& axis) const {
    const auto* member = matrix_.value.find(axis);
    return member == nullptr || member->value.location.source == entry.location.source;
  }

  void read_exclude() {
    const auto* exclude = entries("exclude");
    if (exclude == nullptr || exclude->empty()) return;
    if (only_include_) return report_exclude_alone();
    for (const auto& entry : *exclude) {
      if (!check_names(entry, "exclude")) continue;
      std::vector<std::pair<std::size_t, std::size_t>> pattern;
      bool matches_some = true;
      for (const auto& [name, member] : *entry.table()) {
        const auto axis = static_cast<std::size_t>(std::ranges::find(result_.axes, name) - result_.axes.begin());
        const auto& values = values_[axis];
        const auto text = *scalar_text(member.value);
        const auto value = std::ranges::find_if(values, [&](const Node& each) { return scalar_text(each) == text; });
        if (value != values.end()) {
          pattern.emplace_back(axis, static_cast<std::size_t>(value - values.begin()));
          continue;
        }
        matches_some = false;
        if (some_reported_ || !written_together(entry, name)) continue;
        report_useless(member.value, name, text, values);
      }
      if (matches_some) excluded_.push_back(std::move(pattern));
    }
  }

  void report_exclude_alone() {
    if (some_reported_ || result_.axes.empty()) return;
    const auto& key = matrix_.value.table()->find("exclude")->second.key;
    findings_.error("P074", key, "'exclude' takes out nothing: no axis has a list of values").help =
        "it takes rows out of the product of the axes; leave a row that is not wanted out of 'include'";
  }

  void report_useless(const Node& place, const std::string& axis, const std::string& text, const Node::List& values) {
    std::vector<std::string> texts;
    for (const auto& value : values) texts.push_back(scalar_text(value).value_or(""));
    auto& error = findings_.error(
        "P074", place,
        fmt::format("'exclude' takes out nothing: axis {} has no value {}", in_quotes(axis), in_quotes(text)));
    error.did_you_mean = did_you_mean(text, texts);
    if (texts.size() <= 30) error.help = fmt::format("values of {}: {}", axis, fmt::join(texts, ", "));
  }

  [[nodiscard]] bool is_excluded(const std::vector<std::size_t>& choice) const {
    return std::ranges::any_of(excluded_, [&](const auto& pattern) {
      return std::ranges::all_of(pattern, [&](const auto& term) { return choice[term.first] == term.second; });
    });
  }

  void add_product() {
    if (only_include_) return;
    std::size_t count = 1;
    for (const auto& values : values_) {
      count *= values.size();
      if (count <= most_rows) continue;
      findings_.error("P076", matrix_.key, fmt::format("the axes have more than {} combinations", most_rows)).help =
          "write the rows that you want in 'include', or divide the pipeline";
      return;
    }
    std::vector<std::size_t> choice(values_.size(), 0);
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_excluded(choice)) {
        MatrixValues values;
        for (std::size_t axis = 0; axis < choice.size(); ++axis)
          values[result_.axes[axis]] = values_[axis][choice[axis]];
        add_row(std::move(values), matrix_.key);
      }
      for (auto axis = choice.size(); axis-- > 0;) {  // the last axis is the fastest
        if (++choice[axis] < values_[axis].size()) break;
        choice[axis] = 0;
      }
    }
  }

  void read_include() {
    const auto* include = entries("include");
    if (include == nullptr) return;
    for (const auto& entry : *include) {
      if (!check_names(entry, "include") || !check_complete(entry) || has_error()) continue;
      MatrixValues values;
      for (const auto& [name, member] : *entry.table()) values[name] = member.value;
      const auto name = row_name(result_.axes, values);
      const auto known = places_.find(name);
      if (known == places_.end()) {
        add_row(std::move(values), entry.location);
        continue;
      }
      const bool one_file =
          std::ranges::all_of(result_.axes, [&](const auto& axis) { return written_together(entry, axis); });
      if (!one_file) continue;
      findings_.error("P072", entry, fmt::format("the matrix has the row {} already", in_quotes(name)))
          .notes.push_back({"it comes from here", known->second});
    }
    if (!has_error() && result_.rows.size() > most_rows)
      findings_.error("P076", matrix_.key, fmt::format("the matrix has more than {} rows", most_rows));
  }

  bool check_complete(const Node& entry) {
    std::vector<std::string> missing;
    for (const auto& axis : result_.axes) {
      if (entry.find(axis) == nullptr) missing.push_back(axis);
    }
    if (missing.empty()) return true;
    auto& error = findings_.error("P073", entry,
                                  fmt::format("this row of 'include' has no value for {}",
                                              in_quotes(fmt::format("{}", fmt::join(missing, ", ")))));
    error.help = "a row names every axis; a new axis gets a list of its own in [matrix]";
    return false;
  }

  void add_row(MatrixValues values, const Location& location) {
    Matrix::Row row;
    row.row.name = row_name(result_.axes, values);
    for (const auto& axis : result_.axes) row.row.values.emplace_back(axis, value_of(values.at(axis)));
    row.values = std::move(values);
    row.location = location;
    places_.emplace(row.row.name, location);
    result_.rows.push_back(std::move(row));
  }

  const Node::Member& matrix_;
  Findings& findings_;
  std::size_t reported_before_;
  Matrix result_;
  std::vector<Node::List> values_;                                          // of each axis
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> excluded_;  // axis and value, by index
  std::unordered_map<std::string, Location> places_;                        // of rows, by name
  bool only_include_ = false;
  bool some_reported_ = false;
};

}  // namespace

std::vector<std::string> axes_in_order(const Node& document) {
  const auto* matrix = document.find("matrix");
  if (matrix == nullptr || matrix->value.table() == nullptr) return {};
  auto names = names_in_order(matrix->value);
  std::erase_if(names, [](const std::string& name) { return name == "include" || name == "exclude"; });
  return names;
}

std::string row_name(const std::vector<std::string>& axes, const MatrixValues& values) {
  std::string name;
  for (const auto& axis : axes) {
    if (!name.empty()) name += ',';
    name += escaped(axis) + "=" + escaped(scalar_text(values.at(axis)).value_or(""));
  }
  if (name.size() <= longest_name) return name;
  constexpr std::size_t hash_digits = 12;
  const auto hash = sha256(name).substr(0, hash_digits);
  auto end = longest_name - hash_digits - 1;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) --end;  // whole characters
  if (const auto percent = name.rfind('%', end); percent != std::string::npos && end - percent < 3) end = percent;
  return name.substr(0, end) + "~" + hash;
}

Matrix expand_matrix(const Node::Member& matrix, std::vector<std::string> axes, Findings& findings) {
  return Expansion(matrix, std::move(axes), findings).expand();
}

}  // namespace lockstep
