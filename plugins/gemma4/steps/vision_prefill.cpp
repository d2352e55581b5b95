#include <lockstep/step.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "reference/reference.hpp"
#include "runtime/runtime.hpp"
#include "steps/ask_runtime.hpp"

namespace {
using namespace lockstep;

using Inner = std::map<std::string, Tensor, std::less<>>;

constexpr std::string_view pooled_name = "vis.scaled";

/// Rows of padding mean nothing and are left out: the first `count` rows of [1, P, width]. Others stay as they are.
Tensor first_rows(const Tensor& tensor, std::int64_t count) {
  if (tensor.dim() != 3 || tensor.size(0) != 1 || tensor.size(1) < count) return tensor;
  return {tensor.owner(), tensor.data(), tensor.dtype(), {1, count, tensor.size(2)}, tensor.strides()};
}

/// Compares the picture's embeddings from the runtime's fixed-shape graph with those of its eager view, and with the
/// reference's. The reference starts from the same pixels and goes its own way from there. A runtime without an eager
/// view, as a device's dump, must agree with the reference instead.
struct VisionPrefill final : Step {
  In<gemma4::StaticBatch> batch{*this, "batch", "padded inputs"};
  In<gemma4::Reference> reference{*this, "reference", "what is right"};
  In<gemma4::Runtime> runtime{*this, "runtime", "what is verified"};
  Out<Tensor> visual_embeds{*this, "visual_embeds", "[num_visual_tokens, hidden]; none without a picture"};

  Param<bool> per_layer{*this,
                        "per_layer",
                        "compare the output of every vision layer and of the pooler as well",
                        {.default_value = false}};

  Check shape{*this, "shape", equal(), "[num_visual_tokens, hidden_size]"};
  Check matches_eager_model{*this, "matches_eager_model", close(), "the runtime's eager view of its vision"};
  Check matches_reference{*this, "matches_reference", norm_wise(),
                          "reference's image features, for a runtime without an eager view"};
  Check peir_vs_float{*this, "peir_vs_float", peir(0.02), "reference's image features from the pixels", Level::inform};
  Check layer_vs_float{*this, "layer_vs_float", peir(0.02), "reference's output of the layer or the pooler",
                       Level::inform};

  void run(StepContext& context) override {
    if (!*per_layer) leave_out(layer_vs_float);
    if (!batch->pixel_values || !batch->image_position_ids) return context.skip("no picture in the prompt");
    const auto& pixels = *batch->pixel_values;
    const auto& positions = *batch->image_position_ids;

    const auto& config = reference->checkpoint().config();
    const auto layers = config.vision->num_hidden_layers;
    Inner actual_inner;
    const auto answer = gemma4::ask_runtime(context, shape, [&] {
      return runtime->vision_prefill(pixels, positions, looking(context, layers, "runtime layer", &actual_inner));
    });
    if (!answer) return;
    const auto& actual = *answer;
    const auto eager =
        runtime->eager_image_features(pixels, positions, looking(context, layers, "eager layer", nullptr));
    Inner expected_inner;
    const auto expected =
        reference->image_features(pixels, positions, looking(context, layers, "reference layer", &expected_inner));

    const std::vector<std::int64_t> sizes{runtime->profile().num_visual_tokens, config.text.hidden_size};
    shape.equal(Expected{sizes}, Actual{actual.sizes()});
    // One of the two is left out: what a quantized runtime computes need not be near the float reference.
    turn_off(eager ? matches_reference : matches_eager_model);
    if (eager) {
      matches_eager_model.compare(Expected{*eager}, Actual{actual});
    } else {
      matches_reference.compare(Expected{expected}, Actual{actual});
      context.record("left_out", "matches_eager_model: the runtime has no eager view");
    }
    peir_vs_float.compare(Expected{expected}, Actual{actual});
    if (*per_layer) compare_inner(expected_inner, actual_inner, layers);
    context.summary(fmt::format("{} tokens of {} x {} patches{}", runtime->profile().num_visual_tokens,
                                runtime->profile().patch_grid_height, runtime->profile().patch_grid_width,
                                eager ? "" : "; no eager view, so the reference judges"));
    visual_embeds = actual;
  }

 private:
  /// Not asked for is not VACUOUS, unless the pipeline requires the check.
  static void leave_out(Check& check) {
    if (check.settings().level != Level::require) turn_off(check);
  }
  static void turn_off(Check& check) { check.configure({.level = Level::off}); }

  /// Reports each layer as progress, and keeps its output and the pooler's if they are asked for.
  [[nodiscard]] TensorVisitor looking(StepContext& context, std::int64_t layers, std::string_view unit,
                                      Inner* inner) const {
    return [this, &context, layers, unit, inner, done = std::int64_t{0}](std::string_view name,
                                                                         const Tensor& tensor) mutable {
      const bool is_layer = name.starts_with("vis.L") && name.ends_with(".out");
      if (*per_layer && inner != nullptr && (is_layer || name == pooled_name)) inner->emplace(name, tensor);
      if (is_layer) context.progress(++done, layers, unit);
    };
  }

  void compare_inner(const Inner& expected, const Inner& actual, std::int64_t layers) {
    const auto valid = runtime->profile().num_valid_patches();
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      compare_one(layer_vs_float.at("layer", layer), fmt::format("vis.L{}.out", layer), expected, actual, valid);
    }
    // The norm behind the pooler hides a wrong scale; here it shows.
    compare_one(layer_vs_float.at("pooler"), std::string(pooled_name), expected, actual, valid);
  }

  static void compare_one(Check::At entry, const std::string& name, const Inner& expected, const Inner& actual,
                          std::int64_t valid) {
    const auto right = expected.find(name);
    const auto found = actual.find(name);
    if (right == expected.end() || found == actual.end()) {
      entry.expect(false,
                   fmt::format("the {} does not show {}", found == actual.end() ? "runtime" : "reference", name));
    } else {
      entry.compare(Expected{first_rows(right->second, valid)}, Actual{first_rows(found->second, valid)});
    }
  }
};
}  // namespace

LOCKSTEP_STEP("gemma4.vision_prefill", VisionPrefill, "verifies the embeddings of the prompt's picture")
