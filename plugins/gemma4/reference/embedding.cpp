#include "reference/embedding.hpp"

#include <ATen/ops/embedding.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/scalar_tensor.h>
#include <fmt/format.h>

#include <cmath>
#include <lockstep/diagnostic.hpp>
#include <lockstep/torch.hpp>

namespace gemma4 {
namespace {

/// transformers keeps a float32 buffer (torch.tensor of a Python float) and casts it to the weight's dtype on use.
at::Tensor scale_buffer(std::int64_t size) {
  return at::scalar_tensor(std::pow(static_cast<double>(size), 0.5), at::TensorOptions().dtype(at::kFloat));
}

void check_ids(const lockstep::Tensor& input_ids, std::int64_t vocab_size) {
  if (input_ids.dtype() != lockstep::DType::int64 || input_ids.dim() != 2) {
    throw lockstep::Error{fmt::format("input_ids is {}, expected int64 [batch, sequence]", input_ids.to_string())};
  }
  const auto dense = input_ids.contiguous();
  const auto ids = dense.values<std::int64_t>();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || ids[i] >= vocab_size) {
      throw lockstep::Error{
          fmt::format("input_ids has {} at position {}, expected 0 to {} (vocab_size)", ids[i], i, vocab_size - 1)};
    }
  }
}

}  // namespace

ScaledWordEmbedding::ScaledWordEmbedding(const Checkpoint& checkpoint, const std::string& name,
                                         std::int64_t scaled_size, lockstep::DType dtype)
    : weight_(lockstep::to_torch(checkpoint.weight("model.language_model." + name + ".weight"))),
      embed_scale_(scale_buffer(scaled_size).to(lockstep::to_torch(dtype))),
      dtype_(lockstep::to_torch(dtype)) {}

at::Tensor ScaledWordEmbedding::rows(const lockstep::Tensor& input_ids) const {
  check_ids(input_ids, weight_.size(0));
  // Loading with another dtype converts the whole table; converting the gathered rows gives the same bits.
  return at::embedding(weight_, lockstep::to_torch(input_ids)).to(dtype_);
}

at::Tensor ScaledWordEmbedding::forward(const lockstep::Tensor& input_ids) const {
  return at::mul(rows(input_ids), embed_scale_);
}

}  // namespace gemma4
