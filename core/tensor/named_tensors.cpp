#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lockstep/diagnostic.hpp>
#include <lockstep/tensor.hpp>

namespace lockstep {

NamedTensors::NamedTensors(Entries entries) {
  entries_.reserve(entries.size());
  for (auto& entry : entries) add(std::move(entry.first), std::move(entry.second));
}

void NamedTensors::add(std::string name, Tensor tensor) {
  if (name.empty()) throw Error{fmt::format("a tensor {} has no name, a set of tensors needs one", tensor.to_string())};
  if (const Tensor* before = find(name); before != nullptr) {
    throw Error{fmt::format("the name '{}' is given to two tensors of one set: {} and {}", name, before->to_string(),
                            tensor.to_string())};
  }
  index_.emplace(name, entries_.size());
  entries_.emplace_back(std::move(name), std::move(tensor));
}

std::vector<std::string> NamedTensors::names() const {
  std::vector<std::string> names;
  names.reserve(entries_.size());
  for (const auto& entry : entries_) names.push_back(entry.first);
  return names;
}

const Tensor* NamedTensors::find(std::string_view name) const noexcept {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &entries_[found->second].second;
}

const Tensor& NamedTensors::at(std::string_view name) const {
  if (const Tensor* tensor = find(name); tensor != nullptr) return *tensor;
  constexpr std::size_t most_named = 20;
  auto known = names();
  const auto near = did_you_mean(name, known);
  const auto count = known.size();
  if (count > most_named) known.resize(most_named);
  throw Error{Diagnostic{
      .message = fmt::format("there is no tensor '{}' in the set", name),
      .did_you_mean = near,
      .help = count == 0
                  ? "the set is empty"
                  : fmt::format("it has: {}{}", fmt::join(known, ", "),
                                count > most_named ? fmt::format(" and {} more", count - most_named) : std::string())}};
}

}  // namespace lockstep
