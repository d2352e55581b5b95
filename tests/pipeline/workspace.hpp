#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fake_catalog.hpp"
#include "temporary_folder.hpp"

namespace lockstep::test {

/// A fresh working directory for one test; the old one comes back at the end.
class Workspace {
 public:
  Workspace();
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  /// Creates folders as needed. Returns `name`.
  static std::string write(const std::string& name, const std::string& content);

 private:
  std::filesystem::path before_;
  TemporaryFolder folder_;
};

/// What stands on the command line beside the pipeline.
struct Arguments {
  std::vector<std::string> overlays = {};  ///< contents of --config files
  std::vector<std::string> sets = {};
  std::vector<std::string> skips = {};
  std::vector<std::string> rows = {};
  std::optional<std::string> shard = std::nullopt;
};

/// Plans the pipeline `toml`, written to pipeline.toml, with the steps of FakeCatalog.
PlanResult plan(const std::string& toml, const Arguments& arguments = {});
/// "P014 3:8" for each diagnostic, in order; "P014 --set x" for one in an argument, "P014 overlay1.toml:3:8" for one in
/// an overlay.
std::vector<std::string> findings(const PlanResult& result);
std::vector<std::string> findings(const std::string& toml, const Arguments& arguments = {});
/// All diagnostics, rendered.
std::string rendered(const PlanResult& result);
/// The value of a parameter of a planned step.
const PlannedParameter& parameter(const PlanResult& result, const std::string& id, const std::string& name);
/// The check of a planned step, as configured.
const CheckSettings& check(const PlanResult& result, const std::string& id, const std::string& name);

using Strings = std::vector<std::string>;

}  // namespace lockstep::test
