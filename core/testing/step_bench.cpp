#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <lockstep/testing.hpp>

#include "loader/loader.hpp"
#include "pipeline/binding.hpp"
#include "pipeline/findings.hpp"
#include "testing/bench_state.hpp"
#include "testing/value_node.hpp"

namespace lockstep {
namespace {

StepHandle open_step(const std::string& step) {
  const std::filesystem::path path(step);
  const bool is_file = path.has_parent_path();
  PluginLoader loader(PluginLoader::default_folders({}));
  auto lookup = is_file ? loader.find(path.stem().string(), path) : loader.find(step, {});
  if (lookup.outcome != StepCatalog::Outcome::loaded) {
    if (!is_file) lookup.diagnostic.did_you_mean = did_you_mean(step, loader.names());
    throw Error{std::move(lookup.diagnostic)};
  }
  return std::move(lookup.handle);
}

void put(Value::Table& table, std::string key, Value value) {
  for (auto& [name, entry] : table) {
    if (name != key) continue;
    entry = std::move(value);
    return;
  }
  table.emplace_back(std::move(key), std::move(value));
}

std::shared_ptr<const SourceText> source_named(std::string name) {
  return std::make_shared<const SourceText>(SourceText{.name = std::move(name), .text = {}});
}

/// A table of the step; the place of an entry is shown as "with.length".
Node table_of(const std::string& name, const Value::Table& entries) {
  Node::Table table;
  for (const auto& [key, value] : entries) {
    const auto source = source_named(name + "." + key);
    auto& member = table[key];
    member.key.source = source;
    member.value = node_of(value, source);
  }
  Node node;
  node.data = std::move(table);
  node.location.source = source_named(name);
  return node;
}

}  // namespace

StepBench::StepBench(const std::string& step) : state_(std::make_unique<State>()) {
  state_->handle = open_step(step);
  state_->uses = state_->handle.entry->step_name;
}

StepBench::StepBench(std::shared_ptr<Step> step) : state_(std::make_unique<State>()) {
  if (!step) throw Error{"the bench was given no step"};
  state_->handle.step = std::move(step);
  state_->uses = "bench";
}

StepBench::StepBench(StepBench&&) noexcept = default;
StepBench& StepBench::operator=(StepBench&&) noexcept = default;
StepBench::~StepBench() = default;

StepBench& StepBench::set(std::string parameter, Value value) {
  put(state_->with, std::move(parameter), std::move(value));
  return *this;
}

StepBench& StepBench::configure(std::string check, Value::Table settings) {
  put(state_->checks, std::move(check), std::move(settings));
  return *this;
}

StepBench& StepBench::environment(std::optional<int> threads, std::uint64_t seed) {
  state_->environment = {.threads = threads, .seed = seed};
  return *this;
}

StepBench& StepBench::bind_untyped(std::string_view input, std::string_view type, std::shared_ptr<const void> value) {
  auto& port = member_named(state_->handle.step->declarations().inputs, "input", input);
  if (port.info().type != type)
    throw Error{fmt::format("input '{}' takes '{}', the value is '{}'", input, port.info().type, type)};
  port.bind(std::move(value));
  return *this;
}

std::vector<Diagnostic> StepBench::diagnostics() const {
  const auto with = table_of("with", state_->with);
  const auto checks = table_of("checks", state_->checks);
  const StepSource step{.id = "bench",
                        .label = "step 'bench'",
                        .uses = state_->uses,
                        .location = {.source = source_named("bench")},
                        .with = &with,
                        .inputs = nullptr,
                        .checks = &checks};
  Findings findings;
  std::vector<PlannedParameter> planned;
  const bool bound = bind_parameters(step, *state_->handle.step, planned, findings);
  bind_checks(step, *state_->handle.step, findings);
  if (bound) check_rules(step, *state_->handle.step, findings);
  return findings.take_sorted();
}

std::vector<std::string> StepBench::problems() const {
  std::vector<std::string> texts;
  for (const auto& diagnostic : diagnostics()) {
    const auto& near = diagnostic.did_you_mean;
    texts.push_back(fmt::format("{}: {}: {}{}", diagnostic.location.to_string(), diagnostic.code, diagnostic.message,
                                near.empty() ? std::string() : fmt::format(", did you mean '{}'?", near)));
  }
  return texts;
}

}  // namespace lockstep
