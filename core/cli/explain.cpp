#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>
#include "cli/terminal_io.hpp"
#include "cli/verbs.hpp"
#include "pipeline/diagnostic_codes.hpp"
#include "pipeline/exit_code.hpp"

namespace lockstep::cli {

int explain(const Arguments& arguments) {
  if (!arguments.has_positional()) {
    for (const auto& known : all_codes()) print(stdout, fmt::format("{}  {}\n", known.code, known.title));
    return exit_code::passed;
  }
  const auto& code = arguments.positional(0);
  if (const auto* found = find_code(code.value)) {
    print(stdout, code_page(*found));
    return exit_code::passed;
  }
  std::vector<std::string> codes;
  codes.reserve(all_codes().size());
  for (const auto& known : all_codes()) codes.emplace_back(known.code);
  print({{.code = "C012",
          .message = fmt::format("there is no diagnostic code '{}'", code.value),
          .location = code.location,
          .did_you_mean = did_you_mean(code.value, codes),
          .help = "a code is a letter and three digits; `lockstep explain` lists them all"}},
        use_colour(arguments, stderr));
  return exit_code::invalid;
}

}  // namespace lockstep::cli
