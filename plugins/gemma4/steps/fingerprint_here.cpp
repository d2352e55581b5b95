#include "steps/fingerprint_here.hpp"

#include <string>

#include <ATen/Context.h>
#include <ATen/Version.h>

namespace gemma4 {
namespace {

/// LibTorch's version texts end in line breaks.
std::string first_line(const std::string& text) {
  const auto line = text.substr(0, text.find('\n'));
  return line.substr(0, line.find_last_not_of(" \t\r") + 1);
}

}  // namespace

Fingerprint fingerprint_here(int threads) {
  const std::string torch = LOCKSTEP_LIBTORCH_VERSION;
  return {.torch = torch.substr(0, torch.find('+')),
          .onednn = first_line(at::get_mkldnn_version()),
          .cpu = cpu_of_this_machine(),
          .cpu_capability = at::get_cpu_capability(),
          .threads = threads};
}

}  // namespace gemma4
