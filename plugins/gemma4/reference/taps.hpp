#pragma once

#include <ATen/core/Tensor.h>

#include <lockstep/port.hpp>
#include <lockstep/torch.hpp>
#include <string>
#include <utility>

namespace gemma4 {

/// Shows inner tensors as they are computed, under the names that recordings use: "vis.L0.q", "ple.token".
class Taps {
 public:
  /// `visitor` may be empty and must outlive this object.
  explicit Taps(const lockstep::TensorVisitor& visitor, std::string prefix = {})
      : visitor_(&visitor), prefix_(std::move(prefix)) {}

  [[nodiscard]] Taps under(const std::string& name) const { return Taps(*visitor_, prefix_ + name + "."); }

  /// Returns `tensor`, so that a line of the model can be tapped where it stands.
  const at::Tensor& operator()(const std::string& name, const at::Tensor& tensor) const {
    if (*visitor_) (*visitor_)(prefix_ + name, lockstep::Tensor(tensor));
    return tensor;
  }

 private:
  const lockstep::TensorVisitor* visitor_;
  std::string prefix_;
};

}  // namespace gemma4
