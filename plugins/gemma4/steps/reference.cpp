#include <lockstep/step.hpp>

#include "reference/native_reference.hpp"

namespace {
using namespace lockstep;

/// Publishes what is right: the semantics of Hugging Face transformers, computed from the checkpoint.
struct NativeReference final : Step {
  Param<std::string> dtype{*this,
                           "dtype",
                           "computing dtype; the checkpoint's own if not given",
                           {.choices = {"bfloat16", "float32"}, .optional = true}};
  In<gemma4::Checkpoint> checkpoint{*this, "checkpoint", "weights and configuration"};
  Out<gemma4::Reference> reference{*this, "reference", "what is right"};

  void run(StepContext& context) override {
    const DType computing = dtype.has_value() ? named(*dtype) : checkpoint->config().dtype;
    reference = gemma4::make_native_reference(checkpoint.shared(), computing);
    context.environment("dtype", std::string(name_of(computing)));
    context.summary("transformers' semantics in " + std::string(name_of(computing)));
  }

  static DType named(const std::string& text) { return text == "float32" ? DType::float32 : DType::bfloat16; }
};
}  // namespace

LOCKSTEP_STEP("gemma4.reference", NativeReference, "the model as transformers computes it, op for op")
