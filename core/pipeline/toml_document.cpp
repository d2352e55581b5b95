#include "pipeline/toml_document.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "pipeline/nesting.hpp"
#include "pipeline/utf8.hpp"

namespace lockstep {
namespace {

/// Turns toml++'s positions into places of a source: its columns count code points, ours bytes.
class Places {
 public:
  /// The parsed text is the source's from `offset` on, behind `prefix` bytes that are not in the source.
  Places(const SourceFile& file, std::size_t offset = 0, std::size_t prefix = 0)
      : file_(file), offset_(offset), prefix_(prefix) {
    const std::string_view text = file.source->text;
    if (offset_ == 0 && text.starts_with("\xef\xbb\xbf")) offset_ = 3;  // a byte-order mark takes no column
    for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n', end + 1)) {
      starts_.push_back(end + 1);
    }
  }

  [[nodiscard]] Location operator()(const toml::source_region& region) {
    const auto line = static_cast<std::size_t>(region.begin.line);
    if (line == 0 || line > starts_.size()) return {file_.source, 0, 0};
    const auto begin = byte_of(region.begin);
    const auto end = region.end.line == region.begin.line ? byte_of(region.end) : end_of(line);
    return {file_.source, line, begin - starts_[line - 1] + 1, std::max(end, begin + 1) - begin};
  }

  [[nodiscard]] const SourceFile& file() const noexcept { return file_; }

 private:
  [[nodiscard]] std::size_t end_of(std::size_t line) const {
    const auto& text = file_.source->text;
    auto end = line < starts_.size() ? starts_[line] - 1 : text.size();
    if (end > starts_[line - 1] && end <= text.size() && text[end - 1] == '\r') --end;
    return end;
  }

  [[nodiscard]] std::size_t byte_of(const toml::source_position& position) {
    const auto line = static_cast<std::size_t>(position.line);
    const auto start = starts_[line - 1] + (line == 1 ? offset_ : 0);
    auto skip = static_cast<std::size_t>(position.column) - 1;
    if (line == 1) skip -= std::min(skip, prefix_);
    const auto end = end_of(line);
    auto at = start;
    if (end > start + 4 * stride) {
      const auto& marks = marks_of(line, start, end);
      const auto mark = std::min(skip / stride, marks.size() - 1);
      at = marks[mark];
      skip -= mark * stride;
    }
    for (; skip > 0 && at < end; --skip) at += bytes_at(at);
    return at;
  }

  [[nodiscard]] std::size_t bytes_at(std::size_t at) const {
    return std::max<std::size_t>(decode_utf8(file_.source->text, at).bytes, 1);
  }

  /// Offsets of every `stride`-th code point: a generated file may have all of its values on one line.
  const std::vector<std::size_t>& marks_of(std::size_t line, std::size_t start, std::size_t end) {
    auto& marks = marks_[line];
    if (!marks.empty()) return marks;
    std::size_t count = 0;
    for (auto at = start; at < end; at += bytes_at(at)) {
      if (count++ % stride == 0) marks.push_back(at);
    }
    return marks;
  }

  static constexpr std::size_t stride = 64;

