#pragma once

#include <array>
#include <cstdint>
#include <span>

#include <lockstep/port.hpp>

namespace gemma4 {

/// What the decode step found, for a reader that has to explain a differing token.
struct DecodeErrors {
  bool passed = false;     ///< every required check of decode holds
  std::int64_t steps = 0;  ///< that were compared
  double bound = 0;        ///< the smallest bound of max |a - e| of the logits
};

}  // namespace gemma4

LOCKSTEP_PORT_TYPE(gemma4::DecodeErrors, "gemma4.decode_errors/1");

template <>
struct lockstep::PortTransfer<gemma4::DecodeErrors> {
  static lockstep::NamedTensors to_tensors(const gemma4::DecodeErrors& errors) {
    const std::array<std::int64_t, 2> counts{errors.passed ? 1 : 0, errors.steps};
    return lockstep::NamedTensors({{"counts", Tensor::copy_of(std::span<const std::int64_t>(counts), {2})},
                                   {"bound", Tensor::copy_of(std::span<const double>(&errors.bound, 1), {})}});
  }
  static gemma4::DecodeErrors from_tensors(const lockstep::NamedTensors& tensors) {
    const auto counts = tensors.at("counts").values<std::int64_t>();
    return {.passed = counts[0] != 0, .steps = counts[1], .bound = tensors.at("bound").values<double>().front()};
  }
};
