#include <lockstep/step.hpp>
#include <lockstep/torch.hpp>

#include <set>

#include <fmt/format.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include "torch_calls.hpp"

namespace {
using namespace lockstep;
using Texts = std::vector<std::string>;

/// Calls one method of a TorchScript module with tensors by name.
struct RunTorchScript final : Step {
  In<NamedTensors> inputs{*this, "inputs", "the arguments are taken from it"};
  Out<NamedTensors> outputs{*this, "outputs", "the results"};

  Param<FilePath> module{*this, "module", "TorchScript file, as torch.jit.save writes it"};
  Param<std::string> method{*this, "method", "what is called", {.default_value = "forward"}};
  Param<Texts> arguments{*this, "arguments", "names of the inputs to pass, in the order of the method's arguments"};
  Param<Texts> results{*this,
                       "results",
                       "names of what it returns: of a tensor one, of a tuple or list one each; of a dictionary the "
                       "keys to take, none: all",
                       {.default_value = Texts{}}};

  void run(StepContext& context) override {
    const auto file = "module '" + module->path.string() + "'";
    torch::jit::Module loaded;
    common::translated(file, [&] { loaded = torch::jit::load(module->path.string()); });
    loaded.eval();
    const auto found = loaded.find_method(*method);
    if (!found) throw Error{fmt::format("{} has no method '{}'", file, *method), methods_text(loaded)};

    const auto who = fmt::format("{}, method {}", file, *method);
    std::vector<c10::IValue> values;
    for (auto& tensor : common::arguments_of(who, *inputs, *arguments)) values.emplace_back(std::move(tensor));
    c10::IValue result;
    common::translated(who, [&] { result = (*found)(std::move(values)); });
    auto tensors =
        result.isGenericDict() ? from_dictionary(who, result) : common::named(who, flat(who, result), *results);
    context.summary(fmt::format("{}: {} tensors in, {} out", *method, arguments->size(), tensors.size()));
    outputs = std::move(tensors);
  }

 private:
  static std::string methods_text(const torch::jit::Module& loaded) {
    std::string text;
    for (const auto& each : loaded.get_methods()) text += (text.empty() ? "its methods: " : ", ") + each.name();
    return text;
  }

  static at::Tensor tensor_of(const std::string& who, const std::string& what, const c10::IValue& value) {
    if (!value.isTensor()) throw Error{fmt::format("{}: {} is {}, expected a tensor", who, what, value.tagKind())};
    return value.toTensor();
  }

  /// What a tensor, tuple or list holds.
  static std::vector<at::Tensor> flat(const std::string& who, const c10::IValue& result) {
    if (result.isTensorList()) return result.toTensorVector();
    if (!result.isTuple() && !result.isList()) return {tensor_of(who, "its result", result)};
    std::vector<at::Tensor> tensors;
    const auto elements = result.isTuple() ? result.toTuple()->elements().vec() : result.toListRef().vec();
    tensors.reserve(elements.size());
    for (const auto& element : elements)
      tensors.push_back(tensor_of(who, fmt::format("result {}", tensors.size()), element));
    return tensors;
  }

  [[nodiscard]] NamedTensors from_dictionary(const std::string& who, const c10::IValue& result) const {
    NamedTensors all;
    for (const auto& item : result.toGenericDict()) {
      if (!item.key().isString())
        throw Error{fmt::format("{}: a key of its result is {}, expected a text", who, item.key().tagKind())};
      const auto& key = item.key().toStringRef();
      all.add(key, tensor_of(who, "result '" + key + "'", item.value()));
    }
    if (results->empty()) return all;
    NamedTensors taken;
    for (const auto& name : *results) {
      const auto* tensor = all.find(name);
      if (tensor == nullptr)
        throw Error{Diagnostic{.message = fmt::format("{}: it returned no '{}'", who, name),
                               .did_you_mean = did_you_mean(name, all.names()),
                               .help = all.empty() ? "" : "it returned " + joined(all.names())}};
      taken.add(name, *tensor);
    }
    return taken;
  }

  static std::string joined(const Texts& names) {
    std::string text;
    for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
  }
};
}  // namespace

LOCKSTEP_STEP("common.run_torchscript", RunTorchScript, "calls a method of a TorchScript module")
