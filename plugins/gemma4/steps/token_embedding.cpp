#include <lockstep/step.hpp>

#include <ATen/ops/mul.h>

#include <lockstep/torch.hpp>

#include "reference/reference.hpp"
#include "runtime/runtime.hpp"
#include "steps/ask_runtime.hpp"

namespace {
using namespace lockstep;

/// Compares the runtime's scaled token embedding with the reference's, and with the product that it stands for.
///
/// Bits are required: a gather and one product have the same on every machine, and in bfloat16 an unrounded scale stays
/// inside torch's default tolerance.
struct TokenEmbedding final : Step {
  In<gemma4::StaticBatch> batch{*this, "batch", "padded inputs"};
  In<gemma4::Reference> reference{*this, "reference", "what is right"};
  In<gemma4::Runtime> runtime{*this, "runtime", "what is verified"};
  Out<Tensor> text_embeds{*this, "text_embeds", "[1, max_seq, hidden]"};
  Check matches_reference{*this, "matches_reference", bits(), "reference's token embedding"};
  Check scale_applied{*this, "scale_applied", bits(), "table rows times sqrt(hidden) rounded to the dtype"};

  void run(StepContext& context) override {
    const auto& ids = batch->input_ids;
    const auto answer = gemma4::ask_runtime(context, matches_reference, [&] { return runtime->token_embedding(ids); });
    if (!answer) return;
    const auto& actual = *answer;
    const auto product = at::mul(to_torch(reference->unscaled_embedding(ids)), to_torch(reference->embed_scale()));
    matches_reference.compare(Expected{reference->token_embedding(ids)}, Actual{actual});
    scale_applied.compare(Expected{product}, Actual{actual});
    text_embeds = actual;
  }
};
}  // namespace

LOCKSTEP_STEP("gemma4.token_embedding", TokenEmbedding, "verifies the runtime's scaled token embedding")
