#include <algorithm>

#include "cli/pipeline_arguments.hpp"
#include "cli/terminal_io.hpp"
#include "cli/verbs.hpp"
#include "pipeline/exit_code.hpp"
#include "report/schema.hpp"

namespace lockstep::cli {

int schema(const Arguments& arguments) {
  auto loader = loader_of(arguments);
  auto names = loader.names();
  std::ranges::sort(names);
  std::vector<StepDescription> steps;
  std::vector<Diagnostic> left_out;
  for (const auto& name : names) {
    auto lookup = loader.find(name, {});
    if (lookup.outcome == StepCatalog::Outcome::loaded) {
      steps.push_back(description_of(lookup.handle));
      continue;
    }
    lookup.diagnostic.severity = Severity::warning;
    lookup.diagnostic.message += "; the schema leaves it out";
    left_out.push_back(std::move(lookup.diagnostic));
  }
  print(left_out, use_colour(arguments, stderr));
  print(stdout, schema_text(arguments.has("overlay") ? SchemaOf::overlay : SchemaOf::pipeline, steps));
  return exit_code::passed;
}

}  // namespace lockstep::cli
