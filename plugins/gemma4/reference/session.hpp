#pragma once

#include <memory>

#include "reference/modules.hpp"
#include "reference/reference.hpp"

namespace gemma4 {

/// Gemma4ForConditionalGeneration's forward, pass after pass over one DynamicCache.
class NativeSession final : public ReferenceSession {
 public:
  explicit NativeSession(std::shared_ptr<const Modules> modules);
  /// Behind `prompt`. Throws lockstep::Error unless it fits the modules.
  NativeSession(std::shared_ptr<const Modules> modules, const ReferencePrompt& prompt);

  /// Reference::prompt without `made_by`, in place of prefill.
  [[nodiscard]] ReferencePrompt prompt(const ModelInputs& inputs, const lockstep::TensorVisitor& taps);

  lockstep::Tensor prefill(const ModelInputs& inputs, std::int64_t logits_to_keep,
                           const lockstep::TensorVisitor& taps) override;
  lockstep::Tensor decode(const lockstep::Tensor& input_ids, const lockstep::TensorVisitor& taps) override;
  [[nodiscard]] KvCache snapshot() const override { return cache_.snapshot(); }

 private:
  BegunPass begin_prompt(const ModelInputs& inputs, const Taps& taps);
  /// input_ids int64 [B, Q]; valid bool [B, positions seen + Q]. Inputs that are refused leave the session as it was.
  BegunPass begin(const at::Tensor& input_ids, const at::Tensor& valid, const ModelInputs* pictures, const Taps& taps);
  at::Tensor logits(BegunPass pass, std::int64_t logits_to_keep, const Taps& taps) const;

  std::shared_ptr<const Modules> modules_;
  DynamicCache cache_;
  at::Tensor valid_;  // bool [B, positions seen]; undefined before the prefill
};

}  // namespace gemma4
