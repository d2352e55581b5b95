#include "checkpoint/inventory.hpp"

#include <fmt/format.h>

#include <array>
#include <lockstep/diagnostic.hpp>
#include <string_view>

namespace gemma4 {
namespace {

constexpr std::string_view language_model = "model.language_model.";
constexpr std::string_view vision_tower = "model.vision_tower.";

void add_text_layer(Inventory& tensors, const TextConfig& text, std::size_t index) {
  const auto& layer = text.layers[index];
  const auto hidden = text.hidden_size;
  const auto queries = text.num_attention_heads * layer.head_dim;
  const auto keys = text.num_key_value_heads * layer.head_dim;
  const auto add = [&](std::string_view suffix, std::vector<std::int64_t> shape) {
    tensors.emplace(fmt::format("{}layers.{}.{}", language_model, index, suffix), std::move(shape));
  };
  for (const auto* norm : {"input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm",
                           "post_feedforward_layernorm", "post_per_layer_input_norm"}) {
    add(fmt::format("{}.weight", norm), {hidden});
  }
  add("self_attn.q_proj.weight", {queries, hidden});
  add("self_attn.o_proj.weight", {hidden, queries});
  add("self_attn.q_norm.weight", {layer.head_dim});
  if (!layer.shares_kv) {
    add("self_attn.k_proj.weight", {keys, hidden});
    add("self_attn.v_proj.weight", {keys, hidden});
    add("self_attn.k_norm.weight", {layer.head_dim});
  }
  add("mlp.gate_proj.weight", {layer.intermediate_size, hidden});
  add("mlp.up_proj.weight", {layer.intermediate_size, hidden});
  add("mlp.down_proj.weight", {hidden, layer.intermediate_size});
  add("per_layer_input_gate.weight", {text.hidden_size_per_layer_input, hidden});
  add("per_layer_projection.weight", {hidden, text.hidden_size_per_layer_input});
  add("layer_scalar", {1});
}

void add_text(Inventory& tensors, const TextConfig& text) {
  const auto packed = text.num_hidden_layers * text.hidden_size_per_layer_input;
  const auto add = [&](std::string_view suffix, std::vector<std::int64_t> shape) {
    tensors.emplace(fmt::format("{}{}", language_model, suffix), std::move(shape));
  };
  add("embed_tokens.weight", {text.vocab_size, text.hidden_size});
  add("embed_tokens_per_layer.weight", {text.vocab_size_per_layer_input, packed});
  add("per_layer_model_projection.weight", {packed, text.hidden_size});
  add("per_layer_projection_norm.weight", {text.hidden_size_per_layer_input});
  add("norm.weight", {text.hidden_size});
  for (std::size_t i = 0; i < text.layers.size(); ++i) add_text_layer(tensors, text, i);
}

void add_vision_layer(Inventory& tensors, const VisionConfig& vision, std::int64_t index) {
  const auto add = [&](std::string_view suffix, std::vector<std::int64_t> shape) {
    tensors.emplace(fmt::format("{}encoder.layers.{}.{}", vision_tower, index, suffix), std::move(shape));
  };
  const auto add_projection = [&](std::string_view name, std::int64_t rows, std::int64_t columns) {
    add(fmt::format("{}.linear.weight", name), {rows, columns});
    if (!vision.use_clipped_linears) return;
    for (const auto* bound : {"input_min", "input_max", "output_min", "output_max"}) {
      add(fmt::format("{}.{}", name, bound), {});
    }
  };
  const auto hidden = vision.hidden_size;
  const auto queries = vision.num_attention_heads * vision.head_dim;
  const auto keys = vision.num_key_value_heads * vision.head_dim;
  for (const auto* norm :
       {"input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm"}) {
    add(fmt::format("{}.weight", norm), {hidden});
  }
  add_projection("self_attn.q_proj", queries, hidden);
  add_projection("self_attn.k_proj", keys, hidden);
  add_projection("self_attn.v_proj", keys, hidden);
  add_projection("self_attn.o_proj", hidden, queries);
  add("self_attn.q_norm.weight", {vision.head_dim});
  add("self_attn.k_norm.weight", {vision.head_dim});
  add_projection("mlp.gate_proj", vision.intermediate_size, hidden);
  add_projection("mlp.up_proj", vision.intermediate_size, hidden);
  add_projection("mlp.down_proj", hidden, vision.intermediate_size);
}

void add_vision(Inventory& tensors, const VisionConfig& vision, std::int64_t text_hidden) {
  constexpr std::int64_t colours = 3;
  const auto patch = colours * vision.patch_size * vision.patch_size;
  tensors.emplace(fmt::format("{}patch_embedder.input_proj.weight", vision_tower),
                  std::vector{vision.hidden_size, patch});
  tensors.emplace(fmt::format("{}patch_embedder.position_embedding_table", vision_tower),
                  std::vector{std::int64_t{2}, vision.position_embedding_size, vision.hidden_size});
  for (std::int64_t i = 0; i < vision.num_hidden_layers; ++i) add_vision_layer(tensors, vision, i);
  tensors.emplace("model.embed_vision.embedding_projection.weight", std::vector{text_hidden, vision.hidden_size});
}

/// "missing (12): a, b, c and 9 more", on a line of its own.
std::string list_text(std::string_view kind, const std::vector<std::string>& items) {
  constexpr std::size_t longest = 8;
  if (items.empty()) return {};
  auto text = fmt::format("\n  {} ({}):", kind, items.size());
  for (std::size_t i = 0; i < std::min(items.size(), longest); ++i) text += "\n    " + items[i];
  if (items.size() > longest) text += fmt::format("\n    and {} more", items.size() - longest);
  return text;
}

}  // namespace

Inventory expected_tensors(const Config& config) {
  Inventory tensors;
  add_text(tensors, config.text);
  if (config.vision) add_vision(tensors, *config.vision, config.text.hidden_size);
  return tensors;
}

bool is_ignored(const std::string& name, const Config& config) {
  if (name.starts_with("model.audio_tower.") || name.starts_with("model.embed_audio.")) return true;
  constexpr std::array unused{"k_proj.weight", "v_proj.weight", "k_norm.weight"};
  const auto first_shared = config.text.num_hidden_layers - config.text.num_kv_shared_layers;
  for (auto layer = first_shared; layer < config.text.num_hidden_layers; ++layer) {
    const auto prefix = fmt::format("{}layers.{}.self_attn.", language_model, layer);
    if (!name.starts_with(prefix)) continue;
    const auto suffix = std::string_view(name).substr(prefix.size());
    for (const std::string_view candidate : unused) {
      if (suffix == candidate) return true;
    }
  }
  return false;
}

void check_tensors(const lockstep::SafetensorsFile& file, const Inventory& expected, const Config& config) {
  std::vector<std::string> missing;
  std::vector<std::string> unexpected;
  std::vector<std::string> wrong;
  for (const auto& [name, shape] : expected) {
    if (!file.contains(name)) {
      missing.push_back(name);
      continue;
    }
    const auto& tensor = file.at(name);
    if (tensor.dtype() != config.dtype || tensor.sizes() != shape) {
      wrong.push_back(fmt::format("{} is {}, expected {} {}", name, tensor.to_string(), name_of(config.dtype),
                                  lockstep::shape_text(shape)));
    }
  }
  for (const auto& name : file.names()) {
    if (!expected.contains(name) && !is_ignored(name, config)) unexpected.push_back(name);
  }
  const auto count = missing.size() + unexpected.size() + wrong.size();
  if (count == 0) return;
  throw lockstep::Error{fmt::format("{}: {} {} not what config.json describes{}{}{}", file.path().string(), count,
                                    count == 1 ? "tensor is" : "tensors are", list_text("missing", missing),
                                    list_text("unexpected", unexpected), list_text("wrong shape or dtype", wrong)),
                        "config.json and the weights must come from the same checkpoint; download both again"};
}

}  // namespace gemma4
