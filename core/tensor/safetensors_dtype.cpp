#include "tensor/safetensors_dtype.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace lockstep::safetensors {
namespace {

using Row = std::pair<DType, std::string_view>;
constexpr std::array<Row, 18> table{{{DType::boolean, "BOOL"},
                                     {DType::uint8, "U8"},
                                     {DType::int8, "I8"},
                                     {DType::uint16, "U16"},
                                     {DType::int16, "I16"},
                                     {DType::uint32, "U32"},
                                     {DType::int32, "I32"},
                                     {DType::uint64, "U64"},
                                     {DType::int64, "I64"},
                                     {DType::float8_e4m3fn, "F8_E4M3"},
                                     {DType::float8_e5m2, "F8_E5M2"},
                                     {DType::float8_e4m3fnuz, "F8_E4M3FNUZ"},
                                     {DType::float8_e5m2fnuz, "F8_E5M2FNUZ"},
                                     {DType::float8_e8m0fnu, "F8_E8M0"},
                                     {DType::float16, "F16"},
                                     {DType::bfloat16, "BF16"},
                                     {DType::float32, "F32"},
                                     {DType::float64, "F64"}}};

}  // namespace

std::string_view format_name(DType dtype) { return std::ranges::find(table, dtype, &Row::first)->second; }

std::optional<DType> dtype_from_format(std::string_view name) {
  const auto row = std::ranges::find(table, name, &Row::second);
  if (row == table.end()) return std::nullopt;
  return row->first;
}

std::string format_names() {
  std::string list;
  for (const auto& [dtype, name] : table) list.append(list.empty() ? "" : ", ").append(name);
  return list;
}

}  // namespace lockstep::safetensors
