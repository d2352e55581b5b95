#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <lockstep/export.hpp>

namespace gemma4 {

/// A mistake put into the arithmetic of the native static runtime on purpose, to prove that the verifier can fail.
///
/// For tests only. Each is one that a port of the model has made or could make. No check, no step and no reference
/// reads it: a fault shows by its numbers or not at all.
enum class Fault : std::uint8_t {
  none,
  embedding_scale_missing,
  embedding_scale_not_rounded,
  clip_bounds_ignored,
  vision_norm_one_plus_weight,
  vision_attention_scaled,
  patches_transposed,
  positions_transposed,
  pool_padding_not_zeroed,
  pool_padding_not_stripped,
  nan_image_features,
  fusion_shifted,
  rope_wrong_denominator,
  window_off_by_one,
  padding_not_masked,
  mask_fill_zero,
  per_layer_lookup_with_image_id,
  rope_interleaved,
  sliding_mask_on_full_layers,
  wrong_kv_donor,
  kv_heads_swapped,
  query_norm_skipped,
  key_norm_skipped,
  value_norm_skipped,
  norm_one_plus_weight,
  attention_scaled,
  gelu_erf,
  mlp_cut,
  layer_scalar_missing,
  layer_scalar_misplaced,
  logits_wrong_row,
  softcap_missing,
  softcap_wrong_argument,
  softcap_in_one_step,
  nan_logits,
  rope_wrong_denominator_decode,
  decode_position_frozen,
  decode_position_shifted,
  window_off_by_one_decode,
  unused_slots_not_masked,
  cache_slot_off_by_one,
  stale_slot,
  eos_ignored,
};

struct FaultInfo {
  Fault fault;
  std::string_view name;   ///< as the step parameter `fault` spells it
  std::string_view stage;  ///< the stage that is guilty: the first whose own arithmetic is wrong
  std::string_view what;   ///< one line
};

/// All of them but `none`, in the order of the stages.
[[nodiscard]] LOCKSTEP_API std::span<const FaultInfo> known_faults();
/// Fault::none for "none"; nothing for an unknown name.
[[nodiscard]] LOCKSTEP_API std::optional<Fault> find_fault(std::string_view name);

}  // namespace gemma4
