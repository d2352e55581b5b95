#include "reference/attention_mask.hpp"

#include <ATen/ops/all.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/logical_not.h>
#include <ATen/ops/sub.h>
#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>
#include <lockstep/torch.hpp>

namespace gemma4 {

at::Tensor valid_positions(const lockstep::Tensor& attention_mask) {
  using lockstep::DType;
  if (attention_mask.dim() != 2 ||
      (attention_mask.dtype() != DType::boolean && attention_mask.dtype() != DType::int64)) {
    throw lockstep::Error{
        fmt::format("attention_mask is {}, expected bool or int64 [batch, sequence]", attention_mask.to_string())};
  }
  return lockstep::to_torch(attention_mask).to(at::kBool);
}

at::Tensor position_ids(const at::Tensor& valid) {
  if (at::all(valid).item<bool>()) return at::arange(valid.size(1)).unsqueeze(0);
  return at::sub(at::cumsum(valid.to(at::kLong), -1), 1).masked_fill(at::logical_not(valid), 0);
}

}  // namespace gemma4
