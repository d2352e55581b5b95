#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "checkpoint/checkpoint.hpp"

namespace gemma4 {

/// The weights below one prefix of a checkpoint, as the model computes with them.
///
/// A weight of the model dtype is a view of the map; one of another dtype is converted each time it is asked for, as
/// loading with that dtype would have done.
class Weights {
 public:
  Weights(const Checkpoint& checkpoint, at::ScalarType dtype, std::string prefix)
      : checkpoint_(&checkpoint), dtype_(dtype), prefix_(std::move(prefix)) {}

  [[nodiscard]] at::Tensor operator()(const std::string& name) const;
  [[nodiscard]] Weights under(const std::string& name) const { return {*checkpoint_, dtype_, prefix_ + name + "."}; }
  [[nodiscard]] at::ScalarType dtype() const noexcept { return dtype_; }

 private:
  const Checkpoint* checkpoint_;
  at::ScalarType dtype_;
  std::string prefix_;
};

}  // namespace gemma4
