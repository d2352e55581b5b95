#include "cli/records.hpp"
#include "cli/terminal_io.hpp"
#include "cli/verbs.hpp"
#include "pipeline/exit_code.hpp"
#include "report/record_diff_text.hpp"

namespace lockstep::cli {
int diff(const Arguments& arguments) {
  const auto& before = arguments.positional(0);
  const auto& after = arguments.positional(1);
  const auto changes = diff_records(record_of(before), record_of(after));
  if (arguments.has("json"))
    print(stdout, record_diff_json(before.value, after.value, changes));
  else
    print(stdout, record_diff_text(changes, {use_colour(arguments, stdout), detail_of(arguments)}));
  return is_equal(changes) ? exit_code::passed : exit_code::failed;
}

}  // namespace lockstep::cli
