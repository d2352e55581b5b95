#pragma once

#include "checkpoint/json_reader.hpp"

// Far beyond any model of the family, small enough that products of three of them fit 64 bits.

namespace gemma4 {

inline constexpr IntegerRange layer_range{1, 1024};
inline constexpr IntegerRange head_range{1, 4096};
inline constexpr IntegerRange size_range{1, std::int64_t{1} << 20};
inline constexpr IntegerRange vocab_range{1, std::int64_t{1} << 24};
inline constexpr IntegerRange position_range{1, std::int64_t{1} << 30};

}  // namespace gemma4
