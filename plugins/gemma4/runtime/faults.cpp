#include "runtime/faults.hpp"

#include <algorithm>
#include <array>

namespace gemma4 {
namespace {

using enum Fault;

constexpr std::string_view embedding = "token_embedding";
constexpr std::string_view vision = "vision_prefill";
constexpr std::string_view masks = "masks_and_rope";

constexpr std::array faults{
    FaultInfo{embedding_scale_missing, "embedding_scale_missing", embedding, "rows are not multiplied by sqrt(H)"},
    FaultInfo{embedding_scale_not_rounded, "embedding_scale_not_rounded", embedding,
              "sqrt(H) is not rounded to the dtype before the product"},
    FaultInfo{clip_bounds_ignored, "clip_bounds_ignored", vision, "projections do not clamp"},
    FaultInfo{vision_norm_one_plus_weight, "vision_norm_one_plus_weight", vision, "norms multiply 1 + w"},
    FaultInfo{vision_attention_scaled, "vision_attention_scaled", vision, "scores are divided by sqrt(head_dim)"},
    FaultInfo{patches_transposed, "patches_transposed", vision, "rows and columns of pixels in a patch swap"},
    FaultInfo{positions_transposed, "positions_transposed", vision, "x and y of a patch swap"},
    FaultInfo{pool_padding_not_zeroed, "pool_padding_not_zeroed", vision, "patches of padding flow into token 0"},
    FaultInfo{pool_padding_not_stripped, "pool_padding_not_stripped", vision, "all max_soft_tokens rows are handed on"},
    FaultInfo{nan_image_features, "nan_image_features", vision, "one value is NaN"},
    FaultInfo{fusion_shifted, "fusion_shifted", "mm_fusion", "the picture starts one slot too late"},
    FaultInfo{rope_wrong_denominator, "rope_wrong_denominator", masks,
              "exponents of full layers are divided by the rotated channels, not by head_dim"},
    FaultInfo{window_off_by_one, "window_off_by_one", masks, "sliding layers see W + 1 keys"},
    FaultInfo{padding_not_masked, "padding_not_masked", masks, "the prompt's mask lets rows of padding see padding"},
    FaultInfo{mask_fill_zero, "mask_fill_zero", masks, "masked pairs get 0"},
    FaultInfo{per_layer_lookup_with_image_id, "per_layer_lookup_with_image_id", "prefill",
              "slots of the picture take the image id's row of the per-layer table"},
    FaultInfo{rope_interleaved, "rope_interleaved", "prefill", "channel 2j turns with 2j + 1"},
    FaultInfo{sliding_mask_on_full_layers, "sliding_mask_on_full_layers", "prefill", "full layers have the window too"},
    FaultInfo{wrong_kv_donor, "wrong_kv_donor", "prefill", "sharing layers take the first producer, not the last"},
    FaultInfo{kv_heads_swapped, "kv_heads_swapped", "prefill", "key-value heads in reverse order"},
    FaultInfo{query_norm_skipped, "query_norm_skipped", "prefill", "queries are not normed"},
    FaultInfo{key_norm_skipped, "key_norm_skipped", "prefill", "keys are not normed"},
    FaultInfo{value_norm_skipped, "value_norm_skipped", "prefill", "values are not normed"},
    FaultInfo{norm_one_plus_weight, "norm_one_plus_weight", "prefill", "norms multiply 1 + w"},
    FaultInfo{attention_scaled, "attention_scaled", "prefill", "scores are divided by sqrt(head_dim)"},
    FaultInfo{gelu_erf, "gelu_erf", "prefill", "GELU by erf, not by tanh"},
    FaultInfo{mlp_cut, "mlp_cut", "prefill", "double-wide layers use half of their width"},
    FaultInfo{layer_scalar_missing, "layer_scalar_missing", "prefill", "the layer's output is not scaled"},
    FaultInfo{layer_scalar_misplaced, "layer_scalar_misplaced", "prefill",
              "only the per-layer branch is scaled, not the whole stream"},
    FaultInfo{logits_wrong_row, "logits_wrong_row", "prefill", "logits of the last slot, not of the last token"},
    FaultInfo{softcap_missing, "softcap_missing", "prefill", "logits are not capped"},
    FaultInfo{softcap_wrong_argument, "softcap_wrong_argument", "prefill", "x tanh(x / c) instead of c tanh(x / c)"},
    FaultInfo{softcap_in_one_step, "softcap_in_one_step", "prefill", "one rounding instead of three"},
    FaultInfo{nan_logits, "nan_logits", "prefill", "one logit is NaN"},
    FaultInfo{rope_wrong_denominator_decode, "rope_wrong_denominator_decode", "decode",
              "as rope_wrong_denominator, in decode only"},
    FaultInfo{decode_position_frozen, "decode_position_frozen", "decode", "every token has the first one's position"},
    FaultInfo{decode_position_shifted, "decode_position_shifted", "decode", "positions are one too large"},
    FaultInfo{window_off_by_one_decode, "window_off_by_one_decode", "decode", "as window_off_by_one, in decode only"},
    FaultInfo{unused_slots_not_masked, "unused_slots_not_masked", "decode", "slots that hold nothing are attended to"},
    FaultInfo{cache_slot_off_by_one, "cache_slot_off_by_one", "decode",
              "a token's keys and values go one slot too far"},
    FaultInfo{stale_slot, "stale_slot", "decode", "a token's keys and values do not reach the cache"},
    FaultInfo{eos_ignored, "eos_ignored", "generation", "no token ends the text"},
};

}  // namespace

std::span<const FaultInfo> known_faults() { return faults; }

std::optional<Fault> find_fault(std::string_view name) {
  if (name == "none") return none;
  const auto* const found = std::ranges::find(faults, name, &FaultInfo::name);
  return found == faults.end() ? std::nullopt : std::optional(found->fault);
}

}  // namespace gemma4
