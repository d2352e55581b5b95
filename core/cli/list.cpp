#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>

#include "cli/pipeline_arguments.hpp"
#include "cli/terminal_io.hpp"
#include "cli/verbs.hpp"
#include "pipeline/exit_code.hpp"
#include "report/text.hpp"

namespace lockstep::cli {

int list(const Arguments& arguments) {
  auto loader = loader_of(arguments);
  const auto names = loader.names();
  std::size_t width = 0;
  for (const auto& name : names) width = std::max(width, display_width(printable(name)));
  std::string found;
  std::string broken;
  for (const auto& name : names) {
    const auto lookup = loader.find(name, {});
    const auto padded_name = padded(printable(name), width);
    if (lookup.outcome == StepCatalog::Outcome::loaded)
      found += fmt::format("{}  {}\n", padded_name, printable(lookup.handle.entry->summary));
    else
      broken +=
          fmt::format("  {}  {}: {}\n", padded_name, lookup.diagnostic.code, printable(lookup.diagnostic.message));
  }
  print(stdout, found);
  if (!broken.empty()) print(stdout, fmt::format("{}do not load:\n{}", found.empty() ? "" : "\n", broken));
  if (names.empty()) {
    std::vector<std::string> folders;
    folders.reserve(loader.folders().size());
    for (const auto& folder : loader.folders()) folders.push_back(folder.string());
    print(stdout, fmt::format("no steps found in {}\n", fmt::join(folders, ", ")));
  }
  return exit_code::passed;
}

}  // namespace lockstep::cli
