#include "cli/standard_output.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <cstdio>

namespace lockstep::cli {

StandardOutputKept::StandardOutputKept() {
  std::fflush(stdout);
  kept_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (kept_ >= 0) dup2(STDERR_FILENO, STDOUT_FILENO);
}

StandardOutputKept::~StandardOutputKept() {
  if (kept_ < 0) return;
  std::fflush(stdout);
  dup2(kept_, STDOUT_FILENO);
  close(kept_);
}

}  // namespace lockstep::cli
