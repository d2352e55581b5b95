// The layout of the public types belongs to the engine interface number of a plugin's stamp: one cannot change without
// the other.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <lockstep/safetensors.hpp>
#include <lockstep/step.hpp>

#include "catch.hpp"

using namespace lockstep;

namespace {

/// The layout as text: one line per type, then its members and virtual functions.
class Layout {
 public:
  template <class T>
  Layout& type(std::string_view name) {
    text_ << name << " size " << sizeof(T) << " align " << alignof(T) << '\n';
    return *this;
  }
  template <class T, class M>
  Layout& member(std::string_view name, M T::*place) {
    alignas(T) static std::array<std::byte, sizeof(T)> storage{};
    const auto* object = reinterpret_cast<const T*>(storage.data());
    text_ << "  " << name << " at " << reinterpret_cast<const std::byte*>(&(object->*place)) - storage.data() << '\n';
    return *this;
  }
  /// In the Itanium ABI a pointer to a virtual function holds the function's offset in the table, plus one on x86-64.
  template <class F>
  Layout& slot(std::string_view name, F function) {
    std::uintptr_t first = 0;
    std::memcpy(&first, &function, sizeof first);
    text_ << "  " << name << " in slot " << (first - 1) / sizeof(void*) << '\n';
    return *this;
  }
  template <class E>
  Layout& values(std::string_view name, E last) {
    text_ << name << ':';
    for (int i = 0; i <= static_cast<int>(last); ++i) text_ << ' ' << name_of(static_cast<E>(i));
    text_ << '\n';
    return *this;
  }
  [[nodiscard]] std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
};

struct AnyStep final : Step {
  void run(StepContext&) override {}
};

std::string layout() {
  Layout l;
  l.type<PluginStamp>("PluginStamp").member("magic", &PluginStamp::magic).member("api", &PluginStamp::api);
  l.member("compiler_abi", &PluginStamp::compiler_abi).member("standard_library", &PluginStamp::standard_library);
  l.member("sanitizer", &PluginStamp::sanitizer).member("libtorch", &PluginStamp::libtorch);
  l.type<EnvironmentSettings>("EnvironmentSettings").member("threads", &EnvironmentSettings::threads);
  l.member("seed", &EnvironmentSettings::seed).member("kernels", &EnvironmentSettings::kernels);
  l.type<EnvironmentHook>("EnvironmentHook").member("configure", &EnvironmentHook::configure);
  l.member("describe", &EnvironmentHook::describe).member("around", &EnvironmentHook::around);
  l.type<PluginError>("PluginError");
  l.type<PluginEntry>("PluginEntry").member("stamp", &PluginEntry::stamp).member("step_name", &PluginEntry::step_name);
  l.member("summary", &PluginEntry::summary).member("create", &PluginEntry::create);
  l.member("destroy", &PluginEntry::destroy).member("environment", &PluginEntry::environment);

  l.type<Tensor>("Tensor").type<NamedTensors>("NamedTensors").type<SafetensorsFile>("SafetensorsFile");
  l.values("DType", DType::float64);
  l.type<Value>("Value").member("data", &Value::data);

  l.type<SourceText>("SourceText").member("name", &SourceText::name).member("text", &SourceText::text);
  l.type<Location>("Location").member("source", &Location::source).member("line", &Location::line);
  l.member("column", &Location::column).member("length", &Location::length);
  l.type<Diagnostic>("Diagnostic").member("code", &Diagnostic::code).member("message", &Diagnostic::message);
  l.member("location", &Diagnostic::location).member("did_you_mean", &Diagnostic::did_you_mean);
  l.member("notes", &Diagnostic::notes).member("help", &Diagnostic::help);
  l.type<Error>("Error").type<Interrupted>("Interrupted");

  l.type<ParamInfo>("ParamInfo").member("name", &ParamInfo::name).member("kind", &ParamInfo::kind);
  l.member("list", &ParamInfo::list).member("optional", &ParamInfo::optional).member("doc", &ParamInfo::doc);
  l.member("unit", &ParamInfo::unit).member("default_value", &ParamInfo::default_value);
  l.member("min", &ParamInfo::min).member("max", &ParamInfo::max).member("choices", &ParamInfo::choices);
  l.type<ParamBase>("ParamBase").type<Param<bool>>("Param<bool>").type<Param<std::int64_t>>("Param<int64>");
  l.type<Param<double>>("Param<double>").type<Param<std::string>>("Param<string>");
  l.type<Param<FilePath>>("Param<FilePath>").type<Param<std::vector<std::string>>>("Param<vector<string>>");
  l.type<Rules>("Rules").type<Rules::Finding>("Rules::Finding").member("parameter", &Rules::Finding::parameter);
  l.member("message", &Rules::Finding::message).member("help", &Rules::Finding::help);

  l.type<PortInfo>("PortInfo").member("name", &PortInfo::name).member("type", &PortInfo::type);
  l.member("doc", &PortInfo::doc).member("optional", &PortInfo::optional);
  l.type<InPort>("InPort").type<In<Tensor>>("In<Tensor>");
  l.type<OutPort>("OutPort").slot("visit", &OutPort::visit).type<Out<Tensor>>("Out<Tensor>");

  l.values("Metric", Metric::expect).values("Level", Level::off).values("Verdict", Verdict::vacuous);
  l.type<Bound>("Bound").member("rtol", &Bound::rtol).member("atol", &Bound::atol).member("max", &Bound::max);
  l.member("min", &Bound::min).member("k", &Bound::k);
  l.type<Criterion>("Criterion").member("metric", &Criterion::metric).member("bound", &Criterion::bound);
  l.type<CheckInfo>("CheckInfo").member("name", &CheckInfo::name).member("criterion", &CheckInfo::criterion);
  l.member("level", &CheckInfo::level).member("doc", &CheckInfo::doc);
  l.type<CheckSettings>("CheckSettings").member("bound", &CheckSettings::bound);
  l.member("level", &CheckSettings::level).member("on_vacuous", &CheckSettings::on_vacuous);
  l.member("non_finite", &CheckSettings::non_finite).member("bound_source", &CheckSettings::bound_source);
  l.type<CheckResult>("CheckResult").member("name", &CheckResult::name).member("subject", &CheckResult::subject);
  l.member("verdict", &CheckResult::verdict).member("value", &CheckResult::value);
  l.member("bound", &CheckResult::bound).member("compared", &CheckResult::compared);
  l.member("ladder", &CheckResult::ladder).member("message", &CheckResult::message);
  l.member("statistics", &CheckResult::statistics).member("worst", &CheckResult::worst);
  l.type<Check>("Check").type<Check::At>("Check::At");

  l.type<Step::Declarations>("Step::Declarations").member("inputs", &Step::Declarations::inputs);
  l.member("outputs", &Step::Declarations::outputs).member("parameters", &Step::Declarations::parameters);
  l.member("checks", &Step::Declarations::checks);
  l.type<AnyStep>("Step").slot("validate", &Step::validate).slot("run", &Step::run);
  l.type<StepContext>("StepContext").slot("step_id", &StepContext::step_id);
  l.slot("progress", &StepContext::progress).slot("skip", &StepContext::skip).slot("summary", &StepContext::summary);
  l.slot("set_threads", &StepContext::set_threads).slot("threads", &StepContext::threads);
  l.slot("environment", &StepContext::environment).slot("record", &StepContext::record);
  return l.text();
}

const std::filesystem::path folder = std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "tests/layout/golden";

}  // namespace

// The recorded numbers are those of x86-64 and libstdc++; other machines build plugins and engine alike, by one
// compiler.
#if defined(__x86_64__) && defined(__GLIBCXX__) && defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI
TEST_CASE("the layout of the public types is the one that belongs to the engine interface number") {
  const auto file = folder / ("api_" + std::to_string(engine_api_version) + ".txt");
  const auto actual = layout();
  const bool is_new = !std::filesystem::exists(file);
  if (is_new && std::getenv("LOCKSTEP_UPDATE_GOLDEN") != nullptr) std::ofstream(file) << actual;
  std::ifstream stream(file);
  const std::string recorded{std::istreambuf_iterator<char>(stream), {}};
  const std::string advice =
      is_new
          ? "no layout is recorded for this engine_api_version: record it with LOCKSTEP_UPDATE_GOLDEN=1 and remove the "
            "file of the version before"
          : "a plugin built before this change would misread these types: raise engine_api_version in "
            "core/include/lockstep/plugin.hpp, then record the new layout with LOCKSTEP_UPDATE_GOLDEN=1. A recorded "
            "layout is never recorded anew under its number. docs/compatibility.md has the rules";
  INFO(advice);
  CHECK(actual == recorded);
}
#endif
