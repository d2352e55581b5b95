#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <lockstep/tensor.hpp>

namespace lockstep::safetensors {

/// "BF16", "F8_E4M3", …: the format's name of a dtype.
[[nodiscard]] std::string_view format_name(DType dtype);
/// None for names that the format does not know or that Tensor does not have (sub-byte floats, complex).
[[nodiscard]] std::optional<DType> dtype_from_format(std::string_view name);
/// "BOOL, U8, …": all that `dtype_from_format` knows.
[[nodiscard]] std::string format_names();

}  // namespace lockstep::safetensors
