#include "torch_calls.hpp"

#include <stdexcept>

#include <ATen/ops/clone.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lockstep/diagnostic.hpp>
#include <lockstep/torch.hpp>

namespace common {

using namespace lockstep;

void translated(const std::string& who, const std::function<void()>& action) {
  std::string text;
  try {
    return action();
  } catch (const Error&) {
    throw;
  } catch (const c10::Error& error) {
    text = error.what_without_backtrace();
  } catch (const std::runtime_error& error) {  // the interpreter's own
    text = error.what();
  }
  text.erase(text.find_last_not_of(" \n") + 1);
  // The interpreter's own words come after its trace, all others first.
  const bool has_trace = text.find("Traceback of TorchScript") != std::string::npos;
  throw Error{
      fmt::format("{}: {}", who, has_trace ? text.substr(text.rfind('\n') + 1) : text.substr(0, text.find('\n')))};
}

std::vector<at::Tensor> arguments_of(const std::string& who, const NamedTensors& inputs,
                                     const std::vector<std::string>& names) {
  std::vector<at::Tensor> arguments;
  for (const auto& name : names) {
    const Tensor* tensor = inputs.find(name);
    if (tensor == nullptr)
      throw Error{Diagnostic{.message = fmt::format("{}: the argument '{}' is not among the inputs, which are: {}", who,
                                                    name, fmt::join(inputs.names(), ", ")),
                             .did_you_mean = did_you_mean(name, inputs.names())}};
    arguments.push_back(to_torch(tensor->contiguous()).clone());
  }
  return arguments;
}

NamedTensors named(const std::string& who, const std::vector<at::Tensor>& values,
                   const std::vector<std::string>& names) {
  if (values.size() != names.size())
    throw Error{fmt::format("{}: it returned {} tensors, `results` names {}", who, values.size(), names.size())};
  NamedTensors result;
  for (std::size_t i = 0; i < values.size(); ++i) result.add(names[i], values[i]);
  return result;
}

}  // namespace common
