#include "loader/open_plugin.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <string_view>

#include <fmt/format.h>
#include <boost/dll/shared_library.hpp>

#include "loader/build_id.hpp"

namespace lockstep {
namespace {

using EntryFunction = const PluginEntry*();

/// Libraries stay open for the life of the process: unloading code whose objects are alive crashes, and LibTorch's
/// registrations do not survive it. The registry is leaked so that no destructor closes them at exit either.
struct Registry {
  std::map<std::filesystem::path, boost::dll::shared_library> libraries;
  const char* libtorch = nullptr;
};
Registry& registry() {
  static auto& instance = *new Registry;
  return instance;
}

/// Why `file` cannot be mapped as it is; the dynamic linker would touch pages past its end and the process would die.
std::optional<std::string> cut_off(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  ElfW(Ehdr) header{};
  if (!stream.read(reinterpret_cast<char*>(&header), sizeof header)) return std::nullopt;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(ElfW(Phdr))) {
    return std::nullopt;  // the linker says what is wrong with it
  }
  std::uint64_t end = header.e_phoff + std::uint64_t{header.e_phnum} * sizeof(ElfW(Phdr));
  stream.seekg(static_cast<std::streamoff>(header.e_phoff));
  ElfW(Phdr) segment{};
  for (int i = 0; i < header.e_phnum && stream.read(reinterpret_cast<char*>(&segment), sizeof segment); ++i) {
    if (segment.p_type == PT_LOAD) end = std::max<std::uint64_t>(end, segment.p_offset + segment.p_filesz);
  }
  std::error_code failed;
  const auto size = std::filesystem::file_size(file, failed);
  if (failed || size >= end) return std::nullopt;
  return fmt::format("the file is cut off: it has {} bytes, its segments end at {}", size, end);
}

Diagnostic problem(std::string code, std::string message, std::string help) {
  return {.code = std::move(code), .message = std::move(message), .help = std::move(help)};
}

/// `text` with every mangled C++ name in it demangled.
std::string with_readable_names(std::string_view text) {
  const auto in_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '$'; };
  std::string readable;
  while (!text.empty()) {
    const auto begin = std::min(text.find("_Z"), text.size());
    readable += text.substr(0, begin);
    text.remove_prefix(begin);
    const auto end = static_cast<std::size_t>(std::ranges::find_if_not(text, in_name) - text.begin());
    const std::string name(text.substr(0, end));
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> demangled(
        abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
    readable += demangled != nullptr ? demangled.get() : name;
    text.remove_prefix(end);
  }
  return readable;
}

/// The dynamic linker's reason without the path that it begins with, C++ names made readable.
std::string reason_text(const std::filesystem::path& file) {
  const char* error = dlerror();  // NOLINT(concurrency-mt-unsafe): plugins are opened on one thread
  std::string text = error != nullptr ? error : "the dynamic linker gave no reason";
  const std::string prefix = file.string() + ": ";
  if (text.starts_with(prefix)) text.erase(0, prefix.size());
  return with_readable_names(text);
}

std::string stamp_value(const char* text) { return text != nullptr ? text : "none"; }

}  // namespace

std::optional<std::string> stamp_difference(const PluginStamp& plugin, const char* libtorch) {
  const PluginStamp engine = LOCKSTEP_STAMP;
  if (plugin.magic != engine.magic) return "its stamp does not begin with Lockstep's mark";
  if (plugin.api != engine.api) {
    return fmt::format("it was built for engine API {}, this engine has API {}", plugin.api, engine.api);
  }
  const auto differs = [](const char* what, const char* theirs, const char* ours) -> std::optional<std::string> {
    if (stamp_value(theirs) == stamp_value(ours)) return std::nullopt;
    return fmt::format("its {} is '{}', the engine's is '{}'", what, stamp_value(theirs), stamp_value(ours));
  };
  if (auto d = differs("compiler ABI", plugin.compiler_abi, engine.compiler_abi)) return d;
  if (auto d = differs("standard library", plugin.standard_library, engine.standard_library)) return d;
  if (auto d = differs("sanitizer", plugin.sanitizer, engine.sanitizer)) return d;
  if (plugin.libtorch != nullptr && libtorch != nullptr && std::strcmp(plugin.libtorch, libtorch) != 0) {
    return fmt::format("it was built against LibTorch {}, the plugins opened before it against {}", plugin.libtorch,
                       libtorch);
  }
  return std::nullopt;
}

std::variant<OpenPlugin, Diagnostic> open_plugin(const std::filesystem::path& file, const std::string& step_name) {
  auto& open = registry();
  auto found = open.libraries.find(file);
  if (found == open.libraries.end()) {
    if (const auto reason = cut_off(file)) {
      return problem("L002", fmt::format("plugin '{}' cannot be loaded: {}", file.string(), *reason),
                     "build or copy the plugin again");
    }
    std::error_code failed;
    boost::dll::shared_library library(file, boost::dll::load_mode::rtld_now, failed);
    if (failed) {
      return problem("L002", fmt::format("plugin '{}' cannot be loaded: {}", file.string(), reason_text(file)),
                     "rebuild the plugin, or install the library that it names");
    }
    found = open.libraries.emplace(file, std::move(library)).first;
  }
  const auto& library = found->second;
  if (!library.has(plugin_symbol)) {
    return problem(
        "L003",
        fmt::format("'{}' is a shared library but not a plugin: it has no symbol '{}'", file.string(), plugin_symbol),
        "end the step's source with LOCKSTEP_STEP(\"family.name\", Type)");
  }
  const PluginEntry* entry = nullptr;
  std::string thrown;
  try {
    entry = library.get<EntryFunction>(plugin_symbol)();
  } catch (...) {
    PluginError error{};
    detail::store_current_exception(&error);
    thrown = error.text;
  }
  if (entry == nullptr) {
    return problem("L004",
                   fmt::format("plugin '{}': its entry '{}' {}", file.string(), plugin_symbol,
                               thrown.empty() ? std::string("returned null") : "threw: " + thrown),
                   "let LOCKSTEP_STEP write the entry");
  }
  if (const auto difference = stamp_difference(entry->stamp, open.libtorch)) {
    return problem("L005", fmt::format("plugin '{}' does not fit this engine: {}", file.string(), *difference),
                   "rebuild the plugin with this Lockstep's headers and the same compiler and LibTorch");
  }
  if (entry->stamp.libtorch != nullptr && open.libtorch == nullptr) open.libtorch = entry->stamp.libtorch;
  if (entry->step_name != step_name) {
    return problem(
        "L006",
        fmt::format("plugin '{}' holds the step '{}', expected '{}'", file.string(), entry->step_name, step_name),
        "a plugin's file is named after its step");
  }
  return OpenPlugin{file, build_id_of(reinterpret_cast<const void*>(entry)), entry};
}

}  // namespace lockstep
