#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <lockstep/step.hpp>

// Needs the target lockstep::testing. Depends on no test framework: what it finds are values, what it cannot do throws.

namespace lockstep {

namespace detail {
template <class T>
inline constexpr bool is_shared_pointer = false;
template <class T>
inline constexpr bool is_shared_pointer<std::shared_ptr<T>> = true;
}  // namespace detail

/// Runs one step in memory, as the engine runs it in a pipeline of its own: parameters and checks are bound by the
/// pipeline's rules, verdicts and status are the engine's.
/// ```cpp
/// StepBench bench("mine.softmax");                      // or the path of a plugin, or StepBench::of<Softmax>()
/// bench.set("length", 1000).bind("scale", tensor).run();
/// assert(bench.status() == "pass");
/// assert(bench.verdict("matches") == Verdict::pass);
/// assert(bench.output<Tensor>("probabilities")->numel() == 1000);
/// ```
/// One bench is one run; what came out of it can be asked for after `run`, and throws Error before. Wrong use (a port
/// or check that the step does not declare, a value of another type) throws Error; what a pipeline's author can do
/// wrong is in diagnostics().
class LOCKSTEP_API StepBench {
 public:
  /// The step of a plugin: the path of its file, or its name, which is searched for as `lockstep run` does
  /// (LOCKSTEP_PLUGIN_PATH, then ../lib/lockstep/plugins beside the test program). Throws Error if it does not load.
  explicit StepBench(const std::string& step);
  /// A step whose type the test sees.
  explicit StepBench(std::shared_ptr<Step> step);
  template <class T>
  [[nodiscard]] static StepBench of() {
    return StepBench(std::make_shared<T>());
  }
  StepBench(StepBench&&) noexcept;
  StepBench& operator=(StepBench&&) noexcept;
  ~StepBench();

  /// A parameter, as `with = { parameter = value }`. A relative path starts at the working directory.
  StepBench& set(std::string parameter, Value value);
  /// Bounds and level of a check, as `checks.name = { … }`: `bench.configure("matches", {{"level", "inform"}})`.
  StepBench& configure(std::string check, Value::Table settings);
  /// Gives an input its value; T must be the type of the port.
  template <class T>
  StepBench& bind(std::string_view input, std::shared_ptr<T> value) {
    return bind_untyped(input, PortType<std::remove_const_t<T>>::id, std::shared_ptr<const void>(std::move(value)));
  }
  template <class T>
  requires(!detail::is_shared_pointer<T>) StepBench& bind(std::string_view input, T value) {
    return bind(input, std::make_shared<const T>(std::move(value)));
  }
  /// The thread count of the run and its seed; without it the count is `auto`, and the seed 0.
  StepBench& environment(std::optional<int> threads, std::uint64_t seed = 0);
  /// As Ctrl-C does right behind the report of progress with this number (from 1): the next one ends the step, which is
  /// then "skipped" because it was "interrupted".
  StepBench& interrupt_after(std::size_t report);

  /// Everything that a pipeline with these parameters and checks would be refused for, in the words and codes of
  /// `lockstep validate`; empty: it would run. Step::validate is part of it.
  [[nodiscard]] std::vector<Diagnostic> diagnostics() const;
  /// The same, each as "with.lenght: P014: step 'bench' has no parameter 'lenght', did you mean 'length'?".
  [[nodiscard]] std::vector<std::string> problems() const;

  /// Throws Error if diagnostics() is not empty, if an input that is not optional has no value, or if it ran before.
  StepBench& run();

  /// "pass", "fail", "warn", "done", "skipped" or "error", as in the run record.
  [[nodiscard]] std::string status() const;
  /// What made the step an ERROR, if it is one.
  [[nodiscard]] std::optional<std::string> error() const;
  /// Why the step skipped itself, if it did.
  [[nodiscard]] std::optional<std::string> skip_reason() const;
  /// StepContext::summary, "" without.
  [[nodiscard]] std::string summary() const;
  /// What the step gave to StepContext::progress, each as "layer 3 of 35", up to an interruption.
  [[nodiscard]] const std::vector<std::string>& progress() const;
  /// What the step gave to StepContext::record, in order.
  [[nodiscard]] const std::vector<std::pair<std::string, Value>>& recorded() const;

  /// Every entry of every check. Those of a step that ended in ERROR have no verdict, those of a skipped one are gone.
  [[nodiscard]] const std::vector<CheckResult>& results() const;
  /// Those of one check, in order.
  [[nodiscard]] std::vector<CheckResult> results(std::string_view check) const;
  /// The one entry of a check. Throws Error if it has none or several.
  [[nodiscard]] const CheckResult& result(std::string_view check) const;
  /// The one with this subject: `result("matches", "layer 3")`. Throws Error if there is none.
  [[nodiscard]] const CheckResult& result(std::string_view check, std::string_view subject) const;
  /// Throws Error also if the entry has no verdict, because the step ended in ERROR.
  [[nodiscard]] Verdict verdict(std::string_view check) const;
  [[nodiscard]] Verdict verdict(std::string_view check, std::string_view subject) const;
  /// Names of the checks with this verdict, one for each entry, in order.
  [[nodiscard]] std::vector<std::string> with(Verdict verdict) const;
  /// The report of the step as `lockstep run --verbose` prints it: for the message of an assertion.
  [[nodiscard]] std::string report() const;

  /// What the step published; null if it did not. T must be the type of the port.
  template <class T>
  [[nodiscard]] std::shared_ptr<const T> output(std::string_view name) const {
    return std::static_pointer_cast<const T>(output_untyped(name, PortType<T>::id));
  }
  /// Every tensor that the step published, named as `lockstep run --dump` names them.
  [[nodiscard]] const std::vector<std::pair<std::string, Tensor>>& tensors() const;

  /// Compares tensors() with a safetensors file; what differs, each as "probabilities: 112 of 1,000 differ", empty if
  /// nothing does. A tensor on one side only differs; so do a step that publishes no tensor and a missing file.
  ///
  /// With LOCKSTEP_UPDATE_GOLDEN=1 in the environment the file is written instead, and nothing differs: look at what
  /// changed before you commit it. Throws Error if the file cannot be read or written.
  [[nodiscard]] std::vector<std::string> differences_from_golden(const std::filesystem::path& file,
                                                                 const Criterion& criterion = bits()) const;

 private:
  struct State;
  StepBench& bind_untyped(std::string_view input, std::string_view type, std::shared_ptr<const void> value);
  [[nodiscard]] std::shared_ptr<const void> output_untyped(std::string_view name, std::string_view type) const;

  std::unique_ptr<State> state_;
};

}  // namespace lockstep
