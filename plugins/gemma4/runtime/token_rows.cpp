#include "runtime/token_rows.hpp"

#include <cmath>
#include <cstring>

#include <ATen/ops/empty.h>
#include <c10/util/BFloat16.h>
#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>
#include <lockstep/torch.hpp>

namespace gemma4 {

double embedding_scale(std::int64_t width, lockstep::DType dtype) {
  const auto scale = static_cast<float>(std::sqrt(static_cast<double>(width)));
  return dtype == lockstep::DType::bfloat16 ? static_cast<float>(c10::BFloat16(scale)) : scale;
}

// By bytes: the table may be unaligned, and LibTorch would copy all of it first.
at::Tensor scaled_rows(const lockstep::Tensor& table, std::span<const std::int64_t> ids, double scale,
                       lockstep::DType dtype) {
  const auto vocabulary = table.size(0);
  const auto width = table.size(1);
  const auto bytes = static_cast<std::size_t>(width) * lockstep::element_size(table.dtype());
  const auto rows =
      at::empty({1, static_cast<std::int64_t>(ids.size()), width}, at::dtype(lockstep::to_torch(table.dtype())));
  auto* out = static_cast<std::byte*>(rows.mutable_data_ptr());
  for (std::size_t i = 0; i < ids.size(); ++i, out += bytes) {
    if (ids[i] < 0 || ids[i] >= vocabulary) {
      throw lockstep::Error{
          fmt::format("input_ids[0, {}] is {}, the vocabulary has ids 0 to {}", i, ids[i], vocabulary - 1),
          "use the tokenizer of this checkpoint"};
    }
    std::memcpy(out, table.data() + static_cast<std::size_t>(ids[i]) * bytes, bytes);
  }
  return rows.to(lockstep::to_torch(dtype)).mul(scale);  // mul_ would round the scale to bfloat16
}

}  // namespace gemma4
