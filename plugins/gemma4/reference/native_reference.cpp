#include "reference/native_reference.hpp"

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>
#include <lockstep/torch.hpp>
#include <utility>

#include "reference/embedding.hpp"

namespace gemma4 {
namespace {

using lockstep::DType;
using lockstep::Tensor;

class NativeReference final : public Reference {
 public:
  NativeReference(std::shared_ptr<const Checkpoint> checkpoint, DType dtype)
      : checkpoint_(std::move(checkpoint)), dtype_(dtype), embed_tokens_(*checkpoint_, dtype) {}

  DType dtype() const override { return dtype_; }
  const Checkpoint& checkpoint() const override { return *checkpoint_; }

  Tensor token_embedding(const Tensor& input_ids) const override { return embed_tokens_.forward(input_ids); }
  Tensor unscaled_embedding(const Tensor& input_ids) const override { return embed_tokens_.rows(input_ids); }
  Tensor embed_scale() const override { return embed_tokens_.embed_scale(); }

 private:
  std::shared_ptr<const Checkpoint> checkpoint_;
  DType dtype_;
  ScaledWordEmbedding embed_tokens_;
};

}  // namespace

std::shared_ptr<const Reference> make_native_reference(std::shared_ptr<const Checkpoint> checkpoint, DType dtype) {
  if (dtype != DType::bfloat16 && dtype != DType::float32) {
    throw lockstep::Error{
        fmt::format("the reference cannot compute in {}, expected bfloat16 or float32", name_of(dtype)),
        "set the step's dtype"};
  }
  return std::make_shared<const NativeReference>(std::move(checkpoint), dtype);
}

}  // namespace gemma4
