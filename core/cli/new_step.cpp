#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lockstep/diagnostic.hpp>
#include "cli/terminal_io.hpp"
#include "cli/verbs.hpp"
#include "pipeline/exit_code.hpp"
#include "pipeline/render_diagnostic.hpp"
#include "report/run_text.hpp"
#include "scaffold/new_step.hpp"

namespace lockstep::cli {
namespace {

namespace fs = std::filesystem;
using namespace scaffold;

[[noreturn]] void refuse(Diagnostic diagnostic, const Location& location) {
  diagnostic.location = location;
  throw CommandLineError{{std::move(diagnostic)}};
}

StepName name_of(const Arguments::Given& given) {
  try {
    return parse_step_name(given.value);
  } catch (const Error& error) {
    refuse(error.diagnostic(), given.location);
  }
}

/// The project outside of Lockstep's tree that gets one more step; none: it is a new one, or in the tree.
std::optional<fs::path> project_to_extend(const Arguments& arguments) {
  if (const auto folder = arguments.option("out-of-tree")) {
    const auto root = project_of(folder->value);
    const bool itself = root && *root == (fs::absolute(folder->value) / "").lexically_normal().parent_path();
    return itself ? root : std::nullopt;
  }
  const auto project = project_of(fs::current_path());
  const auto tree = source_tree_of(fs::current_path());
  const bool tree_is_nearer = project && tree && tree->native().size() >= project->native().size();
  return tree_is_nearer ? std::nullopt : project;
}

std::vector<NewFile> files_of(const Arguments& arguments, const StepName& name) {
  if (const auto project = project_to_extend(arguments)) return step_in_project(name, *project);
  if (const auto folder = arguments.option("out-of-tree")) return step_project(name, folder->value, LOCKSTEP_VERSION);
  if (const auto root = source_tree_of(fs::current_path())) return step_in_tree(name, *root);
  refuse({.code = "N004",
          .message = "the working directory is in no source tree of Lockstep and in no project that finds the package",
          .help = fmt::format("for a project of its own: lockstep new step {} --out-of-tree DIR", name.full())},
         arguments.positional(1).location);
}

/// As short as it can be said from here.
std::string shown(const fs::path& path) {
  const auto relative = fs::absolute(path).lexically_relative(fs::current_path());
  return relative.native().starts_with("..") ? path.string() : relative.string();
}

/// `extends`: the project that got one more step.
std::string next_of(const Arguments& arguments, const StepName& name, const std::optional<fs::path>& extends) {
  if (extends)
    return fmt::format(
        "\nnext, in {}:\n  cmake --build build\n  ctest --test-dir build -R {}\n"
        "  lockstep run pipelines/{}.toml --plugin-path build/plugins\n",
        extends->string(), name.full(), name.name);
  if (const auto folder = arguments.option("out-of-tree")) {
    return fmt::format(
        "\nnext:\n  cd {}\n  cmake -B build -DCMAKE_PREFIX_PATH=<where Lockstep is installed>\n  cmake --build build\n"
        "  ctest --test-dir build\n  lockstep run pipelines/{}.toml --plugin-path build/plugins\n",
        quoted_for_shell(folder->value), name.name);
  }
  return fmt::format(
      "\nnext, in the root of the tree:\n  cmake --preset release\n  cmake --build build --target all docs-steps\n"
      "  ctest --preset release -R {}\n  build/bin/lockstep run pipelines/{}.toml\n",
      name.full(), name.name);
}

}  // namespace

int new_step(const Arguments& arguments) {
  const auto& kind = arguments.positional(0);
  if (kind.value != "step") {
    refuse({.code = "N001",
            .message = fmt::format("{} is nothing that can be made, expected 'step'", in_quotes(kind.value)),
            .did_you_mean = did_you_mean(kind.value, {"step"}),
            .help = "lockstep new step family.name"},
           kind.location);
  }
  const auto name = name_of(arguments.positional(1));
  const auto files = files_of(arguments, name);
  if (const auto found = in_the_way(files); !found.empty()) {
    std::vector<std::string> names;
    names.reserve(found.size());
    for (const auto& path : found) names.push_back(shown(path));
    refuse({.code = "N003",
            .message = fmt::format("{} in the way, nothing was written: {}",
                                   found.size() == 1 ? "a file is" : "files are", fmt::join(names, ", ")),
            .help = "choose another name or folder, or move what is there"},
           arguments.positional(1).location);
  }
  const auto extends = project_to_extend(arguments);
  try {
    write_all(files);
  } catch (const std::exception& error) {
    throw Error(Diagnostic{.code = "N005",
                           .message = fmt::format("the step's files cannot be written: {}", error.what()),
                           .location = arguments.positional(1).location,
                           .help = "name a folder that can be written to"});
  }
  std::string text;
  for (const auto& file : files)
    text += fmt::format("{}  {}\n", file.original ? "extended" : "wrote   ", shown(file.path));
  print(stdout, text + next_of(arguments, name, extends));
  return exit_code::passed;
}

}  // namespace lockstep::cli
