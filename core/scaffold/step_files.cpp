#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>
#include "scaffold/new_step.hpp"
#include "scaffold/templates.hpp"

namespace lockstep::scaffold {
namespace {

namespace fs = std::filesystem;

NewFile fresh(fs::path path, std::string text) { return {std::move(path), std::move(text), std::nullopt}; }

/// The CMakeLists.txt at `path` with `lines` behind what it has.
NewFile with_lines(fs::path path, const std::string& lines) {
  if (!fs::exists(path)) return fresh(std::move(path), lines);
  std::ifstream stream(path, std::ios::binary);
  std::string original{std::istreambuf_iterator<char>(stream), {}};
  if (!stream.good() && original.empty()) throw Error{fmt::format("'{}' cannot be read", path.string())};
  auto text = original;
  if (!text.ends_with('\n')) text += '\n';
  return {std::move(path), text + lines, std::move(original)};
}

/// Where a family of the tree keeps its steps: plugins/family/steps if there is one, else plugins/family.
fs::path family_folder(const fs::path& root, const std::string& family) {
  const auto folder = root / "plugins" / family;
  return fs::exists(folder / "steps/CMakeLists.txt") ? folder / "steps" : folder;
}

}  // namespace

std::string filled_in(std::string_view text, const StepName& name, std::string_view version) {
  std::string result(text);
  const std::vector<std::pair<std::string_view, std::string>> values{
      {"@STEP@", name.full()}, {"@NAME@", name.name}, {"@TYPE@", name.type()}, {"@VERSION@", std::string(version)}};
  for (const auto& [placeholder, value] : values) {
    for (auto at = result.find(placeholder); at != std::string::npos; at = result.find(placeholder, at + value.size()))
      result.replace(at, placeholder.size(), value);
  }
  return result;
}

std::optional<fs::path> source_tree_of(const fs::path& folder) {
  for (auto root = fs::absolute(folder).lexically_normal();; root = root.parent_path()) {
    if (fs::exists(root / "core/include/lockstep/step.hpp") && fs::exists(root / "plugins/CMakeLists.txt")) return root;
    if (root == root.root_path()) return std::nullopt;
  }
}

std::vector<NewFile> step_in_tree(const StepName& name, const fs::path& root) {
  const auto step = name.full();
  const auto family = family_folder(root, name.family);
  const auto tests = root / "tests" / family.lexically_relative(root / "plugins");
  const auto target = "step_" + name.family + "_" + name.name;
  return {
      fresh(family / (name.name + ".cpp"), filled_in(step_source, name)),
      with_lines(family / "CMakeLists.txt",
                 fmt::format("lockstep_add_step(NAME {} SOURCES {}.cpp)\n", step, name.name)),
      fresh(tests / (name.name + "_test.cpp"), filled_in(step_test, name)),
      with_lines(tests / "CMakeLists.txt",
                 fmt::format("if(TARGET {})\n  lockstep_add_step_test(NAME {} SOURCES {}_test.cpp)\nendif()\n", target,
                             step, name.name)),
      fresh(root / "pipelines" / (name.name + ".toml"), filled_in(sample_pipeline, name)),
      fresh(root / "docs/steps" / (step + ".md"), filled_in(step_page, name)),
  };
}

std::optional<fs::path> project_of(const fs::path& folder) {
  for (auto root = fs::absolute(folder).lexically_normal();; root = root.parent_path()) {
    std::ifstream stream(root / "CMakeLists.txt", std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    if (text.find("find_package(Lockstep") != std::string::npos) return root;
    if (root == root.root_path()) return std::nullopt;
  }
}

std::vector<NewFile> step_in_project(const StepName& name, const fs::path& root) {
  const auto file = [&](const std::string& path, std::string_view text) {
    return fresh(root / path, filled_in(text, name));
  };
  return {
      with_lines(root / "CMakeLists.txt",
                 filled_in("\nlockstep_add_step(NAME @STEP@ SOURCES src/@NAME@.cpp)\n"
                           "lockstep_add_step_test(NAME @STEP@ SOURCES test/@NAME@_test.cpp)\n",
                           name)),
      file("src/" + name.name + ".cpp", step_source),
      file("test/" + name.name + "_test.cpp", step_test),
      file("pipelines/" + name.name + ".toml", sample_pipeline),
      file("docs/" + name.full() + ".md", step_page),
  };
}

std::vector<NewFile> step_project(const StepName& name, const fs::path& folder, const std::string& version) {
  const auto file = [&](const std::string& path, std::string_view text) {
    return fresh(folder / path, filled_in(text, name, version));
  };
  return {
      file("CMakeLists.txt", project_lists),
      file("src/" + name.name + ".cpp", step_source),
      file("test/" + name.name + "_test.cpp", step_test),
      file("pipelines/" + name.name + ".toml", sample_pipeline),
      file("docs/" + name.full() + ".md", step_page),
      file("README.md", project_readme),
      file(".gitignore", project_ignore),
  };
}

}  // namespace lockstep::scaffold
