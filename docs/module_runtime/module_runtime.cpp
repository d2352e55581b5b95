#include <lockstep/step.hpp>
#include <lockstep/torch.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include "checkpoint/checkpoint.hpp"
#include "runtime/known_profiles.hpp"
#include "runtime/runtime.hpp"
#include "runtime/static_runtime.hpp"

namespace {
using namespace lockstep;

/// A port that grows: stages that a TorchScript module has as methods run there, the others in the native runtime.
class ModuleRuntime final : public gemma4::Runtime {
 public:
  ModuleRuntime(const std::string& file, std::shared_ptr<const gemma4::Runtime> native)
      : file_(file), native_(std::move(native)) {
    translated([&] { module_ = torch::jit::load(file_); });
    module_.eval();
  }

  Tensor token_embedding(const Tensor& input_ids) const override {
    if (!has("token_embedding")) return native_->token_embedding(input_ids);
    return call("token_embedding", {to_torch(input_ids)});
  }
  Tensor vision_prefill(const Tensor& pixel_values, const Tensor& image_position_ids,
                        const TensorVisitor& taps) const override {
    if (!has("vision_prefill")) return native_->vision_prefill(pixel_values, image_position_ids, taps);
    return call("vision_prefill", {to_torch(pixel_values), to_torch(image_position_ids)});
  }
  Tensor fuse(const Tensor& text_embeds, const Tensor& visual_embeds) const override {
    if (!has("fuse")) return native_->fuse(text_embeds, visual_embeds);
    return call("fuse", {to_torch(text_embeds), to_torch(visual_embeds)});
  }

  const gemma4::StaticLayout& layout() const override { return native_->layout(); }
  const gemma4::VisionProfile& profile() const override { return native_->profile(); }
  DType dtype() const override { return native_->dtype(); }
  double mask_fill() const override { return native_->mask_fill(); }
  gemma4::StaticBatch build_static_inputs(const gemma4::RawInputs& raw) const override {
    return native_->build_static_inputs(raw);
  }
  std::optional<Tensor> eager_image_features(const Tensor& pixel_values, const Tensor& positions,
                                             const TensorVisitor& taps) const override {
    return native_->eager_image_features(pixel_values, positions, taps);
  }
  gemma4::AttentionMasks attention_masks(const Tensor& mask) const override { return native_->attention_masks(mask); }
  gemma4::RopeTables rope(const Tensor& position_ids) const override { return native_->rope(position_ids); }
  std::unique_ptr<gemma4::RuntimeSession> start() const override { return native_->start(); }
  std::unique_ptr<gemma4::RuntimeSession> resume(const gemma4::KvCache& cache) const override {
    return native_->resume(cache);
  }

  /// "token_embedding, fuse": what the module does.
  std::string stages() const {
    std::string names;
    for (const auto* name : {"token_embedding", "vision_prefill", "fuse"}) {
      if (has(name)) names += (names.empty() ? "" : ", ") + std::string(name);
    }
    return names;
  }

 private:
  bool has(const std::string& method) const { return module_.find_method(method).has_value(); }

  Tensor call(const std::string& method, std::vector<c10::IValue> arguments) const {
    c10::IValue result;
    translated([&] { result = module_.get_method(method)(std::move(arguments)); });
    if (!result.isTensor()) throw Error{fmt::format("{} returned {}, expected a tensor", method, result.tagKind())};
    return result.toTensor();
  }

  /// What LibTorch throws, as an error of this plugin: the last line, before it come traces.
  void translated(const std::function<void()>& action) const {
    std::string text;
    try {
      return action();
    } catch (const c10::Error& error) {
      text = error.what_without_backtrace();
    } catch (const std::runtime_error& error) {  // the interpreter's own
      text = error.what();
    }
    text.erase(text.find_last_not_of(" \n") + 1);
    throw Error{fmt::format("module '{}': {}", file_, text.substr(text.rfind('\n') + 1)),
                "a method takes and returns what docs/static-runtime.md says of its stage"};
  }

  std::string file_;
  std::shared_ptr<const gemma4::Runtime> native_;
  torch::jit::Module module_;
};

/// Publishes it; takes the place of gemma4.static_runtime.
struct ModuleRuntimeStep final : Step {
  In<gemma4::Checkpoint> checkpoint{*this, "checkpoint", "for the stages that the module does not have"};
  Out<gemma4::Runtime> runtime{*this, "runtime", "what is verified"};

  Param<FilePath> module{*this, "module", "TorchScript file"};
  Param<std::string> profile{*this, "profile", "known vision profile"};
  Param<std::int64_t> max_seq{*this, "max_seq", "slots of a prompt", {.min = 1, .unit = "tokens"}};
  Param<std::string> dtype{*this, "dtype", "dtype of activations", {.choices = {"bfloat16", "float32"}}};

  void run(StepContext& context) override {
    const auto native = gemma4::make_static_runtime(checkpoint.shared(),
                                                    {.profile = gemma4::find_profile(*profile),
                                                     .max_seq = *max_seq,
                                                     .dtype = *dtype == "float32" ? DType::float32 : DType::bfloat16});
    const auto made = std::make_shared<const ModuleRuntime>(module->path.string(), native);
    if (made->stages().empty()) throw Error{fmt::format("module '{}' has no stage", module->path.string())};
    context.summary("the module does " + made->stages());
    runtime = std::shared_ptr<const gemma4::Runtime>(made);
  }
};
}  // namespace

LOCKSTEP_STEP("mine.module_runtime", ModuleRuntimeStep, "runs stages of Gemma 4 in a TorchScript module")
