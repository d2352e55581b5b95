#include "cli/run_id.hpp"

#include <cstdlib>

namespace lockstep::cli {

const std::string& given_run_id() {
  static const std::string id = [] {
    const char* given = std::getenv(run_id_variable);  // NOLINT(concurrency-mt-unsafe): before any step runs
    std::string text = given == nullptr ? "" : given;
    ::unsetenv(run_id_variable);
    return text;
  }();
  return id;
}

}  // namespace lockstep::cli
