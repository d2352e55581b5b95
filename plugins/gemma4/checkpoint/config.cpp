#include "checkpoint/config.hpp"

#include <fmt/format.h>

#include "checkpoint/json_reader.hpp"
#include "checkpoint/limits.hpp"
#include "checkpoint/text_config.hpp"

namespace gemma4 {
namespace {

lockstep::DType read_dtype(const JsonReader& root) {
  // Older files say torch_dtype.
  const auto* key = root.has("dtype") || !root.has("torch_dtype") ? "dtype" : "torch_dtype";
  const auto name = root.text(key);
  for (const auto dtype : {lockstep::DType::bfloat16, lockstep::DType::float16, lockstep::DType::float32}) {
    if (name == name_of(dtype)) return dtype;
  }
  if (!name.empty()) root.problem(key, fmt::format("is \"{}\", expected bfloat16, float16 or float32", name));
  return lockstep::DType::bfloat16;
}

VisionConfig read_vision_config(const JsonReader& vision) {
  vision.require("model_type", "gemma4_vision", "only the vision tower of Gemma 4 is supported");
  vision.require("standardize", false, "vision towers that standardize their output are not supported");
  vision.require("attention_bias", false, "projections with a bias are not supported");
  vision.require("hidden_activation", "gelu_pytorch_tanh", "other activations are not supported");

  VisionConfig config;
  config.hidden_size = vision.integer("hidden_size", size_range);
  config.intermediate_size = vision.integer("intermediate_size", size_range);
  config.num_hidden_layers = vision.integer("num_hidden_layers", layer_range);
  config.num_attention_heads = vision.integer("num_attention_heads", head_range);
  config.num_key_value_heads = vision.integer("num_key_value_heads", head_range);
  config.head_dim = vision.integer("head_dim", size_range);
  config.patch_size = vision.integer("patch_size", {1, 1024});
  config.pooling_kernel_size = vision.integer("pooling_kernel_size", {1, 1024});
  config.position_embedding_size = vision.integer("position_embedding_size", size_range);
  config.default_output_length = vision.optional_integer("default_output_length", size_range);
  config.rms_norm_eps = vision.positive("rms_norm_eps");
  config.use_clipped_linears = vision.boolean_or("use_clipped_linears", false);
  config.rope = read_rope(vision.object("rope_parameters"), {"axial", "default"});

  if (!vision.sound()) return config;
  if (config.head_dim % 4 != 0) {
    vision.problem("head_dim", fmt::format("is {}, expected a multiple of 4: two axes of pairs", config.head_dim));
  }
  if (config.num_attention_heads % config.num_key_value_heads != 0) {
    vision.problem("num_key_value_heads", fmt::format("is {}, expected a divisor of num_attention_heads = {}",
                                                      config.num_key_value_heads, config.num_attention_heads));
  }
  return config;
}

SpecialTokenIds read_special_tokens(const JsonReader& root, const JsonReader& text, const Config& config) {
  const IntegerRange ids{0, config.text.vocab_size - 1};
  SpecialTokenIds tokens;
  tokens.pad = text.integer_or("pad_token_id", ids, 0);
  tokens.bos = text.optional_integer("bos_token_id", ids);
  tokens.eos = root.has("eos_token_id") ? root.integers("eos_token_id", ids) : text.integers("eos_token_id", ids);
  if (config.vision) {
    tokens.image = root.integer("image_token_id", ids);
    tokens.begin_of_image = root.integer("boi_token_id", ids);
    tokens.end_of_image = root.integer("eoi_token_id", ids);
  }
  tokens.audio = root.optional_integer("audio_token_id", ids);
  tokens.begin_of_audio = root.optional_integer("boa_token_id", ids);
  tokens.end_of_audio = root.optional_integer(root.has("eoa_token_id") ? "eoa_token_id" : "eoa_token_index", ids);
  tokens.video = root.optional_integer("video_token_id", ids);
  return tokens;
}

}  // namespace

Config read_config(const std::filesystem::path& config_json) {
  JsonProblems problems{config_json};
  const auto root = JsonReader::from_file(config_json, problems);
  if (const auto type = root.text("model_type"); !type.empty() && type != "gemma4") {
    root.problem("model_type", fmt::format("is \"{}\", expected \"gemma4\"", type));
    problems.throw_if_any();  // the rest of another model's file would only add noise
  }
  root.require("quantization_config", nullptr, "quantized checkpoints are not supported");
  root.require("tie_word_embeddings", true, "a separate output table is not supported");

  const auto text = root.object("text_config");
  if (!root.has("text_config")) problems.throw_if_any();
  Config config;
  config.dtype = read_dtype(root);
  config.text = read_text_config(text);
  if (root.has("vision_config")) config.vision = read_vision_config(root.object("vision_config"));
  config.tokens = read_special_tokens(root, text, config);
  problems.throw_if_any();
  return config;
}

GenerationConfig read_generation_config(const std::filesystem::path& generation_config_json, const Config& config) {
  if (std::error_code error; !std::filesystem::exists(generation_config_json, error)) return {config.tokens.eos};
  JsonProblems problems{generation_config_json};
  const auto root = JsonReader::from_file(generation_config_json, problems);
  GenerationConfig generation;
  generation.eos_token_ids = root.integers("eos_token_id", {0, config.text.vocab_size - 1});
  if (generation.eos_token_ids.empty()) generation.eos_token_ids = config.tokens.eos;
  problems.throw_if_any();
  return generation;
}

ImageProcessorConfig read_image_processor_config(const std::filesystem::path& json_file, const VisionConfig& vision) {
  JsonProblems problems{json_file};
  const auto root = JsonReader::from_file(json_file, problems);
  const auto image = root.has("image_processor") ? root.object("image_processor") : root;
  const auto type = image.text("image_processor_type");
  if (!type.empty() && !type.starts_with("Gemma4ImageProcessor")) {
    image.problem("image_processor_type", fmt::format("is \"{}\", expected \"Gemma4ImageProcessor\"", type));
    problems.throw_if_any();
  }
  constexpr int bicubic = 3;  // PIL.Image.Resampling.BICUBIC
  image.require("resample", bicubic, "only bicubic resampling is supported");
  image.require("patch_size", vision.patch_size, "config.json's vision_config says so");
  image.require("pooling_kernel_size", vision.pooling_kernel_size, "config.json's vision_config says so");

  ImageProcessorConfig config;
  config.patch_size = image.integer("patch_size", {1, 1024});
  config.pooling_kernel_size = image.integer("pooling_kernel_size", {1, 1024});
  config.max_soft_tokens = image.integer("max_soft_tokens", size_range);
  config.do_convert_rgb = image.boolean_or("do_convert_rgb", true);
  config.do_resize = image.boolean_or("do_resize", true);
  config.do_rescale = image.boolean_or("do_rescale", true);
  config.rescale_factor = image.positive("rescale_factor");
  config.do_normalize = image.boolean_or("do_normalize", false);
  config.image_mean = image.numbers("image_mean");
  config.image_std = image.numbers("image_std");
  problems.throw_if_any();
  return config;
}

}  // namespace gemma4
