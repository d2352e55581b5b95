#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <c10/core/InferenceMode.h>

#include <lockstep/plugin.hpp>
#include <string>
#include <string_view>

#include "kernels/kernels.hpp"

namespace lockstep {
namespace {

void configure(const EnvironmentSettings* settings) {
  // One thread count for everything: parallel regions get it all, LibTorch's second pool gets nothing. That pool can be
  // sized only once per process, and is fixed once it has been used.
  static const bool interop_is_set = [] {
    try {
      at::set_num_interop_threads(1);
      return true;
    } catch (const c10::Error&) {
      return false;
    }
  }();
  static_cast<void>(interop_is_set);
  if (settings->threads > 0) at::set_num_threads(settings->threads);
  at::manual_seed(settings->seed);
  set_kernels(std::string_view(settings->kernels) == "torch" ? Kernels::torch : Kernels::automatic);
}

/// The first line, without a trailing blank: LibTorch's version texts end in line breaks.
std::string first_line(const std::string& text) {
  auto line = text.substr(0, text.find('\n'));
  line.erase(line.find_last_not_of(" \t\r") + 1);
  return line;
}

void describe(void (*field)(void* context, const char* key, const char* value), void* context) {
  field(context, "libtorch", LOCKSTEP_LIBTORCH_VERSION);
  field(context, "cpu_capability", at::get_cpu_capability().c_str());
  field(context, "mkl", first_line(at::get_mkl_version()).c_str());
  field(context, "onednn", first_line(at::get_mkldnn_version()).c_str());
  if (const auto report = kernels_report(); !report.used.empty()) {
    field(context, "kernels", report.used.c_str());
    field(context, "kernels_reason", report.reason.c_str());
  }
}

void around(void (*body)(void* context), void* context) {
  const c10::InferenceMode inference_mode;
  body(context);
}

constexpr EnvironmentHook hook{&configure, &describe, &around};

}  // namespace
}  // namespace lockstep

extern "C" const lockstep::EnvironmentHook* lockstep_torch_environment() { return &lockstep::hook; }
