#include "loader/loader.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <boost/dll/runtime_symbol_info.hpp>
#include <boost/dll/shared_library.hpp>

#include "loader/open_plugin.hpp"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

const std::string& suffix() {
  static const std::string text = boost::dll::shared_library::suffix().string();
  return text;
}

bool is_file_name(const std::string& uses) {
  return !uses.empty() && uses != "." && uses != ".." && uses.find('/') == std::string::npos &&
         uses.find('\0') == std::string::npos;
}

std::optional<fs::path> first_hit(const std::vector<fs::path>& folders, const std::string& uses) {
  if (!is_file_name(uses)) return std::nullopt;
  for (const auto& folder : folders) {
    std::error_code ignored;
    const fs::path file = folder / (uses + suffix());
    // A dangling link is a hit too: it fails to load and says so instead of letting the next folder win.
    if (fs::exists(fs::symlink_status(file, ignored))) return fs::absolute(file);
  }
  return std::nullopt;
}

/// What to do about a plugin that no folder has: a project's build tree often has it.
std::string how_to_find(const std::string& uses) {
  const auto* near = "build/plugins";
  if (first_hit({near}, uses)) return fmt::format("{} has it: add --plugin-path {}", near, near);
  return "name its folder with --plugin-path DIR or LOCKSTEP_PLUGIN_PATH";
}

StepCatalog::Lookup create_step(const OpenPlugin& plugin) {
  PluginError error{};
  Step* step = nullptr;
  try {
    step = plugin.entry->create(&error);
  } catch (...) {
    detail::store_current_exception(&error);
  }
  if (step == nullptr) {
    return {.outcome = StepCatalog::Outcome::not_loadable,
            .diagnostic = {.code = "L007",
                           .message = fmt::format("plugin '{}': the constructor of step '{}' failed: {}",
                                                  plugin.file.string(), plugin.entry->step_name, error.text),
                           .help = "a step's constructor only declares; move work into run"}};
  }
  const std::shared_ptr<Step> owned(step, plugin.entry->destroy);
  return {.outcome = StepCatalog::Outcome::loaded,
          .handle = {.step = owned, .file = plugin.file, .build_id = plugin.build_id, .entry = plugin.entry}};
}

}  // namespace

PluginLoader::PluginLoader(std::vector<fs::path> folders) : folders_(std::move(folders)) {}
PluginLoader::~PluginLoader() = default;

StepCatalog::Lookup PluginLoader::find(const std::string& uses, const fs::path& plugin) {
  std::optional<fs::path> file;
  if (plugin.empty()) {
    file = first_hit(folders_, uses);
    if (!file) {
      std::vector<std::string> tried;
      for (const auto& folder : folders_) tried.push_back(folder.string());
      return {.outcome = Outcome::not_found,
              .diagnostic = {.code = "L001",
                             .message = fmt::format("no plugin for step '{}' was found", uses),
                             .help = fmt::format(
                                 "searched for {}{} in: {}; {}", uses, suffix(),
                                 tried.empty() ? std::string("no folder") : fmt::format("{}", fmt::join(tried, ", ")),
                                 how_to_find(uses))}};
    }
  } else {
    std::error_code ignored;
    if (!fs::exists(fs::symlink_status(plugin, ignored))) {
      return {.outcome = Outcome::not_found,
              .diagnostic = {.code = "L001",
                             .message = fmt::format("plugin file '{}' does not exist", plugin.string()),
                             .help = "correct 'plugin', or leave it out to search the plugin folders"}};
    }
    file = fs::absolute(plugin);
  }
  auto opened = open_plugin(file->lexically_normal(), uses);
  if (auto* diagnostic = std::get_if<Diagnostic>(&opened)) {
    return {.outcome = Outcome::not_loadable, .diagnostic = std::move(*diagnostic)};
  }
  return create_step(std::get<OpenPlugin>(opened));
}

std::vector<std::string> PluginLoader::names() {
  std::set<std::string> names;
  for (const auto& folder : folders_) {
    std::error_code failed;
    for (auto entry = fs::directory_iterator(folder, failed); !failed && entry != fs::directory_iterator();
         entry.increment(failed)) {
      const auto file = entry->path().filename().string();
      if (file.size() > suffix().size() && file.ends_with(suffix())) {
        names.insert(file.substr(0, file.size() - suffix().size()));
      }
    }
  }
  return {names.begin(), names.end()};
}

std::vector<fs::path> PluginLoader::default_folders(const std::vector<fs::path>& plugin_path) {
  std::vector<fs::path> folders;
  const auto add = [&folders](const fs::path& folder) {
    if (!folder.empty()) folders.push_back(fs::absolute(folder).lexically_normal());
  };
  for (const auto& folder : plugin_path) add(folder);
  if (const char* variable = std::getenv("LOCKSTEP_PLUGIN_PATH")) {  // NOLINT(concurrency-mt-unsafe)
    std::string_view rest = variable;
    while (!rest.empty()) {
      const auto colon = std::min(rest.find(':'), rest.size());
      add(rest.substr(0, colon));
      rest.remove_prefix(std::min(colon + 1, rest.size()));
    }
  }
  add(boost::dll::program_location().parent_path() / "../lib/lockstep/plugins");
  return folders;
}

}  // namespace lockstep
