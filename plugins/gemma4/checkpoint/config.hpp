#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <lockstep/export.hpp>
#include <lockstep/tensor.hpp>

// What the JSON files of a checkpoint say, checked: plain values named as in transformers. No arithmetic of the model.

namespace gemma4 {

enum class LayerType : std::uint8_t { sliding_attention, full_attention };

/// Rotary embedding of one layer type: `default` for sliding layers, `proportional` for full ones, `axial` for vision
/// (where JSON also says `default`).
struct RopeConfig {
  double rope_theta = 0;
  double partial_rotary_factor = 1.0;
};

/// What differs between text layers.
struct TextLayerConfig {
  LayerType type = LayerType::sliding_attention;
  std::int64_t head_dim = 0;           ///< `head_dim`; full layers: `global_head_dim` or their `per_layer_config`
  std::int64_t intermediate_size = 0;  ///< doubled on KV-sharing layers if `use_double_wide_mlp`
  bool shares_kv = false;              ///< has no K/V projections of its own: one of the last `num_kv_shared_layers`
};

struct TextConfig {
  std::int64_t vocab_size = 0;
  std::int64_t hidden_size = 0;
  std::int64_t num_hidden_layers = 0;
  std::int64_t num_attention_heads = 0;
  std::int64_t num_key_value_heads = 0;
  std::int64_t num_kv_shared_layers = 0;
  std::int64_t sliding_window = 0;
  std::int64_t max_position_embeddings = 0;
  std::int64_t vocab_size_per_layer_input = 0;
  std::int64_t hidden_size_per_layer_input = 0;
  double rms_norm_eps = 0;
  std::optional<double> final_logit_softcapping;
  RopeConfig sliding_rope;
  RopeConfig full_rope;
  std::vector<TextLayerConfig> layers;  ///< `num_hidden_layers` of them

  /// Of the layers of this type; all have the same.
  [[nodiscard]] LOCKSTEP_API std::int64_t head_dim(LayerType type) const;
};

struct VisionConfig {
  std::int64_t hidden_size = 0;
  std::int64_t intermediate_size = 0;
  std::int64_t num_hidden_layers = 0;
  std::int64_t num_attention_heads = 0;
  std::int64_t num_key_value_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t patch_size = 0;
  std::int64_t pooling_kernel_size = 0;
  std::int64_t position_embedding_size = 0;           ///< rows per axis of the position table
  std::optional<std::int64_t> default_output_length;  ///< soft tokens of a picture; older configs do not say
  double rms_norm_eps = 0;
  bool use_clipped_linears = false;  ///< each projection has input and output bounds
  RopeConfig rope;
};

/// Ids that stand for something else than text. Not every checkpoint has all of them.
struct SpecialTokenIds {
  std::int64_t pad = 0;
  std::optional<std::int64_t> bos;
  std::vector<std::int64_t> eos;  ///< of config.json; GenerationConfig has those that end a text
  std::optional<std::int64_t> image, begin_of_image, end_of_image;
  std::optional<std::int64_t> audio, begin_of_audio, end_of_audio;
  std::optional<std::int64_t> video;
};

/// config.json
struct Config {
  lockstep::DType dtype = lockstep::DType::bfloat16;  ///< of every weight
  TextConfig text;
  std::optional<VisionConfig> vision;  ///< none: a text-only checkpoint
  SpecialTokenIds tokens;
};

/// generation_config.json; config.json says the same with fewer stop tokens and stands in where the file is missing.
struct GenerationConfig {
  std::vector<std::int64_t> eos_token_ids;
};

/// The `image_processor` of processor_config.json, or preprocessor_config.json.
struct ImageProcessorConfig {
  std::int64_t patch_size = 0;
  std::int64_t pooling_kernel_size = 0;
  std::int64_t max_soft_tokens = 0;
  bool do_convert_rgb = true;
  bool do_resize = true;
  bool do_rescale = true;
  double rescale_factor = 0;
  bool do_normalize = false;
  std::vector<double> image_mean;
  std::vector<double> image_std;
};

/// Each reads one JSON file and throws lockstep::Error that lists everything wrong with it: file, key path, what was
/// found, what was expected. Variants of the family that are not supported (mixture of experts, `attention_k_eq_v`,
/// bidirectional attention, …) are refused by name.
[[nodiscard]] LOCKSTEP_API Config read_config(const std::filesystem::path& config_json);
[[nodiscard]] LOCKSTEP_API GenerationConfig read_generation_config(const std::filesystem::path& generation_config_json,
                                                                   const Config& config);
[[nodiscard]] LOCKSTEP_API ImageProcessorConfig read_image_processor_config(const std::filesystem::path& json_file,
                                                                            const VisionConfig& vision);

}  // namespace gemma4
