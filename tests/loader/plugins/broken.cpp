// One broken plugin per VARIANT_…; everything else about it is right.
#include <stdexcept>

#include <lockstep/step.hpp>

#if defined(VARIANT_UNDEFINED_SYMBOL)
namespace elsewhere {
int defined_nowhere(int value);
}
#elif defined(VARIANT_MISSING_DEPENDENCY)
int vanished_function();
#endif

namespace {

struct Broken final : lockstep::Step {
#if defined(VARIANT_CONSTRUCTOR_THROWS)
  Broken() { throw std::runtime_error("no luck today"); }
#elif defined(VARIANT_CONSTRUCTOR_THROWS_INT)
  Broken() { throw 42; }
#endif
  void run(lockstep::StepContext&) override {
#if defined(VARIANT_UNDEFINED_SYMBOL)
    elsewhere::defined_nowhere(1);
#elif defined(VARIANT_MISSING_DEPENDENCY)
    vanished_function();
#endif
  }
};

#if defined(VARIANT_WRONG_API) || defined(VARIANT_WRONG_LIBRARY) || defined(VARIANT_NO_STAMP) || \
    defined(VARIANT_LIBTORCH_ONE) || defined(VARIANT_LIBTORCH_TWO)
[[maybe_unused]] constexpr lockstep::PluginStamp right = LOCKSTEP_STAMP;

lockstep::PluginEntry entry_with(const char* name) {
  return {right, name, "", &lockstep::detail::create_step<Broken>, &lockstep::detail::destroy_step, nullptr};
}
#endif

}  // namespace

#if defined(VARIANT_WRONG_API)
extern "C" LOCKSTEP_API const lockstep::PluginEntry* lockstep_plugin() {
  static auto entry = entry_with("bad.wrong_api");
  entry.stamp.api = 999;
  return &entry;
}
#elif defined(VARIANT_WRONG_LIBRARY)
extern "C" LOCKSTEP_API const lockstep::PluginEntry* lockstep_plugin() {
  static auto entry = entry_with("bad.wrong_library");
  entry.stamp.standard_library = "libc++ abi 1";
  return &entry;
}
#elif defined(VARIANT_NO_STAMP)
extern "C" LOCKSTEP_API const lockstep::PluginEntry* lockstep_plugin() {
  static auto entry = entry_with("bad.no_stamp");
  entry.stamp.magic = 0;
  return &entry;
}
#elif defined(VARIANT_LIBTORCH_ONE)
extern "C" LOCKSTEP_API const lockstep::PluginEntry* lockstep_plugin() {
  static auto entry = entry_with("bad.libtorch_one");
  entry.stamp.libtorch = "1.0.0";
  return &entry;
}
#elif defined(VARIANT_LIBTORCH_TWO)
extern "C" LOCKSTEP_API const lockstep::PluginEntry* lockstep_plugin() {
  static auto entry = entry_with("bad.libtorch_two");
  entry.stamp.libtorch = "2.0.0";
  return &entry;
}
#elif defined(VARIANT_NO_ENTRY)
LOCKSTEP_API lockstep::Step* something_else();
lockstep::Step* something_else() { return new Broken; }
#elif defined(VARIANT_ENTRY_THROWS)
extern "C" LOCKSTEP_API const lockstep::PluginEntry* lockstep_plugin() { throw std::runtime_error("entry refused"); }
LOCKSTEP_API lockstep::Step* something_else();
lockstep::Step* something_else() { return new Broken; }
#elif defined(VARIANT_ENTRY_NULL)
extern "C" LOCKSTEP_API const lockstep::PluginEntry* lockstep_plugin() { return nullptr; }
LOCKSTEP_API lockstep::Step* something_else();
lockstep::Step* something_else() { return new Broken; }
#elif defined(VARIANT_OTHER_NAME)
LOCKSTEP_STEP("good.other", Broken)
#elif defined(VARIANT_CONSTRUCTOR_THROWS)
LOCKSTEP_STEP("bad.constructor_throws", Broken)
#elif defined(VARIANT_CONSTRUCTOR_THROWS_INT)
LOCKSTEP_STEP("bad.constructor_throws_int", Broken)
#elif defined(VARIANT_UNDEFINED_SYMBOL)
LOCKSTEP_STEP("bad.undefined_symbol", Broken)
#elif defined(VARIANT_MISSING_DEPENDENCY)
LOCKSTEP_STEP("bad.missing_dependency", Broken)
#endif
