#include "cli/records.hpp"

#include "report/read_record.hpp"

namespace lockstep::cli {

RunRecord record_of(const Arguments::Given& file) {
  try {
    return read_record_file(file.value);
  } catch (const Error& error) {
    auto diagnostic = error.diagnostic();
    if (!diagnostic.location.source) diagnostic.location = file.location;
    throw CommandLineError{{std::move(diagnostic)}};
  }
}

}  // namespace lockstep::cli
