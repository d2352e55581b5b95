#include "kernels/kernels.hpp"

#include <ATen/ops/bmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>

#include <atomic>
#include <lockstep/torch.hpp>
#include <optional>

#include "kernels/dot64.hpp"
#include "kernels/products.hpp"
#include "kernels/proven.hpp"
#include "kernels/sum4.hpp"

namespace lockstep {
namespace {

using kernels::Form;
using kernels::ProductShape;

std::atomic<Kernels> setting{Kernels::automatic};

kernels::Proven& proven() {
  static kernels::Proven instance;
  return instance;
}

bool is_bfloat16(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kBFloat16 && tensor.device().is_cpu() && tensor.layout() == at::kStrided;
}

kernels::Rows rows_of(const at::Tensor& t) {
  return {static_cast<const std::uint16_t*>(t.const_data_ptr()), t.size(0) == 1 ? 0 : t.stride(0), t.stride(1)};
}

/// a and b of three dimensions, b with contiguous rows.
at::Tensor product(Form form, const at::Tensor& a, const at::Tensor& b) {
  const auto batch = a.size(0), m = a.size(1), k = a.size(2);
  const auto n = form == Form::plain ? b.size(2) : b.size(1);
  auto out = at::empty({batch, m, n}, a.options());
  auto* data = static_cast<std::uint16_t*>(out.mutable_data_ptr());
  const kernels::Sizes sizes{batch, m, n, k};
  if (form == Form::plain) {
    kernels::sum4(rows_of(a), rows_of(b), sizes, data);
  } else {
    kernels::dot64(rows_of(a), rows_of(b), sizes, data);
  }
  return out;
}

/// Below, LibTorch has other kernels, and nothing is to be gained.
constexpr std::int64_t least_multiplications = 4096;

bool serves(Form form, const ProductShape& shape) {
  if (setting.load() == Kernels::torch || !kernels::has_avx2()) return false;
  if (shape.batch * shape.m * shape.n * shape.k == 0 || shape.m * shape.n * shape.k < least_multiplications)
    return false;
  return form == Form::plain ? shape.n % kernels::sum_columns == 0 : shape.k % kernels::dot_lanes == 0;
}

at::Tensor fast_linear(const at::Tensor& x, const at::Tensor& weight) {
  return product(Form::linear, x.unsqueeze(0), weight.unsqueeze(0)).squeeze(0);
}
at::Tensor torch_linear(const at::Tensor& x, const at::Tensor& weight) { return at::linear(x, weight); }

at::Tensor fast_plain(const at::Tensor& a, const at::Tensor& b) { return product(Form::plain, a, b); }
at::Tensor fast_transposed(const at::Tensor& a, const at::Tensor& b) {
  return product(Form::transposed, a, b.transpose(1, 2));
}
at::Tensor torch_product(const at::Tensor& a, const at::Tensor& b) { return at::bmm(a, b); }

/// The form of b [batch, K, N]; none if neither its rows nor its columns are contiguous.
std::optional<Form> form_of(const at::Tensor& b) {
  if (b.stride(2) == 1 && b.stride(1) >= b.size(2)) return Form::plain;
  if (b.stride(1) == 1 && b.stride(2) >= b.size(1)) return Form::transposed;
  return std::nullopt;
}

std::optional<at::Tensor> fast_matmul(const at::Tensor& a, const at::Tensor& b) {
  if (!is_bfloat16(a) || !is_bfloat16(b) || a.dim() < 3 || a.dim() != b.dim()) return std::nullopt;
  if (a.sizes().slice(0, a.dim() - 2) != b.sizes().slice(0, a.dim() - 2)) return std::nullopt;
  if (a.size(-1) != b.size(-2) || a.numel() == 0 || b.numel() == 0) return std::nullopt;
  const auto left = a.reshape({-1, a.size(-2), a.size(-1)});
  const auto right = b.reshape({-1, b.size(-2), b.size(-1)});
  const auto form = form_of(right);
  if (!form || left.stride(2) != 1 || (left.size(1) > 1 && left.stride(1) < left.size(2))) return std::nullopt;
  const ProductShape shape{left.size(0), left.size(1), right.size(2), left.size(2)};
  const auto fast = *form == Form::plain ? fast_plain : fast_transposed;
  if (!serves(*form, shape) || !proven().covers(*form, shape, fast, torch_product)) return std::nullopt;
  auto sizes = a.sizes().vec();
  sizes.back() = right.size(2);
  return fast(left, right).view(sizes);
}

}  // namespace

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight) {
  if (!is_bfloat16(x) || !is_bfloat16(weight) || x.dim() == 0 || weight.dim() != 2 || x.size(-1) != weight.size(1) ||
      x.numel() == 0 || weight.numel() == 0 || weight.stride(1) != 1 || weight.stride(0) < weight.size(1)) {
    return at::linear(x, weight);
  }
  const auto rows = x.reshape({-1, x.size(-1)});
  const ProductShape shape{1, rows.size(0), weight.size(0), weight.size(1)};
  const bool contiguous = rows.stride(1) == 1 && (rows.size(0) == 1 || rows.stride(0) >= rows.size(1));
  if (!contiguous || !serves(Form::linear, shape) || !proven().covers(Form::linear, shape, fast_linear, torch_linear)) {
    return at::linear(x, weight);
  }
  auto sizes = x.sizes().vec();
  sizes.back() = weight.size(0);
  return fast_linear(rows, weight).view(sizes);
}

at::Tensor matmul(const at::Tensor& a, const at::Tensor& b) {
  if (auto result = fast_matmul(a, b)) return *std::move(result);
  return at::matmul(a, b);
}

void set_kernels(Kernels kernels) { setting = kernels; }

KernelsReport kernels_report() {
  if (setting.load() == Kernels::torch) return {"torch", "asked for"};
  if (!kernels::has_avx2()) return {"torch", "the CPU has no AVX2"};
  return proven().report();
}

}  // namespace lockstep
