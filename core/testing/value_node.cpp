#include "testing/value_node.hpp"

#include <type_traits>
#include <utility>
#include <variant>

namespace lockstep {

Node node_of(const Value& value, const std::shared_ptr<const SourceText>& source) {
  Node node;
  node.location.source = source;
  std::visit(
      [&](const auto& data) {
        using T = std::decay_t<decltype(data)>;
        if constexpr (std::is_same_v<T, Value::Array>) {
          Node::List list;
          for (const auto& entry : data) list.push_back(node_of(entry, source));
          node.data = std::move(list);
        } else if constexpr (std::is_same_v<T, Value::Table>) {
          Node::Table table;
          for (const auto& [key, entry] : data) {
            auto& member = table[key];
            member.key.source = source;
            member.value = node_of(entry, source);
          }
          node.data = std::move(table);
        } else {
          node.data = data;
        }
      },
      value.data);
  return node;
}

}  // namespace lockstep
