#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <lockstep/diagnostic.hpp>

namespace lockstep {

/// A value of a pipeline file, an overlay or a `--set` argument, with the place that it was written at.
///
/// `std::monostate` stands for a value that is wrong and has been reported: whoever meets it says nothing more.
struct Node {
  struct Date {};  // TOML has dates, pipelines do not
  struct Member;
  using List = std::vector<Node>;
  using Table = std::map<std::string, Member, std::less<>>;

  std::variant<std::monostate, bool, std::int64_t, double, std::string, Date, List, Table> data;
  Location location;
  /// Where the `${x}` stands that put this value in its place; nowhere if it was written there.
  Location used_at;
  /// The spelling on the command line of a value that TOML does not read as text: a text parameter takes this.
  std::optional<std::string> raw;
  /// What a relative path is relative to; null: the working directory.
  std::shared_ptr<const std::filesystem::path> folder;

  [[nodiscard]] bool reported() const noexcept;
  [[nodiscard]] const std::string* text() const noexcept;
  [[nodiscard]] const Table* table() const noexcept;
  [[nodiscard]] Table* table() noexcept;
  [[nodiscard]] const List* list() const noexcept;
  /// The member of a table, null if there is none or this is no table.
  [[nodiscard]] const Member* find(std::string_view name) const;
};

struct Node::Member {
  Location key;
  Node value;
};

/// "text", "an integer", "a list", …: for "found X, expected Y".
[[nodiscard]] std::string kind_text(const Node& node);

/// A scalar as it is shown in a message and put into a text: `true`, `3`, `0.5`; none for lists, tables and dates.
/// A value from the command line keeps its spelling.
[[nodiscard]] std::optional<std::string> scalar_text(const Node& node);

/// `[A-Za-z_][A-Za-z0-9_-]*`: ids of steps and names of variables.
[[nodiscard]] bool is_identifier(std::string_view text);

}  // namespace lockstep
