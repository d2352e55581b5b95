#include <array>
#include <cstddef>

#include <lockstep/tensor.hpp>

namespace lockstep {
namespace {

struct Facts {
  DType dtype;
  std::size_t bytes;
  std::string_view name;
  bool floating;
};

constexpr std::array facts_by_dtype{
    Facts{DType::boolean, 1, "bool", false},
    Facts{DType::uint8, 1, "uint8", false},
    Facts{DType::int8, 1, "int8", false},
    Facts{DType::uint16, 2, "uint16", false},
    Facts{DType::int16, 2, "int16", false},
    Facts{DType::uint32, 4, "uint32", false},
    Facts{DType::int32, 4, "int32", false},
    Facts{DType::uint64, 8, "uint64", false},
    Facts{DType::int64, 8, "int64", false},
    Facts{DType::float8_e4m3fn, 1, "float8_e4m3fn", true},
    Facts{DType::float8_e5m2, 1, "float8_e5m2", true},
    Facts{DType::float8_e4m3fnuz, 1, "float8_e4m3fnuz", true},
    Facts{DType::float8_e5m2fnuz, 1, "float8_e5m2fnuz", true},
    Facts{DType::float8_e8m0fnu, 1, "float8_e8m0fnu", true},
    Facts{DType::float16, 2, "float16", true},
    Facts{DType::bfloat16, 2, "bfloat16", true},
    Facts{DType::float32, 4, "float32", true},
    Facts{DType::float64, 8, "float64", true},
};

constexpr bool in_enum_order() {
  for (std::size_t i = 0; i < facts_by_dtype.size(); ++i) {
    if (static_cast<std::size_t>(facts_by_dtype[i].dtype) != i) return false;
  }
  return true;
}
static_assert(in_enum_order());

const Facts& facts(DType dtype) { return facts_by_dtype[static_cast<std::size_t>(dtype)]; }

}  // namespace

std::size_t element_size(DType dtype) noexcept { return facts(dtype).bytes; }
std::string_view name_of(DType dtype) noexcept { return facts(dtype).name; }
bool is_floating_point(DType dtype) noexcept { return facts(dtype).floating; }

}  // namespace lockstep
