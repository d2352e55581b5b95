#pragma once

#include "recording/recording.hpp"
#include "reference/reference.hpp"
#include "steps/recording_comparison.hpp"

namespace gemma4 {

/// Runs again what tools/record_hf.py ran and compares everything that it kept: the prefill of all positions with its
/// inner tensors and its cache, decode steps that are fed the recorded tokens, the cache after them, the prefill with
/// logits_to_keep = 1, and greedy generation.
void replay_passes(const Reference& reference, const ModelInputs& inputs, const Recording& recording,
                   RecordingComparison& compare);

}  // namespace gemma4
