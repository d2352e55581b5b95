#include "engine/step_call.hpp"

#include <exception>

#include <fmt/format.h>

#include "engine/environment.hpp"

namespace lockstep {
namespace {

void run_in_hook(PlannedStep& planned, StepContext& context) {
  auto& step = *planned.handle->step;
  const auto* hook = hook_of(planned);
  if (hook == nullptr) return step.run(context);
  struct Call {
    Step& step;
    StepContext& context;
  } body{step, context};
  hook->around(
      [](void* data) {
        auto& target = *static_cast<Call*>(data);
        target.step.run(target.context);
      },
      &body);
}

}  // namespace

std::string dump_name(const std::string& output, std::string_view tensor) {
  return tensor.empty() ? output : fmt::format("{}.{}", output, tensor);
}

StepCall call_step(PlannedStep& planned, StepContext& context) {
  StepCall call;
  try {
    run_in_hook(planned, context);
  } catch (const Interrupted&) {
    call.interrupted = true;
  } catch (const Error& error) {
    call.failure = error.diagnostic();
    call.failure->code = "S001";
  } catch (const std::exception& error) {
    call.failure = Diagnostic{.code = "S001", .message = error.what()};
  } catch (...) {
    call.failure = Diagnostic{.code = "S002",
                              .message = "threw an exception that is not derived from std::exception",
                              .help = "throw lockstep::Error or another std::exception"};
  }
  return call;
}

}  // namespace lockstep
