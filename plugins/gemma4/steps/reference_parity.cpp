#include <lockstep/step.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <lockstep/safetensors.hpp>
#include <lockstep/torch.hpp>

#include "recording/recorded_checkpoint.hpp"
#include "reference/native_reference.hpp"
#include "steps/fingerprint_here.hpp"
#include "steps/recorded_images.hpp"
#include "steps/recorded_passes.hpp"
#include "steps/recorded_prompt.hpp"
#include "steps/recording_comparison.hpp"

namespace {
using namespace lockstep;

/// Computes a recording again with the native reference and compares every tensor of it, bit for bit where the
/// recording was made on a machine like this one.
struct ReferenceParity final : Step {
  In<gemma4::Checkpoint> checkpoint{*this, "checkpoint", "the checkpoint that was recorded"};
  Param<FolderPath> recording{*this, "recording", "folder that tools/record_hf.py wrote"};
  Param<FolderPath> images{*this,
                           "images",
                           "folder with the recorded pictures; without it the recorded pixel values are taken",
                           {.optional = true}};

  Check same_bits{*this, "same_bits", bits(), "transformers' tensor, on a machine like this one or of integers"};
  Check within_norm{*this, "within_norm", norm_wise(), "transformers' tensor, on another machine"};
  Check same_tokens{*this, "same_tokens", expect(), "transformers' greedy tokens, where another machine chose others",
                    Level::inform};

  void run(StepContext& context) override {
    const auto recorded = gemma4::Recording::open(recording->path);
    const auto threads = static_cast<int>(recorded.fingerprint().threads);
    context.set_threads(threads);
    context.environment("dtype", std::string(name_of(recorded.dtype())));
    if (recorded.attention() != "eager") {
      throw Error{fmt::format("the recording was made with {} attention, expected eager", recorded.attention()),
                  "record again with tools/record_hf.py --attention eager"};
    }
    require_recorded_checkpoint(recorded, *checkpoint);

    const auto differing = differences(recorded.fingerprint(), gemma4::fingerprint_here(threads));
    context.record("fingerprint_matches", differing.empty());
    context.record("fingerprint_differences", Value::Array(differing.begin(), differing.end()));
    gemma4::RecordingComparison compare(recorded, differing.empty(), {same_bits, within_norm, same_tokens});
    if (recorded.has_file() || differing.empty()) compute(recorded, compare);

    const auto skipped = compare.not_compared();
    context.record("not_compared", Value::Array(skipped.begin(), skipped.end()));
    context.summary(fmt::format("{} tensors of {} compared{}", compare.compared(), recorded.tensors().size(),
                                differing.empty() ? "" : "; recorded on another machine"));
  }

 private:
  void compute(const gemma4::Recording& recorded, gemma4::RecordingComparison& compare) const {
    const TensorVisitor taps = [&](std::string_view name, const Tensor& tensor) { compare(name, tensor); };
    const auto reference = gemma4::make_native_reference(checkpoint.shared(), recorded.dtype());
    std::optional<gemma4::RecordedPixels> pixels;
    if (!recorded.inputs().images.empty()) {
      const bool from_pictures = images.has_value() && !images->path.empty();
      pixels = from_pictures ? gemma4::process_recorded_images(recorded, *checkpoint, images->path, taps)
                             : gemma4::taken_pixels(recorded);
    }

    const auto soft_tokens = pixels ? pixels->soft_tokens : std::vector<std::int64_t>();
    const auto prompt = gemma4::process_recorded_prompt(recorded, *checkpoint, soft_tokens);
    compare("tok.ids", prompt.ids);
    compare("tok.attention_mask", prompt.attention_mask);
    compare("tok.mm_token_type_ids", prompt.mm_token_type_ids);

    const auto pad = checkpoint->config().tokens.pad;
    compare("llm.pad_embed", reference->token_embedding(Tensor::copy_of(std::span(&pad, 1), {1, 1})));
    gemma4::ModelInputs inputs{.input_ids = prompt.ids,
                               .attention_mask = prompt.attention_mask,
                               .pixel_values = std::nullopt,
                               .image_position_ids = std::nullopt};
    if (pixels) {
      inputs.pixel_values =
          recorded.cast_pixels() ? Tensor(to_torch(pixels->values).to(to_torch(recorded.dtype()))) : pixels->values;
      inputs.image_position_ids = pixels->positions;
    } else if (const auto& vision = checkpoint->config().vision) {
      show_vision_frequencies(*reference, *vision, taps);
    }
    gemma4::replay_passes(*reference, inputs, recorded, compare);
  }

  /// The recorder keeps the tower's frequencies even where there is no picture; the smallest picture shows them.
  static void show_vision_frequencies(const gemma4::Reference& reference, const gemma4::VisionConfig& vision,
                                      const TensorVisitor& taps) {
    const auto patches = vision.pooling_kernel_size * vision.pooling_kernel_size;
    const std::vector<float> pixels(static_cast<std::size_t>(patches * 3 * vision.patch_size * vision.patch_size));
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < patches; ++i) {
      places.insert(places.end(), {i % vision.pooling_kernel_size, i / vision.pooling_kernel_size});
    }
    const TensorVisitor frequencies = [&](std::string_view name, const Tensor& tensor) {
      if (name == "vis.rope.inv_freq") taps(name, tensor);
    };
    static_cast<void>(reference.image_features(
        Tensor::copy_of(std::span<const float>(pixels), {1, patches, 3 * vision.patch_size * vision.patch_size}),
        Tensor::copy_of(std::span<const std::int64_t>(places), {1, patches, 2}), frequencies));
  }
};
}  // namespace

LOCKSTEP_STEP("gemma4.reference_parity", ReferenceParity, "the native reference against a recording of transformers")
