#include <lockstep/step.hpp>
#include <lockstep/torch.hpp>

#include <ATen/core/Tensor.h>

#include "runtime/runtime.hpp"

namespace {
using namespace lockstep;

/// A stage of one's own where prefill stands: what lies in the rows of padding must not reach the logits.
struct Padding final : Step {
  In<gemma4::StaticBatch> batch{*this, "batch", "padded inputs"};
  In<gemma4::Runtime> runtime{*this, "runtime", "what is verified"};
  In<Tensor> fused_embeds{*this, "fused_embeds", "[1, max_seq, hidden]"};
  In<gemma4::AttentionMasks> masks{*this, "masks", "additive, [1, 1, max_seq, max_seq]"};
  In<gemma4::RopeTables> rope{*this, "rope", "[1, max_seq, head_dim]"};
  Out<Tensor> logits{*this, "logits", "[1, vocab] of the prompt's last token"};

  Check has_padding{*this, "has_padding", expect(), "fewer tokens than max_seq"};
  Check same_logits{*this, "same_logits", bits(), "the logits with other embeddings in the rows of padding"};

  void run(StepContext& context) override {
    if (!has_padding.expect(batch->valid_length < runtime->layout().max_seq, "the prompt fills max_seq")) return;
    auto other = to_torch(*fused_embeds).clone();
    other.slice(1, batch->valid_length).fill_(3);
    const auto actual = prefill(*fused_embeds);
    same_logits.compare(Expected{prefill(Tensor(other))}, Actual{actual});
    context.summary(std::to_string(batch->valid_length) + " tokens");
    logits = actual;
  }

 private:
  [[nodiscard]] Tensor prefill(const Tensor& embeds) const {
    return runtime->start()->prefill(*batch, embeds, *masks, *rope);
  }
};
}  // namespace

LOCKSTEP_STEP("mine.padding", Padding, "verifies that prefill does not see padding")
