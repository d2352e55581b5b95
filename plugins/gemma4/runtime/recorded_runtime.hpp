#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <lockstep/export.hpp>
#include <lockstep/tensor.hpp>

#include "checkpoint/checkpoint.hpp"
#include "runtime/runtime.hpp"
#include "runtime/runtime_dump.hpp"
#include "runtime/vision_profile.hpp"

namespace gemma4 {

/// `stages` and those that they read from: who requires mm_fusion requires the embeddings of text and picture too.
[[nodiscard]] LOCKSTEP_API std::set<std::string, std::less<>> with_earlier_stages(
    const std::vector<std::string>& stages);

struct RecordedRuntimeOptions {
  VisionProfile profile;
  std::int64_t max_seq = 2048;
  lockstep::DType dtype = lockstep::DType::bfloat16;  ///< that the dump's activations should have
  double mask_fill = -120;                            ///< that the dump's masks should have
  std::set<std::string, std::less<>> required;        ///< stages
  std::set<LayerType> layer_types;          ///< of the model; masks and tables of the others are not asked for
  std::vector<std::int64_t> cache_layers;   ///< with keys and values of their own
  std::vector<std::int64_t> eos_token_ids;  ///< that end a generated text
};
/// With what the checkpoint says filled in.
[[nodiscard]] LOCKSTEP_API RecordedRuntimeOptions recorded_runtime_options(const Checkpoint& checkpoint);

/// A runtime that computes nothing: it answers with what a device or another program has dumped.
///
/// It knows one prompt, and cannot tell whether a question is about that one: if it is not, the comparisons fail. Where
/// the dump lacks a tensor it throws NotServed, which names it. Tensors are handed out as they are, wrong shapes and
/// dtypes included; judging them is the steps' business.
///
/// | call | tensors |
/// |---|---|
/// | build_static_inputs | build_static_inputs.batch.{raw_input_ids, input_ids, attention_mask, position_ids}; with a
/// picture {pixel_values, image_position_ids} | | token_embedding | token_embedding.text_embeds | | vision_prefill |
/// vision_prefill.visual_embeds; shown if there: vision_prefill.vis.L0.out, … | | eager_image_features |
/// vision_prefill.eager_image_features; none if it is not there | | fuse | mm_fusion.fused_embeds |
///
/// Throws lockstep::Error if the layout is impossible or the profile does not fit into it.
[[nodiscard]] LOCKSTEP_API std::shared_ptr<const Runtime> make_recorded_runtime(RuntimeDump dump,
                                                                                const RecordedRuntimeOptions& options);

}  // namespace gemma4
