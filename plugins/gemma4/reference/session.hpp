#pragma once

#include <memory>

#include "reference/modules.hpp"
#include "reference/reference.hpp"

namespace gemma4 {

/// Gemma4ForConditionalGeneration's forward, pass after pass over one DynamicCache.
class NativeSession final : public ReferenceSession {
 public:
  explicit NativeSession(std::shared_ptr<const Modules> modules);

  lockstep::Tensor prefill(const ModelInputs& inputs, std::int64_t logits_to_keep,
                           const lockstep::TensorVisitor& taps) override;
  lockstep::Tensor decode(const lockstep::Tensor& input_ids, const lockstep::TensorVisitor& taps) override;
  [[nodiscard]] KvCache snapshot() const override { return cache_.snapshot(); }

 private:
  /// input_ids int64 [B, Q]; valid bool [B, positions seen + Q]. Inputs that are refused leave the session as it was.
  at::Tensor pass(const at::Tensor& input_ids, const at::Tensor& valid, const ModelInputs* pictures,
                  std::int64_t logits_to_keep, const Taps& taps);

  std::shared_ptr<const Modules> modules_;
  DynamicCache cache_;
  at::Tensor valid_;  // bool [B, positions seen]; undefined before the prefill
};

}  // namespace gemma4
