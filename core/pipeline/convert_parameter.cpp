#include "pipeline/convert_parameter.hpp"

#include <algorithm>
#include <compare>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lockstep/diagnostic.hpp>
#include "pipeline/render_diagnostic.hpp"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

std::string_view kind_name(ParamKind kind, bool plural) {
  switch (kind) {
    case ParamKind::boolean:
      return plural ? "booleans" : "a boolean";
    case ParamKind::integer:
      return plural ? "integers" : "an integer";
    case ParamKind::real:
      return plural ? "numbers" : "a number";
    case ParamKind::text:
      return plural ? "texts" : "text";
    case ParamKind::file:
      return plural ? "files" : "the path of a file";
    case ParamKind::folder:
      return plural ? "folders" : "the path of a folder";
  }
  return "";
}

bool is_path(ParamKind kind) { return kind == ParamKind::file || kind == ParamKind::folder; }

/// Integers above 2^53 lose digits as double, so two integers are compared as such.
std::partial_ordering compare(const Value& a, const Value& b) {
  const auto* x = std::get_if<std::int64_t>(&a.data);
  const auto* y = std::get_if<std::int64_t>(&b.data);
  if (x != nullptr && y != nullptr) return *x <=> *y;
  const auto number = [](const Value& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value.data)) return static_cast<double>(*integer);
    return std::get<double>(value.data);
  };
  return number(a) <=> number(b);
}

std::string number_text(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value.data)) return fmt::format("{}", *integer);
  if (const auto* real = std::get_if<double>(&value.data)) return fmt::format("{}", *real);
  return "?";
}

class Converter {
 public:
  Converter(const ParamInfo& info, const std::string& owner, Findings& findings)
      : info_(info), what_(fmt::format("parameter {} of {}", in_quotes(info.name), owner)), findings_(findings) {}

  std::optional<Value> whole(const Node& node) {
    if (node.reported()) return std::nullopt;
    if (!info_.list) return element(node);
    const auto* list = node.list();
    if (list == nullptr) {
      auto& error = wrong_kind(node);
      if (const auto shown = scalar_text(node)) error.help = "a list of one is written [ … ]";
      return std::nullopt;
    }
    Value::Array result;
    bool good = true;
    for (const auto& entry : *list) {
      if (is_path(info_.kind) && entry.text() != nullptr && entry.text()->empty()) continue;  // "not given"
      if (auto value = entry.reported() ? std::nullopt : element(entry))
        result.push_back(std::move(*value));
      else
        good = false;
    }
    return good ? std::optional<Value>(std::move(result)) : std::nullopt;
  }

 private:
  Diagnostic& wrong_kind(const Node& node) {
    const std::string where = info_.list && node.list() == nullptr && is_element_ ? "an entry of " : "";
    return findings_.error("P016", node,
                           fmt::format("{}{} is {}, expected {}", where, what_, kind_text(node),
                                       is_element_ ? std::string(kind_name(info_.kind, false)) : kind_text(info_)));
  }

  std::optional<Value> element(const Node& node) {
    is_element_ = true;
    switch (info_.kind) {
      case ParamKind::boolean:
        if (const auto* value = std::get_if<bool>(&node.data)) return Value(*value);
        break;
      case ParamKind::integer:
        if (const auto* value = std::get_if<std::int64_t>(&node.data)) return in_range(node, Value(*value));
        break;
      case ParamKind::real:
        if (const auto* value = std::get_if<double>(&node.data)) return in_range(node, Value(*value));
        if (const auto* value = std::get_if<std::int64_t>(&node.data))
          return in_range(node, Value(static_cast<double>(*value)));
        break;
      case ParamKind::text:
        if (const auto* value = node.text()) return chosen(node, *value);
        if (node.raw) return chosen(node, *node.raw);
        // A reference is written in quotes; what it stands for may be a number all the same.
        if (const auto text = scalar_text(node); text && node.used_at.source) return chosen(node, *text);
        break;
      case ParamKind::file:
      case ParamKind::folder:
        if (node.text() != nullptr || node.raw) return existing(node);
        break;
    }
    auto& error = wrong_kind(node);
    if (info_.kind == ParamKind::text && scalar_text(node)) error.help = "put it in quotes";
    return std::nullopt;
  }

  std::optional<Value> in_range(const Node& node, Value value) {
    const bool low = info_.min && !std::is_gteq(compare(value, *info_.min));
    const bool high = info_.max && !std::is_lteq(compare(value, *info_.max));
    if (!low && !high) return value;
    findings_.error("P017", node, fmt::format("{} is {}, expected {}", what_, number_text(value), range_text(info_)));
    return std::nullopt;
  }

  std::optional<Value> chosen(const Node& node, const std::string& text) {
    if (info_.choices.empty() || std::ranges::find(info_.choices, text) != info_.choices.end()) return Value(text);
    std::vector<std::string> shown;
    for (const auto& choice : info_.choices) shown.push_back(in_quotes(choice));
    findings_
        .error("P018", node,
               fmt::format("{} is {}, expected one of {}", what_, in_quotes(text), fmt::join(shown, ", ")))
        .did_you_mean = did_you_mean(text, info_.choices);
    return std::nullopt;
  }

  std::optional<Value> existing(const Node& node) {
    const auto path = resolved_path(node);
    const auto problem = path_problem(path, info_.kind);
    if (problem.empty()) return Value(path.string());
    auto& error = findings_.error("P019", node, fmt::format("{}: {} {}", what_, in_quotes(path.string()), problem));
    if (path.is_relative()) {
      error.help = node.folder ? "a relative path starts at the folder of the file that it is written in"
                               : "a relative path on the command line starts at the working directory";
    }
    return std::nullopt;
  }

  const ParamInfo& info_;
  std::string what_;
  Findings& findings_;
  bool is_element_ = false;
};

}  // namespace

fs::path resolved_path(const Node& node) {
  const fs::path path = node.text() != nullptr ? *node.text() : node.raw.value_or("");
  return node.folder ? *node.folder / path : path;  // an absolute path stays as it is
}

bool is_not_given(const Node& node, const ParamInfo& info) {
  return !info.list && is_path(info.kind) && node.text() != nullptr && node.text()->empty();
}

std::optional<Value> convert_parameter(const Node& node, const ParamInfo& info, const std::string& owner,
                                       Findings& findings) {
  return Converter(info, owner, findings).whole(node);
}

std::string path_problem(const fs::path& path, ParamKind kind) {
  if (path.native().find('\0') != std::string::npos) return "does not exist";
  std::error_code failed;
  const auto status = fs::status(path, failed);
  if (status.type() == fs::file_type::not_found) return "does not exist";
  if (status.type() == fs::file_type::none) return fmt::format("cannot be used: {}", failed.message());
  if (kind == ParamKind::folder) return fs::is_directory(status) ? "" : "is a file, expected a folder";
  return fs::is_directory(status) ? "is a folder, expected a file" : "";
}

std::string kind_text(const ParamInfo& info) {
  return info.list ? fmt::format("a list of {}", kind_name(info.kind, true)) : std::string(kind_name(info.kind, false));
}

std::string range_text(const ParamInfo& info) {
  const auto unit = info.unit.empty() ? std::string{} : " " + info.unit;
  if (info.min && info.max) return fmt::format("{} to {}{}", number_text(*info.min), number_text(*info.max), unit);
  if (info.min) return fmt::format("at least {}{}", number_text(*info.min), unit);
  if (info.max) return fmt::format("at most {}{}", number_text(*info.max), unit);
  return {};
}

}  // namespace lockstep
