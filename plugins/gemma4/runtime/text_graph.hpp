#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <ATen/core/Tensor.h>

#include <lockstep/export.hpp>
#include <lockstep/port.hpp>

#include "checkpoint/text_tensors.hpp"
#include "runtime/faults.hpp"
#include "runtime/fixed_cache.hpp"
#include "runtime/text_weights.hpp"

namespace gemma4 {

/// A rotation as the graph applies it: channel j turns with channel j + D / 2, the sign of the turn lives in the sine.
struct Rotation {
  at::Tensor cos, signed_sin;  ///< T [n, 1, D]
};
/// From tables as transformers has them, T [n, D].
[[nodiscard]] LOCKSTEP_API Rotation rotation_of(const at::Tensor& cos, const at::Tensor& sin);

/// The inputs of one pass over the layers: n rows, max_seq for a prompt and 1 for a token. S max_seq.
struct TextPass {
  at::Tensor hidden;              ///< T [n, H]
  at::Tensor per_layer_inputs;    ///< T [n, layers, P]
  PerLayerType<at::Tensor> mask;  ///< T [n, S]
  PerLayerType<Rotation> rotation;
  /// What a layer attends to, T [kv heads, S, D], given the new keys and values of a producer, T [kv heads, n, D].
  /// Called once for each producer, in the order of layers.
  std::function<KeyValue(std::size_t layer, const KeyValue& current)> attended;
};

/// The text model as a static graph: one prompt, no batch axis, every shape known beforehand and asserted. The same
/// graph serves prefill and decode; what differs comes in as TextPass.
///
/// T is the computing dtype. Norms multiply the weight in float32 and round once; scores and probabilities are rounded
/// to T, the softmax itself is float32: what transformers does.
class LOCKSTEP_API TextGraph {
 public:
  TextGraph(TextWeights weights, std::int64_t max_seq, Fault fault = Fault::none);

  /// The part of per-layer inputs that depends on the embeddings, joined with the looked-up part. token T [n, layers *
  /// P] (scaled rows of the per-layer table), embeds T [n, H] with the picture in place -> T [n, layers, P].
  [[nodiscard]] at::Tensor per_layer_projection(const at::Tensor& token, const at::Tensor& embeds) const;
  /// -> T [n, H]. Taps: "L<i>.out" T [1, n, H] of every layer; "L<i>.k" and "L<i>.v" T [1, kv heads, n, D] of
  /// producers.
  [[nodiscard]] at::Tensor layers(const TextPass& pass, const lockstep::TensorVisitor& taps) const;
  /// Final norm and tied head, without the softcap: T [1, H] -> T [1, vocab_size].
  [[nodiscard]] at::Tensor lm_head(const at::Tensor& row) const;

  [[nodiscard]] const TextConfig& config() const { return weights_.config; }
  [[nodiscard]] at::ScalarType dtype() const { return weights_.dtype(); }

 private:
  /// `attended` has an entry per layer; those of producers are filled in on the way.
  [[nodiscard]] at::Tensor decoder_layer(std::size_t index, const at::Tensor& hidden, const TextPass& pass,
                                         std::vector<KeyValue>& attended, const lockstep::TensorVisitor& taps) const;
  [[nodiscard]] KeyValue new_keys_and_values(std::size_t index, const at::Tensor& normed, const TextPass& pass,
                                             const lockstep::TensorVisitor& taps) const;
  [[nodiscard]] at::Tensor attention(std::size_t index, const at::Tensor& normed, const TextPass& pass,
                                     const KeyValue& attended, const lockstep::TensorVisitor& taps) const;
  [[nodiscard]] at::Tensor mlp(std::size_t index, const at::Tensor& normed, const lockstep::TensorVisitor& taps) const;
  [[nodiscard]] at::Tensor normalized(const at::Tensor& x, const at::Tensor& weight = {}) const;
  [[nodiscard]] at::Tensor rotated(const at::Tensor& x, const Rotation& turn) const;
  [[nodiscard]] at::Tensor gelu(const at::Tensor& x) const;

  TextWeights weights_;
  std::int64_t max_seq_;
  Fault fault_;
};

}  // namespace gemma4
