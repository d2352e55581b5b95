#include "checkpoint/text_config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "checkpoint/limits.hpp"

namespace gemma4 {
namespace {

void refuse_other_variants(const JsonReader& text) {
  text.require("model_type", "gemma4_text", "only the text model of Gemma 4 is supported");
  text.require("enable_moe_block", false, "mixture-of-experts checkpoints are not supported");
  text.require("attention_k_eq_v", false, "checkpoints whose values are their keys are not supported");
  text.require("use_bidirectional_attention", nullptr, "bidirectional attention is not supported");
  text.require("attention_bias", false, "projections with a bias are not supported");
  text.require("hidden_activation", "gelu_pytorch_tanh", "other activations are not supported");
  text.require("tie_word_embeddings", true, "a separate output table is not supported");
}

std::optional<LayerType> layer_type(const std::string& name) {
  if (name == "sliding_attention") return LayerType::sliding_attention;
  if (name == "full_attention") return LayerType::full_attention;
  return std::nullopt;
}

std::vector<LayerType> read_layer_types(const JsonReader& text, std::int64_t count) {
  const auto names = text.texts("layer_types");
  std::vector<LayerType> types(static_cast<std::size_t>(count), LayerType::full_attention);
  if (names.empty()) return types;
  if (std::ssize(names) != count) {
    text.problem("layer_types", fmt::format("has {} entries, expected num_hidden_layers = {}", names.size(), count));
    return types;
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto type = layer_type(names[i]);
    if (type)
      types[i] = *type;
    else
      text.problem(fmt::format("layer_types[{}]", i),
                   fmt::format("is \"{}\", expected \"sliding_attention\" or \"full_attention\"", names[i]));
  }
  // transformers silently makes it one; a file that says otherwise was not meant for this model.
  if (types.back() != LayerType::full_attention) {
    text.problem(fmt::format("layer_types[{}]", count - 1),
                 "is \"sliding_attention\", expected \"full_attention\" for the last layer");
  }
  return types;
}

/// The layer that a key of `per_layer_config` names; transformers pads the numbers with zeros.
std::optional<std::size_t> layer_index(const std::string& key, std::size_t count) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
  if (error != std::errc() || end != key.data() + key.size() || index >= count) return std::nullopt;
  return index;
}

using HeadDims = std::vector<std::optional<std::int64_t>>;

HeadDims read_per_layer_head_dims(const JsonReader& text, std::size_t count) {
  HeadDims result(count);
  const auto overrides = text.object("per_layer_config");
  for (const auto& key : overrides.keys()) {
    const auto index = layer_index(key, count);
    if (!index) {
      overrides.problem(key, fmt::format("names no layer, expected a number from 0 to {}", count - 1));
      continue;
    }
    const auto layer = overrides.object(key);
    result[*index] = layer.optional_integer("head_dim", size_range);
    for (const auto& member : layer.keys()) {
      if (member == "num_key_value_heads") {
        layer.require(member, text.integer(member, head_range),
                      "layers with other numbers of key heads are not supported");
      } else if (member != "head_dim") {
        layer.problem(member, "is not supported, only head_dim may differ between layers");
      }
    }
  }
  return result;
}

std::vector<std::int64_t> read_head_dims(const JsonReader& text, const std::vector<LayerType>& types) {
  HeadDims own(types.size());
  if (text.has("per_layer_config")) {
    own = read_per_layer_head_dims(text, types.size());
  } else if (text.has("global_head_dim")) {
    const auto global = text.integer("global_head_dim", size_range);
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (types[i] == LayerType::full_attention) own[i] = global;
    }
  } else {
    text.problem("global_head_dim",
                 "is missing, expected it (or per_layer_config) to say the head size of full layers");
  }
  const bool all_own = std::ranges::all_of(own, [](const auto& dim) { return dim.has_value(); });
  const auto common = all_own ? 0 : text.integer("head_dim", size_range);
  std::vector<std::int64_t> result;
  for (const auto& dim : own) result.push_back(dim.value_or(common));
  return result;
}

/// Layers of one type share their rotary tables and, where K/V is shared, their keys.
void check_head_dims(const JsonReader& text, const TextConfig& config) {
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    const auto& layer = config.layers[i];
    const auto key = fmt::format("per_layer_config.{}.head_dim", i);
    if (const auto common = config.head_dim(layer.type); layer.head_dim != common) {
      text.problem(key, fmt::format("is {}, expected {} as in the other layers of its type", layer.head_dim, common));
    } else if (layer.head_dim % 2 != 0) {
      text.problem("head_dim", fmt::format("of layer {} is {}, expected an even number", i, layer.head_dim));
      return;
    }
  }
}

