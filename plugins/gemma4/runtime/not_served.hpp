#pragma once

#include <string>

#include <lockstep/diagnostic.hpp>
#include <lockstep/export.hpp>

namespace gemma4 {

/// What a Runtime throws when it has nothing for a stage: its device keeps that result to itself, its dump lacks the
/// tensor. The message names what is missing.
///
/// The step that asked turns it into a FAIL of one of its checks if the stage is required, else into SKIPPED with the
/// message as the reason. Any other Error is one of the step.
class LOCKSTEP_API NotServed : public lockstep::Error {
 public:
  NotServed(std::string message, std::string help, bool required);
  ~NotServed() override;

  [[nodiscard]] bool required() const noexcept { return required_; }

 private:
  bool required_;
};

}  // namespace gemma4