  const SourceFile& file_;
  std::size_t offset_;
  std::size_t prefix_;
  std::vector<std::size_t> starts_{0};
  std::unordered_map<std::size_t, std::vector<std::size_t>> marks_;
};

Node to_node(const toml::node& value, Places& places) {
  Node result;
  result.location = places(value.source());
  result.folder = places.file().folder;
  if (const auto* table = value.as_table()) {
    Node::Table members;
    for (const auto& [key, member] : *table) {
      members.emplace(key.str(), Node::Member{places(key.source()), to_node(member, places)});
    }
    result.data = std::move(members);
  } else if (const auto* array = value.as_array()) {
    Node::List elements;
    for (const auto& element : *array) elements.push_back(to_node(element, places));
    result.data = std::move(elements);
  } else if (const auto* text = value.as_string()) {
    result.data = text->get();
  } else if (const auto* boolean = value.as_boolean()) {
    result.data = boolean->get();
  } else if (const auto* integer = value.as_integer()) {
    result.data = std::int64_t{integer->get()};
  } else if (const auto* real = value.as_floating_point()) {
    result.data = real->get();
  } else {
    result.data = Node::Date{};
  }
  return result;
}

/// toml++ writes "Error while parsing key-value pair: cannot redefine …"; the part behind the colon says it all.
std::string reason_of(const toml::parse_error& error) {
  std::string_view text = error.description();
  if (text.starts_with("Error while parsing")) {
    if (const auto colon = text.find(": "); colon != std::string_view::npos) text.remove_prefix(colon + 2);
  }
  return std::string(text);
}

std::optional<toml::table> parse_quietly(std::string_view text) {
  if (first_too_deep(text) != std::string_view::npos) return std::nullopt;
  try {
    return toml::parse(text);
  } catch (const toml::parse_error&) {
    return std::nullopt;
  }
}

/// The parts of a dotted key; none if it is not one.
std::optional<std::vector<std::string>> key_path(std::string_view key) {
  if (key.find('\n') != std::string_view::npos) return std::nullopt;
  const auto parsed = parse_quietly(fmt::format("{} = 0", key));
  if (!parsed) return std::nullopt;
  std::vector<std::string> path;
  const toml::table* table = &*parsed;
  while (table != nullptr) {
    if (table->size() != 1) return std::nullopt;  // "# x"
    path.emplace_back(table->begin()->first.str());
    table = table->begin()->second.as_table();
  }
  return path;
}

/// Offset of the '=' between KEY and VALUE: the first one outside quotes.
std::size_t separator(std::string_view argument) {
  char quote = 0;
  for (std::size_t i = 0; i < argument.size(); ++i) {
    const char c = argument[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '=') {
      return i;
    }
  }
  return std::string_view::npos;
}

Node argument_value(const SourceFile& argument, std::size_t offset) {
  const auto spelling = argument.source->text.substr(offset);
  constexpr std::string_view prefix = "v = ";
  if (const auto parsed = parse_quietly(fmt::format("{}{}", prefix, spelling)); parsed && parsed->size() == 1) {
    Places places(argument, offset, prefix.size());
    auto result = to_node(*parsed->get("v"), places);
    if (result.text() == nullptr) result.raw = spelling;
    return result;
  }
  Node result;
  result.data = spelling;
  const auto line_end = std::min(spelling.find('\n'), spelling.size());
  result.location = {argument.source, 1, offset + 1, std::max<std::size_t>(line_end, 1)};
  return result;
}

}  // namespace

std::optional<Node> parse_document(const SourceFile& file, Findings& findings) {
  if (!file.usable) return std::nullopt;
  Places places(file);
  const std::string& text = file.source->text;
  if (const auto deep = first_too_deep(text); deep != std::string::npos) {
    const auto start = text.rfind('\n', deep) + 1;
    const auto line =
        static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(deep), '\n')) + 1;
    findings.error("P005", {file.source, line, deep - start + 1, 1},
                   fmt::format("nested more than {} levels deep", deepest_nesting));
    return std::nullopt;
  }
  try {
    const auto document = toml::parse(std::string_view(text));
    return to_node(document, places);
  } catch (const toml::parse_error& error) {
    findings.error("P004", places(error.source()), "not valid TOML: " + reason_of(error));
    return std::nullopt;
  }
}

std::optional<Assignment> parse_assignment(const SourceFile& argument, Findings& findings) {
  if (!argument.usable) return std::nullopt;
  const std::string& text = argument.source->text;
  const auto equals = separator(text);
  const Location key{argument.source, 1, 1, std::max<std::size_t>(std::min(equals, text.size()), 1)};
  if (equals == std::string::npos) {
    findings.error("P032", key, "'--set' needs KEY=VALUE, found no '='").help = "for example --set max_seq=256";
    return std::nullopt;
  }
  auto path = key_path(std::string_view(text).substr(0, equals));
  if (!path) {
    findings.error("P032", key, "the part before '=' is not a key").help =
        "KEY is a variable, or vars.NAME, environment.NAME, matrix.AXIS, step.ID.KEY…; quote parts with other "
        "characters than "
        "letters, digits, '_' and '-'";
    return std::nullopt;
  }
  return Assignment{std::move(*path), key, argument_value(argument, equals + 1)};
}

}  // namespace lockstep
