#pragma once

#include <functional>
#include <optional>
#include <string>

#include <lockstep/context.hpp>

#include "engine/executor.hpp"

namespace lockstep {

/// The thread count of a run and who may set it.
struct ThreadSetting {
  std::optional<int> threads;      ///< none: "auto" and not set yet
  bool automatic = false;          ///< `threads = "auto"`
  std::string set_by;              ///< id of the step that set it
  bool libtorch_used = false;      ///< a step that links LibTorch has run
  std::function<void(int)> apply;  ///< hands the count to the hooks
};

/// The StepContext of one step in one run: collects into the records what the step says.
class RunContext final : public StepContext {
 public:
  RunContext(RunRecord& run, std::size_t step, ThreadSetting& threads, const std::atomic<bool>* interrupted,
             const std::vector<RunObserver*>& observers)
      : run_(run), step_(step), threads_(threads), interrupted_(interrupted), observers_(observers) {}

  [[nodiscard]] std::string_view step_id() const override { return record_of_step().id; }
  void progress(std::int64_t done, std::int64_t total, std::string_view unit) override;
  void skip(std::string reason) override { skip_reason_ = std::move(reason); }
  void summary(std::string text) override { record_of_step().summary = std::move(text); }
  void set_threads(int threads) override;
  [[nodiscard]] int threads() const override { return threads_.threads.value_or(0); }
  void environment(std::string key, Value value) override;
  void record(std::string key, Value value) override;

  [[nodiscard]] const std::optional<std::string>& skip_reason() const noexcept { return skip_reason_; }

 private:
  [[nodiscard]] StepRecord& record_of_step() const { return run_.steps[step_]; }

  RunRecord& run_;
  std::size_t step_;
  ThreadSetting& threads_;
  const std::atomic<bool>* interrupted_;
  const std::vector<RunObserver*>& observers_;
  std::optional<std::string> skip_reason_;
};

/// Sets `key` in a list of fields that keeps its order.
void set_field(std::vector<std::pair<std::string, Value>>& fields, std::string key, Value value);

}  // namespace lockstep
