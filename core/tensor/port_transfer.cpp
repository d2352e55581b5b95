#include <span>

#include <lockstep/port.hpp>

namespace lockstep {
namespace {

constexpr const char* tensor_name = "tensor";
constexpr const char* text_name = "text";

}  // namespace

NamedTensors PortTransfer<Tensor>::to_tensors(const Tensor& tensor) { return NamedTensors({{tensor_name, tensor}}); }
Tensor PortTransfer<Tensor>::from_tensors(const NamedTensors& tensors) { return tensors.at(tensor_name); }

NamedTensors PortTransfer<NamedTensors>::to_tensors(const NamedTensors& tensors) { return tensors; }
NamedTensors PortTransfer<NamedTensors>::from_tensors(const NamedTensors& tensors) { return tensors; }

NamedTensors PortTransfer<std::string>::to_tensors(const std::string& text) {
  const auto size = static_cast<std::int64_t>(text.size());
  return NamedTensors({{text_name, Tensor::copy_of(std::as_bytes(std::span(text)), DType::uint8, {size})}});
}
std::string PortTransfer<std::string>::from_tensors(const NamedTensors& tensors) {
  const auto bytes = tensors.at(text_name).values<std::uint8_t>();
  return {bytes.begin(), bytes.end()};
}

}  // namespace lockstep
