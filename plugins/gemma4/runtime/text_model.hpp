#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <ATen/core/Tensor.h>

#include <lockstep/export.hpp>
#include <lockstep/tensor.hpp>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/text_tensors.hpp"
#include "runtime/faults.hpp"
#include "runtime/text_graph.hpp"
#include "runtime/text_rope.hpp"

namespace gemma4 {

struct TextModelOptions {
  std::int64_t max_seq = 0;
  lockstep::DType dtype = lockstep::DType::bfloat16;
  double mask_fill = -120;
  Fault fault = Fault::none;
};

/// The immutable half of the text model that all sessions share: graph, tables, and the parts that the host does
/// (lookups, masks, softcap). T is the dtype of the options, S max_seq. Keeps what it needs of the checkpoint alive.
class LOCKSTEP_API TextModel {
 public:
  TextModel(const Checkpoint& checkpoint, const TextModelOptions& options);

  [[nodiscard]] const TextGraph& graph() const { return graph_; }
  [[nodiscard]] const TextConfig& config() const { return graph_.config(); }
  [[nodiscard]] const TextModelOptions& options() const { return options_; }
  /// Ids that end a text.
  [[nodiscard]] const std::vector<std::int64_t>& eos() const { return eos_; }

  /// T [1, n, H]: scaled rows of the embedding table.
  [[nodiscard]] at::Tensor embed(std::span<const std::int64_t> ids) const;
  /// T [1, n, layers * P]: scaled rows of the per-layer table.
  [[nodiscard]] at::Tensor per_layer_lookup(std::span<const std::int64_t> ids) const;
  /// Placeholders of pictures, sounds and films are read as the pad id; other ids as they are.
  [[nodiscard]] std::int64_t language_id(std::int64_t id) const;

  /// T [1, 1, S, S] of each layer type, for a prompt in the first `valid_length` slots.
  [[nodiscard]] AttentionMasks prefill_masks(std::int64_t valid_length) const;
  /// T [1, 1, 1, S], for a token after `past_length` others.
  [[nodiscard]] AttentionMasks decode_masks(std::int64_t past_length) const;
  /// T [1, n, D]. Throws lockstep::Error for a position outside 0 to S - 1.
  [[nodiscard]] RopeTables rope(std::span<const std::int64_t> positions) const;
  /// The same for a token that is decoded.
  [[nodiscard]] RopeTables decode_rope(std::int64_t position) const;

  /// cap * tanh(logits / cap), each step rounded to T, as transformers does. The logits themselves if there is no cap.
  [[nodiscard]] at::Tensor softcapped(const at::Tensor& logits) const;

 private:
  [[nodiscard]] RopeTables rows_of(const PerLayerType<RopeRows>& tables, std::span<const std::int64_t> positions) const;

  TextModelOptions options_;
  TextGraph graph_;
  lockstep::Tensor embedding_;            // [vocab_size, H], a view of the map
  lockstep::Tensor per_layer_embedding_;  // [vocab_size_per_layer_input, layers * P], a view of the map
  PerLayerType<RopeRows> rope_;
  PerLayerType<RopeRows> decode_rope_;
  std::vector<std::int64_t> eos_;
  std::vector<std::int64_t> placeholders_;
  std::int64_t pad_;
};

}  // namespace gemma4
