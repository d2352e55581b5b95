#pragma once

#include <memory>

#include <lockstep/export.hpp>
#include "checkpoint/checkpoint.hpp"
#include "recording/recording.hpp"
#include "reference/reference.hpp"

namespace gemma4 {

/// A reference that computes nothing: it answers with what transformers computed when it was recorded.
///
/// It knows one prompt. A question about another one is an Error that names the tensor, the place and both values; a
/// tensor that the recording lacks, or that is damaged, is an Error that names it.
///
/// - token_embedding: the recorded rows, by id. Ids of a whole prompt must start with the recorded ones and go on with
///   the pad id; fewer ids may be any that occur in the recording, decode steps included. A pad id that the prompt does
///   not have comes from "llm.pad_embed".
/// - unscaled_embedding: rows of the checkpoint's table; embed_scale: sqrt(hidden_size) rounded. No recording has them.
/// - image_features: the recorded soft tokens, of the recorded pixel values; all of "vis." is shown.
/// - fuse: the recorded placement, applied to the embeddings that are given: the recording must show that each row of
///   llm.fused is the next row of vis.proj at a placeholder, and llm.embed's own elsewhere. Rows of padding behind the
///   recorded prompt stay as they are.
/// - per_layer_inputs, attention_masks: of the recorded prompt without padding; masks of its decode steps too.
/// - rope: the recorded rows, by position.
/// - start, generate: the recorded passes (recorded_session.hpp).
///
/// Throws lockstep::Error unless the files of the checkpoint are those that were recorded.
[[nodiscard]] LOCKSTEP_API std::shared_ptr<const Reference> make_recorded_reference(
    std::shared_ptr<const Checkpoint> checkpoint, Recording recording);

}  // namespace gemma4