/// Every type of layer needs one that computes the keys which the sharing layers of that type read.
void check_kv_sharing(const JsonReader& text, const TextConfig& config) {
  for (const auto& reader : config.layers) {
    const bool has_source = std::ranges::any_of(
        config.layers, [&](const auto& layer) { return !layer.shares_kv && layer.type == reader.type; });
    if (!has_source) {
      text.problem("num_kv_shared_layers",
                   fmt::format("is {}, so that no {} layer is left whose keys the others could share",
                               config.num_kv_shared_layers,
                               reader.type == LayerType::full_attention ? "full_attention" : "sliding_attention"));
      return;
    }
  }
}

void check_rules(const JsonReader& text, const TextConfig& config) {
  if (config.num_attention_heads % config.num_key_value_heads != 0) {
    text.problem("num_key_value_heads", fmt::format("is {}, expected a divisor of num_attention_heads = {}",
                                                    config.num_key_value_heads, config.num_attention_heads));
  }
  if (config.vocab_size_per_layer_input < config.vocab_size) {
    text.problem("vocab_size_per_layer_input", fmt::format("is {}, expected at least vocab_size = {}",
                                                           config.vocab_size_per_layer_input, config.vocab_size));
  }
  check_head_dims(text, config);
  check_kv_sharing(text, config);
}

}  // namespace

RopeConfig read_rope(const JsonReader& rope, const std::vector<std::string>& types) {
  const auto type = rope.text("rope_type");
  if (!type.empty() && std::ranges::find(types, type) == types.end()) {
    rope.problem("rope_type", fmt::format("is \"{}\", expected \"{}\"", type, fmt::join(types, "\" or \"")));
  }
  rope.require("factor", 1.0, "scaled rotary embeddings are not supported");
  RopeConfig result{.rope_theta = rope.positive("rope_theta"),
                    .partial_rotary_factor = rope.optional_positive("partial_rotary_factor").value_or(1.0)};
  if (result.partial_rotary_factor > 1) {
    rope.problem("partial_rotary_factor", fmt::format("is {}, expected at most 1", result.partial_rotary_factor));
  }
  return result;
}

TextConfig read_text_config(const JsonReader& text) {
  refuse_other_variants(text);

  TextConfig config;
  config.vocab_size = text.integer("vocab_size", vocab_range);
  config.hidden_size = text.integer("hidden_size", size_range);
  config.num_hidden_layers = text.integer("num_hidden_layers", layer_range);
  config.num_attention_heads = text.integer("num_attention_heads", head_range);
  config.num_key_value_heads = text.integer("num_key_value_heads", head_range);
  config.num_kv_shared_layers = text.integer("num_kv_shared_layers", {0, config.num_hidden_layers - 1});
  config.sliding_window = text.integer("sliding_window", position_range);
  config.max_position_embeddings = text.integer("max_position_embeddings", position_range);
  config.vocab_size_per_layer_input = text.integer("vocab_size_per_layer_input", vocab_range);
  config.hidden_size_per_layer_input = text.integer("hidden_size_per_layer_input", size_range);
  config.rms_norm_eps = text.positive("rms_norm_eps");
  config.final_logit_softcapping = text.optional_positive("final_logit_softcapping");

  const auto ropes = text.object("rope_parameters");
  config.sliding_rope = read_rope(ropes.object("sliding_attention"), {"default"});
  config.full_rope = read_rope(ropes.object("full_attention"), {"proportional"});

  const auto types = read_layer_types(text, config.num_hidden_layers);
  const auto head_dims = read_head_dims(text, types);
  const auto intermediate_size = text.integer("intermediate_size", size_range);
  const bool double_wide = text.boolean_or("use_double_wide_mlp", false);
  const auto first_shared = config.num_hidden_layers - config.num_kv_shared_layers;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const bool shares_kv = static_cast<std::int64_t>(i) >= first_shared;
    config.layers.push_back({.type = types[i],
                             .head_dim = head_dims[i],
                             .intermediate_size = intermediate_size * (shares_kv && double_wide ? 2 : 1),
                             .shares_kv = shares_kv});
  }

  if (text.sound()) check_rules(text, config);
  return config;
}

std::int64_t TextConfig::head_dim(LayerType type) const {
  const auto layer = std::ranges::find(layers, type, &TextLayerConfig::type);
  return layer == layers.end() ? 0 : layer->head_dim;
}

}  // namespace gemma4
