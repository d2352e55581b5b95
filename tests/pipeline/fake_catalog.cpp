#include "fake_catalog.hpp"

#include <stdexcept>

namespace {
/// A result that cannot be sent to another process.
struct Engine {};
}  // namespace

LOCKSTEP_PORT_TYPE(Engine, "test.engine/1");

namespace lockstep::test {
namespace {

struct MakesEngine final : Step {
  Out<Engine> engine{*this, "engine", "stays in its process"};
  void run(StepContext&) override {}
};

struct ReadsEngine final : Step {
  In<Engine> engine{*this, "engine", "from test.engine"};
  void run(StepContext&) override {}
};

struct Source final : Step {
  Out<Tensor> batch{*this, "batch", "numbers"};
  Out<std::string> caption{*this, "caption", "words"};
  void run(StepContext&) override {}
};

struct Other final : Step {
  Out<Tensor> batch{*this, "batch", "other numbers"};
  void run(StepContext&) override {}
};

struct Words final : Step {
  Out<std::string> batch{*this, "batch", "words"};
  void run(StepContext&) override {}
};

struct MakesSet final : Step {
  Out<NamedTensors> tensors{*this, "tensors", "a set"};
  void run(StepContext&) override {}
};

struct ReadsSet final : Step {
  In<NamedTensors> tensors{*this, "tensors", "a set"};
  void run(StepContext&) override {}
};

struct Reader final : Step {
  In<Tensor> batch{*this, "batch", "numbers"};
  In<Tensor> mask{*this, "mask", "which count", optional};
  Check near{*this, "near", close(), "the reference"};
  Check nearer{*this, "nearer", close(1e-3, 1e-5), "the reference"};
  Check same{*this, "same", bits(), "the same bits"};
  Check error{*this, "error", peir(0.1), "the float model", Level::inform};
  Check agreement{*this, "agreement", topk(5, 0.9), "the reference's ranking"};
  void run(StepContext&) override {}
};

struct Params final : Step {
  Param<bool> flag{*this, "flag", "a switch", {.default_value = false}};
  Param<std::int64_t> count{*this, "count", "how many", {.default_value = 3, .min = 1, .max = 8}};
  Param<double> ratio{*this, "ratio", "how much", {.default_value = 0.5, .min = 0.0, .max = 1.0}};
  Param<std::string> text{*this, "text", "words", {.default_value = "none"}};
  Param<std::string> dtype{*this, "dtype", "dtype", {.default_value = "bfloat16", .choices = {"bfloat16", "float32"}}};
  Param<FilePath> file{*this, "file", "a file", {.optional = true}};
  Param<FolderPath> folder{*this, "folder", "a folder", {.optional = true}};
  Param<std::vector<std::int64_t>> sizes{*this, "sizes", "sizes", {.optional = true}};
  Param<std::vector<std::string>> names{*this, "names", "names", {.optional = true}};
  Param<std::vector<FilePath>> files{*this, "files", "files", {.optional = true}};
  void run(StepContext&) override {}
};

struct Required final : Step {
  Param<std::int64_t> size{*this, "size", "padded length", {.min = 1, .max = 8, .unit = "tokens"}};
  Param<double> floor{*this, "floor", "a lower limit only", {.default_value = 1.0, .min = 0.0}};
  Param<double> ceiling{*this, "ceiling", "an upper limit only", {.default_value = 1.0, .max = 2.0}};
  void run(StepContext&) override {}
};

struct WithRules final : Step {
  Param<std::int64_t> low{*this, "low", "lower end", {.default_value = 5}};
  Param<std::int64_t> high{*this, "high", "upper end", {.default_value = 9}};
  void validate(Rules& rules) const override {
    if (*low > *high) rules.error(high, "high is less than low", "raise high");
  }
  void run(StepContext&) override {}
};

struct Throws final : Step {
  void validate(Rules&) const override { throw std::runtime_error("no such layer"); }
  void run(StepContext&) override {}
};

struct Foreign final : Step {
  void validate(Rules&) const override { throw 7; }  // NOLINT(hicpp-exception-baseclass): that is the point
  void run(StepContext&) override {}
};

struct Explodes final : Step {
  Explodes() { throw std::runtime_error("out of fuel"); }
  void run(StepContext&) override {}
};

template <class T>
std::shared_ptr<Step> make() {
  return std::make_shared<T>();
}

}  // namespace

FakeCatalog::FakeCatalog()
    : factories_{{"test.source", make<Source>},      {"test.other", make<Other>},
                 {"test.words", make<Words>},        {"test.reader", make<Reader>},
                 {"test.params", make<Params>},      {"test.required", make<Required>},
                 {"test.rules", make<WithRules>},    {"test.throws", make<Throws>},
                 {"test.foreign", make<Foreign>},    {"test.explodes", make<Explodes>},
                 {"test.engine", make<MakesEngine>}, {"test.engine_reader", make<ReadsEngine>},
                 {"test.set", make<MakesSet>},       {"test.set_reader", make<ReadsSet>}} {}

StepCatalog::Lookup FakeCatalog::find(const std::string& uses, const std::filesystem::path& plugin) {
  if (!plugin.empty()) plugins_asked_for.push_back(plugin.string());
  Lookup result;
  if (uses == "test.broken") {
    result.outcome = Outcome::not_loadable;
    result.diagnostic.code = "L002";
    result.diagnostic.message = "plugin 'test.broken.so' cannot be loaded: undefined symbol: frobnicate";
    return result;
  }
  const auto factory = factories_.find(uses);
  if (factory == factories_.end()) {
    result.diagnostic.code = "L001";
    result.diagnostic.message = "no plugin for step '" + uses + "' was found";
    return result;
  }
  result.outcome = Outcome::loaded;
  result.handle.step = factory->second();
  return result;
}

std::vector<std::string> FakeCatalog::names() {
  std::vector<std::string> result;
  for (const auto& [name, factory] : factories_) result.push_back(name);
  return result;
}

}  // namespace lockstep::test
