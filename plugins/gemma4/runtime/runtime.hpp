#pragma once

#include <lockstep/export.hpp>
#include <lockstep/port.hpp>
#include <lockstep/tensor.hpp>

#include "runtime/layout.hpp"
#include "runtime/static_batch.hpp"
#include "runtime/vision_profile.hpp"

namespace gemma4 {

/// What is verified: a Gemma 4 runtime whose tensors have fixed shapes, stage by stage.
///
/// Tensors are core tensors: an implementation that drives a device needs no LibTorch. Results own their data and stay
/// valid after the runtime is gone; arguments are only read, during the call. Immutable: calls do not influence each
/// other and may come from several threads. S max_seq, H hidden_size. What a call cannot work with (wrong dtype or
/// shape, an id outside the vocabulary, a prompt that does not fit) is a lockstep::Error that names it.
class LOCKSTEP_API Runtime {
 public:
  virtual ~Runtime() = default;

  [[nodiscard]] virtual const StaticLayout& layout() const = 0;
  [[nodiscard]] virtual const VisionProfile& profile() const = 0;
  /// Of activations: bfloat16 or float32.
  [[nodiscard]] virtual lockstep::DType dtype() const = 0;

  /// The prompt in the slots of layout(): what the device gets, before any arithmetic.
  [[nodiscard]] virtual StaticBatch build_static_inputs(const RawInputs& raw) const = 0;

  /// int64 [1, n] -> dtype() [1, n, H], contiguous: rows of the embedding table times sqrt(H). The ids are those of the
  /// language model (image slots hold the pad id); n is S for a prompt and 1 for a token.
  [[nodiscard]] virtual lockstep::Tensor token_embedding(const lockstep::Tensor& input_ids) const = 0;
};

}  // namespace gemma4

LOCKSTEP_PORT_TYPE(gemma4::Runtime, "gemma4.runtime/1");
