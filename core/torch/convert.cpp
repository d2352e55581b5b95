#include <ATen/ops/from_blob.h>

#include <array>
#include <cstdint>
#include <lockstep/diagnostic.hpp>
#include <lockstep/torch.hpp>
#include <span>
#include <string>
#include <utility>

namespace lockstep {
namespace {

constexpr std::array<std::pair<DType, at::ScalarType>, 18> dtypes{{
    {DType::boolean, at::ScalarType::Bool},
    {DType::uint8, at::ScalarType::Byte},
    {DType::int8, at::ScalarType::Char},
    {DType::uint16, at::ScalarType::UInt16},
    {DType::int16, at::ScalarType::Short},
    {DType::uint32, at::ScalarType::UInt32},
    {DType::int32, at::ScalarType::Int},
    {DType::uint64, at::ScalarType::UInt64},
    {DType::int64, at::ScalarType::Long},
    {DType::float8_e4m3fn, at::ScalarType::Float8_e4m3fn},
    {DType::float8_e5m2, at::ScalarType::Float8_e5m2},
    {DType::float8_e4m3fnuz, at::ScalarType::Float8_e4m3fnuz},
    {DType::float8_e5m2fnuz, at::ScalarType::Float8_e5m2fnuz},
    {DType::float8_e8m0fnu, at::ScalarType::Float8_e8m0fnu},
    {DType::float16, at::ScalarType::Half},
    {DType::bfloat16, at::ScalarType::BFloat16},
    {DType::float32, at::ScalarType::Float},
    {DType::float64, at::ScalarType::Double},
}};

bool is_aligned(const Tensor& tensor) {
  return reinterpret_cast<std::uintptr_t>(tensor.data()) % element_size(tensor.dtype()) == 0;
}

bool has_negative_stride(const Tensor& tensor) {
  for (const auto stride : tensor.strides()) {
    if (stride < 0) return true;
  }
  return false;
}

/// LibTorch has no negative strides and reads elements through typed pointers.
Tensor readable_by_torch(const Tensor& tensor) {
  const Tensor strided = has_negative_stride(tensor) ? tensor.contiguous() : tensor;
  if (is_aligned(strided)) return strided;
  const Tensor dense = strided.contiguous();
  if (is_aligned(dense)) return dense;
  const auto bytes = static_cast<std::size_t>(dense.numel()) * element_size(dense.dtype());
  return Tensor::copy_of(std::span{dense.data(), bytes}, dense.dtype(), dense.sizes());
}

}  // namespace

at::ScalarType to_torch(DType dtype) {
  for (const auto& [ours, theirs] : dtypes) {
    if (ours == dtype) return theirs;
  }
  throw Error{"LibTorch has no dtype " + std::string(name_of(dtype))};
}

DType from_torch(at::ScalarType dtype) {
  for (const auto& [ours, theirs] : dtypes) {
    if (theirs == dtype) return ours;
  }
  throw Error{std::string("LibTorch's dtype ") + c10::toString(dtype) + " cannot be passed between steps",
              "convert it to one of PyTorch's boolean, integer or floating-point dtypes first"};
}

Tensor TensorAdapter<at::Tensor>::to_tensor(const at::Tensor& tensor) {
  if (!tensor.defined()) throw Error{"an undefined at::Tensor cannot be passed between steps"};
  if (!tensor.device().is_cpu()) {
    throw Error{"an at::Tensor on device " + tensor.device().str() + " cannot be passed between steps",
                "copy it to the CPU first"};
  }
  if (tensor.layout() != at::kStrided) {
    throw Error{"a sparse at::Tensor cannot be passed between steps", "make it dense first (to_dense)"};
  }
  const DType dtype = from_torch(tensor.scalar_type());
  const auto owner = std::make_shared<const at::Tensor>(tensor.resolve_neg());
  return {owner, owner->const_data_ptr(), dtype, owner->sizes().vec(), owner->strides().vec()};
}

at::Tensor to_torch(const Tensor& tensor) {
  const Tensor source = readable_by_torch(tensor);
  // from_blob takes a mutable address; the contract of to_torch forbids to write through it.
  void* data = const_cast<std::byte*>(source.data());
  const auto options = at::TensorOptions().dtype(to_torch(source.dtype())).device(at::kCPU);
  return at::from_blob(
      data, source.sizes(), source.strides(), [owner = source.owner()](void*) {}, options);
}

}  // namespace lockstep
