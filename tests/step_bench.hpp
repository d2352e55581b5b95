#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lockstep/step.hpp>

#include "loader/loader.hpp"

namespace lockstep::test {

/// Runs one step of a built plugin in memory: no pipeline, no engine.
/// ```cpp
/// StepBench bench("gemma4.token_embedding");
/// bench.bind<gemma4::Runtime>("runtime", faulty).bind<gemma4::Reference>("reference", reference).run();
/// CHECK(bench.verdict("scale_applied") == Verdict::fail);
/// ```
/// A step that throws Error has status ERROR in a run; here error() has its text.
class StepBench {
 public:
  explicit StepBench(const std::string& uses) {
    PluginLoader loader({std::filesystem::path(LOCKSTEP_BINARY_DIR) / "lib/lockstep/plugins"});
    auto lookup = loader.find(uses, {});
    if (lookup.outcome != StepCatalog::Outcome::loaded) throw std::runtime_error(lookup.diagnostic.message);
    step_ = std::move(lookup.handle.step);
  }

  [[nodiscard]] Step& step() { return *step_; }

  /// As the binder does after checking the value against the declaration.
  StepBench& set(std::string_view parameter, const Value& value) {
    named(step_->declarations().parameters, parameter).assign(value, {});
    return *this;
  }
  template <class T>
  StepBench& bind(std::string_view input, std::shared_ptr<const T> value) {
    auto& port = named(step_->declarations().inputs, input);
    if (port.info().type != PortType<T>::id) throw std::runtime_error(port.info().name + " has another type");
    port.bind(std::move(value));
    return *this;
  }
  StepBench& run() {
    try {
      step_->run(*context_);
    } catch (const Error& error) {
      error_ = error.diagnostic().message;
    }
    for (auto* check : step_->declarations().checks) check->close_if_never_performed();
    return *this;
  }
  /// Messages of Step::validate, each as "parameter: message".
  [[nodiscard]] std::vector<std::string> validate() const {
    Rules rules;
    step_->validate(rules);
    std::vector<std::string> messages;
    for (const auto& finding : rules.findings()) {
      messages.push_back(finding.parameter->info().name + ": " + finding.message);
    }
    return messages;
  }

  [[nodiscard]] const std::optional<std::string>& error() const { return error_; }
  [[nodiscard]] const std::string& summary() const { return context_->summary_text; }
  /// Why the step skipped itself, if it did.
  [[nodiscard]] const std::optional<std::string>& skip_reason() const { return context_->skip_reason; }
  [[nodiscard]] const std::vector<std::pair<std::string, Value>>& recorded() const { return context_->fields; }
  /// The one result of a check. Throws if the check has none or several.
  [[nodiscard]] const CheckResult& result(std::string_view check) const {
    const auto& results = named(step_->declarations().checks, check).results();
    if (results.size() != 1) throw std::runtime_error(std::string(check) + " has not exactly one result");
    return results.front();
  }
  /// The one with this subject. Throws if there is none.
  [[nodiscard]] const CheckResult& result(std::string_view check, std::string_view subject) const {
    for (const auto& result : named(step_->declarations().checks, check).results()) {
      if (result.subject == subject) return result;
    }
    throw std::runtime_error(std::string(check) + " has no result for " + std::string(subject));
  }
  [[nodiscard]] Verdict verdict(std::string_view check) const { return result(check).verdict.value(); }
  /// Names of the checks with this verdict.
  [[nodiscard]] std::vector<std::string> with(Verdict verdict) const {
    std::vector<std::string> names;
    for (const auto* check : step_->declarations().checks) {
      for (const auto& result : check->results()) {
        if (result.verdict == verdict) names.push_back(result.name);
      }
    }
    return names;
  }
  /// What the step published; null if it did not.
  template <class T>
  [[nodiscard]] std::shared_ptr<const T> output(std::string_view name) const {
    const auto& port = named(step_->declarations().outputs, name);
    if (port.info().type != PortType<T>::id) throw std::runtime_error(port.info().name + " has another type");
    return std::static_pointer_cast<const T>(port.value());
  }

 private:
  struct Context final : StepContext {
    std::string summary_text;
    std::optional<std::string> skip_reason;
    std::vector<std::pair<std::string, Value>> fields;

    [[nodiscard]] std::string_view step_id() const override { return "bench"; }
    void progress(std::int64_t, std::int64_t, std::string_view) override {}
    void skip(std::string reason) override { skip_reason = std::move(reason); }
    void summary(std::string text) override { summary_text = std::move(text); }
    void set_threads(int) override {}
    [[nodiscard]] int threads() const override { return 1; }
    void environment(std::string, Value) override {}
    void record(std::string key, Value value) override { fields.emplace_back(std::move(key), std::move(value)); }
  };

  template <class Member>
  static Member& named(const std::vector<Member*>& members, std::string_view name) {
    for (auto* member : members) {
      if (member->info().name == name) return *member;
    }
    throw std::runtime_error("the step declares no " + std::string(name));
  }

  std::shared_ptr<Step> step_;
  std::unique_ptr<Context> context_ = std::make_unique<Context>();
  std::optional<std::string> error_;
};

}  // namespace lockstep::test
