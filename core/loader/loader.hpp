#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pipeline/plan.hpp"

namespace lockstep {

/// Finds and opens plugins. Libraries are opened once (rtld_now, local scope) and never closed.
///
/// The step `family.name` lies in `family.name.so`. First hit in the search order wins; a first hit that does not load
/// is an error with the loader's reason, never a reason to try the next folder.
class LOCKSTEP_API PluginLoader final : public StepCatalog {
 public:
  /// Folders in search order; they need not exist.
  explicit PluginLoader(std::vector<std::filesystem::path> folders);
  ~PluginLoader() override;

  Lookup find(const std::string& uses, const std::filesystem::path& plugin) override;
  std::vector<std::string> names() override;

  [[nodiscard]] const std::vector<std::filesystem::path>& folders() const noexcept { return folders_; }

  /// `--plugin-path` folders, then LOCKSTEP_PLUGIN_PATH (colon-separated), then `../lib/lockstep/plugins` beside the
  /// program.
  [[nodiscard]] static std::vector<std::filesystem::path> default_folders(
      const std::vector<std::filesystem::path>& plugin_path);

 private:
  std::vector<std::filesystem::path> folders_;
};

}  // namespace lockstep
