#include "runtime/text_model.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <ATen/TensorOperators.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/tanh.h>
#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>
#include <lockstep/torch.hpp>

#include "runtime/faulty_parts.hpp"
#include "runtime/text_masks.hpp"
#include "runtime/text_weights.hpp"
#include "runtime/token_rows.hpp"

namespace gemma4 {
namespace {

constexpr std::array layer_types{LayerType::sliding_attention, LayerType::full_attention};

TextWeights weights_of(const Checkpoint& checkpoint, const TextModelOptions& options) {
  auto weights = load_text_weights(checkpoint, lockstep::to_torch(options.dtype));
  damage(weights, options.fault);
  return weights;
}

std::vector<std::int64_t> placeholders_of(const SpecialTokenIds& tokens) {
  std::vector<std::int64_t> ids;
  for (const auto& id : {tokens.image, tokens.audio, tokens.video}) {
    if (id) ids.push_back(*id);
  }
  return ids;
}

}  // namespace

TextModel::TextModel(const Checkpoint& checkpoint, const TextModelOptions& options)
    : options_(options),
      graph_(weights_of(checkpoint, options), options.max_seq, options.fault),
      embedding_(checkpoint.weight("model.language_model.embed_tokens.weight")),
      per_layer_embedding_(checkpoint.weight("model.language_model.embed_tokens_per_layer.weight")),
      eos_(checkpoint.generation().eos_token_ids),
      placeholders_(placeholders_of(checkpoint.config().tokens)),
      pad_(checkpoint.config().tokens.pad) {
  const auto baked = [&](bool wrong) {
    return bake_rope(config(), options.max_seq, graph_.dtype(), wrong ? 2 * rotated_slots(config()) : 0);
  };
  const bool wrong = options.fault == Fault::rope_wrong_denominator;
  rope_ = baked(wrong);
  decode_rope_ = options.fault == Fault::rope_wrong_denominator_decode ? baked(true) : rope_;
}

at::Tensor TextModel::embed(std::span<const std::int64_t> ids) const {
  return scaled_rows(embedding_, ids, token_scale(config().hidden_size, options_.dtype, options_.fault),
                     options_.dtype);
}

at::Tensor TextModel::per_layer_lookup(std::span<const std::int64_t> ids) const {
  return scaled_rows(per_layer_embedding_, ids, embedding_scale(config().hidden_size_per_layer_input, options_.dtype),
                     options_.dtype);
}

std::int64_t TextModel::language_id(std::int64_t id) const {
  return std::ranges::find(placeholders_, id) == placeholders_.end() ? id : pad_;
}

AttentionMasks TextModel::prefill_masks(std::int64_t valid_length) const {
  const auto fault = options_.fault;
  const auto visible = fault == Fault::padding_not_masked ? options_.max_seq : valid_length;
  const auto fill = fault == Fault::mask_fill_zero ? 0.0 : options_.mask_fill;
  const auto window = config().sliding_window + (fault == Fault::window_off_by_one ? 1 : 0);
  AttentionMasks masks;
  for (const auto type : layer_types) {
    if (!has_layers(config(), type)) continue;
    const auto bound = type == LayerType::sliding_attention ? std::optional(window) : std::nullopt;
    const auto mask = prefill_mask(options_.max_seq, visible, bound, fill, graph_.dtype());
    masks[type] = mask.view({1, 1, options_.max_seq, options_.max_seq});
  }
  return masks;
}

AttentionMasks TextModel::decode_masks(std::int64_t past_length) const {
  const auto fault = options_.fault;
  const auto fill = fault == Fault::mask_fill_zero ? 0.0 : options_.mask_fill;
  const bool wide = fault == Fault::window_off_by_one || fault == Fault::window_off_by_one_decode;
  const auto window = config().sliding_window + (wide ? 1 : 0);
  AttentionMasks masks;
  for (const auto type : layer_types) {
    if (!has_layers(config(), type)) continue;
    const auto bound = type == LayerType::sliding_attention ? std::optional(window) : std::nullopt;
    auto mask = decode_mask(options_.max_seq, past_length, bound, fill, graph_.dtype());
    if (fault == Fault::unused_slots_not_masked) mask.slice(1, past_length).zero_();
    masks[type] = mask.view({1, 1, 1, options_.max_seq});
  }
  return masks;
}

RopeTables TextModel::rope(std::span<const std::int64_t> positions) const { return rows_of(rope_, positions); }

RopeTables TextModel::decode_rope(std::int64_t position) const {
  return rows_of(decode_rope_, std::span(&position, 1));
}

RopeTables TextModel::rows_of(const PerLayerType<RopeRows>& tables, std::span<const std::int64_t> positions) const {
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (positions[i] >= 0 && positions[i] < options_.max_seq) continue;
    throw lockstep::Error{fmt::format("position_ids[0, {}] is {}, the rotary tables have rows 0 to {}", i, positions[i],
                                      options_.max_seq - 1),
                          "raise max_seq"};
  }
  std::vector<std::int64_t> copy(positions.begin(), positions.end());
  const auto rows = at::from_blob(copy.data(), {static_cast<std::int64_t>(copy.size())}, at::dtype(at::kLong));
  RopeTables result;
  for (const auto type : layer_types) {
    if (!has_layers(config(), type)) continue;
    const auto& table = tables[type];
    result[type] = {.cos = table.cos.index_select(0, rows).unsqueeze(0),
                    .sin = table.sin.index_select(0, rows).unsqueeze(0)};
  }
  return result;
}

at::Tensor TextModel::softcapped(const at::Tensor& logits) const {
  const auto& cap = config().final_logit_softcapping;
  const auto fault = options_.fault;
  if (!cap || fault == Fault::softcap_missing) return logits;
  if (fault == Fault::softcap_wrong_argument) return logits * at::tanh(logits / *cap);
  if (fault == Fault::softcap_in_one_step) {
    return (at::tanh(logits.to(at::kFloat) / *cap) * *cap).to(logits.scalar_type());
  }
  return at::tanh(logits / *cap) * *cap;
}

}  // namespace gemma4
