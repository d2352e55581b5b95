#pragma once

#include <functional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include <lockstep/tensor.hpp>

namespace common {

/// Runs `action`; what LibTorch throws becomes a lockstep::Error "WHO: …" with the line of LibTorch's text that says
/// what is wrong.
void translated(const std::string& who, const std::function<void()>& action);

/// The tensors that `names` name, in that order; contiguous copies, as a module may write into what it is
/// given. Throws lockstep::Error that begins with `who` if there is no such tensor.
[[nodiscard]] std::vector<at::Tensor> arguments_of(const std::string& who, const lockstep::NamedTensors& inputs,
                                                   const std::vector<std::string>& names);

/// `values` called by `names`. Throws lockstep::Error that begins with `who` if there are more or fewer.
[[nodiscard]] lockstep::NamedTensors named(const std::string& who, const std::vector<at::Tensor>& values,
                                           const std::vector<std::string>& names);

}  // namespace common
