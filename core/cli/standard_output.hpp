#pragma once

namespace lockstep::cli {

/// While it lives, what is written to standard output goes to standard error: a step that prints must not spoil a
/// report that is to stand there.
class StandardOutputKept {
 public:
  StandardOutputKept();
  ~StandardOutputKept();
  StandardOutputKept(const StandardOutputKept&) = delete;
  StandardOutputKept& operator=(const StandardOutputKept&) = delete;

 private:
  int kept_;  ///< standard output; -1 if it is closed
};

}  // namespace lockstep::cli
