#include <fmt/format.h>
#include <filesystem>

#include <lockstep/diagnostic.hpp>
#include "cli/pipeline_arguments.hpp"
#include "cli/terminal_io.hpp"
#include "cli/verbs.hpp"
#include "pipeline/exit_code.hpp"
#include "report/describe.hpp"

namespace lockstep::cli {
namespace {

/// STEP is a step's name, or the path of a plugin's file.
StepCatalog::Lookup find_step(const std::string& step, PluginLoader& loader) {
  const std::filesystem::path path(step);
  if (!path.has_parent_path()) return loader.find(step, {});
  return loader.find(path.stem().string(), path);
}

}  // namespace

int describe(const Arguments& arguments) {
  const auto& step = arguments.positional(0);
  auto loader = loader_of(arguments);
  auto lookup = find_step(step.value, loader);
  if (lookup.outcome != StepCatalog::Outcome::loaded) {
    lookup.diagnostic.location = step.location;
    const bool not_found = lookup.outcome == StepCatalog::Outcome::not_found;
    if (not_found) lookup.diagnostic.did_you_mean = did_you_mean(step.value, loader.names());
    print({lookup.diagnostic}, use_colour(arguments, stderr));
    return not_found ? exit_code::invalid : exit_code::not_loadable;
  }
  const auto description = description_of(lookup.handle);
  print(stdout, arguments.has("json")       ? describe_json(description)
                : arguments.has("markdown") ? describe_markdown(description)
                                            : describe_text(description));
  return exit_code::passed;
}

}  // namespace lockstep::cli
