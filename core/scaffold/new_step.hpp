#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lockstep::scaffold {

/// `family.name`, both in lower case: what a step is called, and its plugin's file.
struct StepName {
  std::string family;
  std::string name;

  [[nodiscard]] std::string full() const { return family + "." + name; }
  /// "rms_norm" -> "RmsNormStep": ends in Step, so that it is none of Lockstep's own types.
  [[nodiscard]] std::string type() const;
};
/// Throws Error N002.
[[nodiscard]] StepName parse_step_name(const std::string& text);

/// A file that is to be written.
struct NewFile {
  std::filesystem::path path;
  std::string text;                     ///< all of it
  std::optional<std::string> original;  ///< of a list of build lines that is extended; none: the file must not exist
};

/// The root of the Lockstep source tree that `folder` lies in; none if it lies in none.
[[nodiscard]] std::optional<std::filesystem::path> source_tree_of(const std::filesystem::path& folder);

/// Source, test, sample pipeline, page and build lines of a step in the source tree `root`. Throws Error if a build
/// list that must be extended cannot be read.
[[nodiscard]] std::vector<NewFile> step_in_tree(const StepName& name, const std::filesystem::path& root);
/// The same as a project of its own in `folder`, which finds Lockstep `version` as a package.
[[nodiscard]] std::vector<NewFile> step_project(const StepName& name, const std::filesystem::path& folder,
                                                const std::string& version);

/// The root of the project with a find_package(Lockstep …) that `folder` lies in; none if it lies in none.
[[nodiscard]] std::optional<std::filesystem::path> project_of(const std::filesystem::path& folder);
/// One more step in such a project: its files, and its lines at the end of the project's CMakeLists.txt.
[[nodiscard]] std::vector<NewFile> step_in_project(const StepName& name, const std::filesystem::path& root);

/// Those that exist already and would be overwritten.
[[nodiscard]] std::vector<std::filesystem::path> in_the_way(const std::vector<NewFile>& files);
/// Writes all, or throws Error and leaves everything as it was.
void write_all(const std::vector<NewFile>& files);

}  // namespace lockstep::scaffold
