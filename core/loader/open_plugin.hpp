#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <variant>

#include <lockstep/diagnostic.hpp>
#include <lockstep/plugin.hpp>

namespace lockstep {

/// A plugin whose library is open, whose stamp fits and whose step has the expected name.
struct OpenPlugin {
  std::filesystem::path file;  ///< absolute
  std::string build_id;
  const PluginEntry* entry = nullptr;
};

/// Opens `file` (absolute) once in the life of the process, never closes it, and checks all that can be checked before
/// C++ of the plugin is called. On failure a diagnostic of the family L without a location.
[[nodiscard]] std::variant<OpenPlugin, Diagnostic> open_plugin(const std::filesystem::path& file,
                                                               const std::string& step_name);

/// What differs between the engine's stamp and a plugin's, one sentence; nothing if they fit.
/// `libtorch` is the version that other open plugins were built against, null if there is none yet.
[[nodiscard]] LOCKSTEP_API std::optional<std::string> stamp_difference(const PluginStamp& plugin, const char* libtorch);

}  // namespace lockstep
