#include "cli/terminal_io.hpp"
#include "cli/verbs.hpp"
#include "report/read_record.hpp"
#include "report/terminal.hpp"

namespace lockstep::cli {
namespace {

RunRecord record_of(const Arguments::Given& file) {
  try {
    return read_record_file(file.value);
  } catch (const Error& error) {
    auto diagnostic = error.diagnostic();
    if (!diagnostic.location.source) diagnostic.location = file.location;
    throw CommandLineError{{std::move(diagnostic)}};
  }
}

Detail detail_of(const Arguments& arguments) {
  if (arguments.has("quiet")) return Detail::quiet;
  return arguments.has("verbose") ? Detail::verbose : Detail::normal;
}

}  // namespace

int report(const Arguments& arguments) {
  const auto record = record_of(arguments.positional(0));
  print(stdout, terminal_report(record, {use_colour(arguments, stdout), detail_of(arguments)}));
  return exit_passed;
}

}  // namespace lockstep::cli
