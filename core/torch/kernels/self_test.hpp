#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <lockstep/export.hpp>

namespace lockstep::kernels {

/// a[batch][m][k] times b -> [batch][m][n].
using Product = std::function<at::Tensor(const at::Tensor& a, const at::Tensor& b)>;

/// How the second matrix of a product lies in memory.
enum class Form : std::uint8_t {
  linear,      ///< at::linear: a[m][k], weight[n][k]
  transposed,  ///< at::bmm: b is the transpose of a contiguous [batch][n][k]
  plain,       ///< at::bmm: b is a contiguous [batch][k][n]
};
[[nodiscard]] LOCKSTEP_API const char* name_of(Form form);

/// Sizes of a product. batch is 1 for Form::linear.
struct ProductShape {
  std::int64_t batch, m, n, k;
};

/// Operands whose every product cancels: the values of k come in pairs, far apart and at random, equal in `a` and of
/// opposite sign in `b`, of sizes from 2^-8 to 2^8, beside a few small ones without a partner. What is left of a sum is
/// rounding alone, so nearly every output depends on the order of its additions.
struct CancellingOperands {
  at::Tensor a;  ///< bfloat16 [batch, m, k], of Form::linear [m, k]
  at::Tensor b;  ///< as the form has it; of Form::linear the weight [n, k]
};
[[nodiscard]] LOCKSTEP_API CancellingOperands cancelling_operands(Form form, const ProductShape& shape,
                                                                  std::uint64_t seed);

/// Compares `fast` with `right` on cancelling operands bit for bit. None: equal, else what differs:
/// "linear of 48 x 1536 by 1536 x 256: 11873 of 12288 values differ".
[[nodiscard]] LOCKSTEP_API std::optional<std::string> find_difference(Form form, const ProductShape& shape,
                                                                      const Product& fast, const Product& right);

}  // namespace lockstep::kernels
