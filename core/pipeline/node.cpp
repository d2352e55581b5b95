#include "pipeline/node.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace lockstep {
namespace {

template <class... F>
struct Overload : F... {
  using F::operator()...;
};
template <class... F>
Overload(F...) -> Overload<F...>;

std::string real_text(double value) {
  auto text = fmt::format("{}", value);
  // "1" would read as an integer
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

bool Node::reported() const noexcept { return std::holds_alternative<std::monostate>(data); }
const std::string* Node::text() const noexcept { return std::get_if<std::string>(&data); }
const Node::Table* Node::table() const noexcept { return std::get_if<Table>(&data); }
Node::Table* Node::table() noexcept { return std::get_if<Table>(&data); }
const Node::List* Node::list() const noexcept { return std::get_if<List>(&data); }

const Node::Member* Node::find(std::string_view name) const {
  const auto* members = table();
  if (members == nullptr) return nullptr;
  const auto found = members->find(name);
  return found == members->end() ? nullptr : &found->second;
}

std::string kind_text(const Node& node) {
  return std::visit(Overload{[](std::monostate) { return "nothing"; }, [](bool) { return "a boolean"; },
                             [](std::int64_t) { return "an integer"; }, [](double) { return "a real number"; },
                             [](const std::string&) { return "text"; }, [](const Node::Date&) { return "a date"; },
                             [](const Node::List&) { return "a list"; }, [](const Node::Table&) { return "a table"; }},
                    node.data);
}

std::optional<std::string> scalar_text(const Node& node) {
  if (node.raw) return node.raw;
  using Text = std::optional<std::string>;
  return std::visit(Overload{[](bool value) -> Text { return value ? "true" : "false"; },
                             [](std::int64_t value) -> Text { return fmt::format("{}", value); },
                             [](double value) -> Text { return real_text(value); },
                             [](const std::string& value) -> Text { return value; },
                             [](const auto&) -> Text { return std::nullopt; }},
                    node.data);
}

bool is_identifier(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto other = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '-'; };
  return !text.empty() && letter(text.front()) && std::ranges::all_of(text, other);
}

}  // namespace lockstep
