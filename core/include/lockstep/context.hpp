#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <lockstep/export.hpp>
#include <lockstep/value.hpp>

namespace lockstep {

/// What the engine offers a step while it runs.
class LOCKSTEP_API StepContext {
 public:
  StepContext(const StepContext&) = delete;
  StepContext& operator=(const StepContext&) = delete;

  /// The step's id in the pipeline.
  [[nodiscard]] virtual std::string_view step_id() const = 0;
  /// Shown live: `progress(3, 35, "layer")`. Cheap; call it as often as there is progress.
  /// Throws Interrupted after Ctrl-C, so a long loop that reports progress can be interrupted.
  virtual void progress(std::int64_t done, std::int64_t total, std::string_view unit) = 0;
  /// Ends the step as SKIPPED with this reason ("no picture in the prompt"); return from `run` after it.
  virtual void skip(std::string reason) = 0;
  /// The text after the step's time in the report: "286 tensors, 2.49 M parameters".
  virtual void summary(std::string text) = 0;
  /// `[environment] threads = "auto"`: one step, before anything has used LibTorch. Throws Error otherwise.
  virtual void set_threads(int threads) = 0;
  /// The run's thread count; 0 while it is "auto" and not set yet.
  [[nodiscard]] virtual int threads() const = 0;
  /// Adds a field to the record's "environment".
  virtual void environment(std::string key, Value value) = 0;
  /// Adds a field to the step's entry in the record. "output_tail": the last lines that a program wrote, a list.
  virtual void record(std::string key, Value value) = 0;

 protected:
  StepContext();
  virtual ~StepContext();
};

/// Thrown by StepContext::progress after Ctrl-C. Let it pass.
class LOCKSTEP_API Interrupted {
 public:
  Interrupted();
  virtual ~Interrupted();
};

}  // namespace lockstep
