#pragma once

#include <cstdint>

#include <lockstep/export.hpp>

// What a plugin's shared library exports. Authors use LOCKSTEP_STEP at the end of <lockstep/step.hpp> and need none of
// this.

namespace lockstep {

class Step;

/// Raised when a public header changes in a way that an older plugin would misread. docs/compatibility.md has the
/// rules.
inline constexpr std::uint32_t engine_api_version = 3;

/// Compared field by field before any C++ of the plugin is called. Plain C: readable whatever built the plugin.
struct PluginStamp {
  std::uint32_t magic;           ///< 0x4c4f434b, "LOCK"
  std::uint32_t api;             ///< engine_api_version
  const char* compiler_abi;      ///< "gxx-abi 1016"
  const char* standard_library;  ///< "libstdc++ cxx11 abi 1"
  const char* sanitizer;         ///< "none", "address", "thread"
  const char* libtorch;          ///< version it was built against, null if it links none
};

/// A pipeline's [environment] as a library with state of its own takes it.
struct EnvironmentSettings {
  int threads;  ///< 0: leave for later
  std::uint64_t seed;
  const char* kernels;  ///< "auto" or "torch"
};

/// Between the engine and a library with state of its own (LibTorch). Lives in lockstep_torch.
struct EnvironmentHook {
  /// After loading, and when a step sets the threads.
  void (*configure)(const EnvironmentSettings* settings);
  /// Calls `field(context, key, value)` for each record field: "libtorch", "cpu_capability", … Before the first step,
  /// and after each, since what computed is known only then.
  void (*describe)(void (*field)(void* context, const char* key, const char* value), void* context);
  /// Runs `body(context)` in inference mode; exceptions pass through.
  void (*around)(void (*body)(void* context), void* context);
};

/// A caller-owned buffer for the text of what went wrong.
struct PluginError {
  char text[1024];
};

/// All that the engine calls. No exception crosses these functions, except those of core types from Step's own methods.
struct PluginEntry {
  PluginStamp stamp;
  const char* step_name;                ///< "gemma4.token_embedding", equal to the file's name
  const char* summary;                  ///< one line, for `list`
  Step* (*create)(PluginError* error);  ///< null on failure, with the text set
  void (*destroy)(Step* step);
  const EnvironmentHook* (*environment)();  ///< null: no hook
};

/// The one symbol of a plugin: `const lockstep::PluginEntry* lockstep_plugin()`.
inline constexpr const char* plugin_symbol = "lockstep_plugin";
inline constexpr std::uint32_t plugin_magic = 0x4c4f434b;

#define LOCKSTEP_STRINGIZE_(x) #x
#define LOCKSTEP_STRINGIZE(x) LOCKSTEP_STRINGIZE_(x)

#if defined(__SANITIZE_ADDRESS__)
#define LOCKSTEP_SANITIZER "address"
#elif defined(__SANITIZE_THREAD__)
#define LOCKSTEP_SANITIZER "thread"
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LOCKSTEP_SANITIZER "address"
#elif __has_feature(thread_sanitizer)
#define LOCKSTEP_SANITIZER "thread"
#endif
#endif
#ifndef LOCKSTEP_SANITIZER
#define LOCKSTEP_SANITIZER "none"
#endif

#if defined(_GLIBCXX_USE_CXX11_ABI)
#define LOCKSTEP_STANDARD_LIBRARY "libstdc++ cxx11 abi " LOCKSTEP_STRINGIZE(_GLIBCXX_USE_CXX11_ABI)
#elif defined(_LIBCPP_ABI_VERSION)
#define LOCKSTEP_STANDARD_LIBRARY "libc++ abi " LOCKSTEP_STRINGIZE(_LIBCPP_ABI_VERSION)
#else
#define LOCKSTEP_STANDARD_LIBRARY "unknown"
#endif

// The Itanium ABI is common to g++ and clang, so the compiler's name does not matter.
#define LOCKSTEP_COMPILER_ABI "itanium"

#ifdef LOCKSTEP_LIBTORCH_VERSION  // set by linking lockstep::torch
#define LOCKSTEP_STAMP_LIBTORCH LOCKSTEP_LIBTORCH_VERSION
}  // namespace lockstep
extern "C" LOCKSTEP_API const lockstep::EnvironmentHook* lockstep_torch_environment();
namespace lockstep {
#define LOCKSTEP_ENVIRONMENT &lockstep_torch_environment
#else
#define LOCKSTEP_STAMP_LIBTORCH nullptr
#define LOCKSTEP_ENVIRONMENT nullptr
#endif

/// The stamp of the translation unit that names it.
#define LOCKSTEP_STAMP                                                                                          \
  {                                                                                                             \
    ::lockstep::plugin_magic, ::lockstep::engine_api_version, LOCKSTEP_COMPILER_ABI, LOCKSTEP_STANDARD_LIBRARY, \
        LOCKSTEP_SANITIZER, LOCKSTEP_STAMP_LIBTORCH                                                             \
  }

namespace detail {
/// Copies the text of the exception in flight; call it in a catch block.
LOCKSTEP_API void store_current_exception(PluginError* error) noexcept;

template <class T>
Step* create_step(PluginError* error) noexcept {
  try {
    return new T();
  } catch (...) {
    store_current_exception(error);
    return nullptr;
  }
}
LOCKSTEP_API void destroy_step(Step* step) noexcept;
}  // namespace detail

/// Makes the library that this file is compiled into the plugin of step `name`. Once per library, at global scope.
#define LOCKSTEP_STEP(name, Type, ...)                                                 \
  extern "C" LOCKSTEP_API const ::lockstep::PluginEntry* lockstep_plugin() {           \
    static const ::lockstep::PluginEntry entry{LOCKSTEP_STAMP,                         \
                                               name,                                   \
                                               "" __VA_ARGS__,                         \
                                               &::lockstep::detail::create_step<Type>, \
                                               &::lockstep::detail::destroy_step,      \
                                               LOCKSTEP_ENVIRONMENT};                  \
    return &entry;                                                                     \
  }

}  // namespace lockstep
