#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/imag.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <array>
#include <cstring>
#include <lockstep/diagnostic.hpp>
#include <lockstep/torch.hpp>
#include <memory>
#include <vector>

#include "catch.hpp"

using lockstep::DType;
using lockstep::Tensor;
using Sizes = std::vector<std::int64_t>;

namespace {
const std::array<float, 6> one_to_six{1, 2, 3, 4, 5, 6};
}

TEST_CASE("a tensor goes to LibTorch without a copy and keeps its data alive") {
  auto owner = std::make_shared<std::array<float, 6>>(one_to_six);
  const std::weak_ptr<std::array<float, 6>> watch = owner;
  at::Tensor converted = lockstep::to_torch(Tensor(owner, owner->data(), DType::float32, {2, 3}));
  CHECK(converted.const_data_ptr() == owner->data());
  CHECK(converted.sizes().vec() == Sizes{2, 3});
  CHECK(at::equal(converted, at::tensor({1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F}).view({2, 3})));
  owner.reset();
  CHECK_FALSE(watch.expired());
  converted.reset();
  CHECK(watch.expired());
}

TEST_CASE("a LibTorch tensor becomes a tensor without a copy and stays alive") {
  auto source = at::arange(12, at::TensorOptions().dtype(at::kLong)).view({3, 4}).t();
  const void* data = source.const_data_ptr();
  const Tensor converted = source;
  source.reset();
  CHECK(converted.data() == data);
  CHECK(converted.dtype() == DType::int64);
  CHECK(converted.sizes() == Sizes{4, 3});
  CHECK(converted.strides() == Sizes{1, 4});
  const auto values = converted.contiguous();
  CHECK(values.values<std::int64_t>()[1] == 4);
}

TEST_CASE("an offset into a storage is kept") {
  const auto source = at::arange(10, at::TensorOptions().dtype(at::kFloat)).slice(0, 3, 7);
  CHECK(Tensor(source).values<float>()[0] == 3.0F);
}

// Names: PyTorch's documentation of torch.dtype and c10::ScalarType.
TEST_CASE("every dtype has its counterpart of the same size") {
  const auto [dtype, name] = GENERATE(table<DType, std::string>({
      {DType::boolean, "Bool"},
      {DType::uint8, "Byte"},
      {DType::int8, "Char"},
      {DType::uint16, "UInt16"},
      {DType::int16, "Short"},
      {DType::uint32, "UInt32"},
      {DType::int32, "Int"},
      {DType::uint64, "UInt64"},
      {DType::int64, "Long"},
      {DType::float8_e4m3fn, "Float8_e4m3fn"},
      {DType::float8_e5m2, "Float8_e5m2"},
      {DType::float8_e4m3fnuz, "Float8_e4m3fnuz"},
      {DType::float8_e5m2fnuz, "Float8_e5m2fnuz"},
      {DType::float8_e8m0fnu, "Float8_e8m0fnu"},
      {DType::float16, "Half"},
      {DType::bfloat16, "BFloat16"},
      {DType::float32, "Float"},
      {DType::float64, "Double"},
  }));
  const auto converted = lockstep::to_torch(dtype);
  CHECK(c10::toString(converted) == name);
  CHECK(c10::elementSize(converted) == lockstep::element_size(dtype));
  CHECK(lockstep::from_torch(converted) == dtype);
}

TEST_CASE("data that is not aligned to its element size is copied, with the same values") {
  alignas(8) static std::array<std::byte, 32> bytes;
  std::memcpy(bytes.data() + 1, one_to_six.data(), sizeof(one_to_six));
  const Tensor unaligned(nullptr, bytes.data() + 1, DType::float32, {6});
  const auto converted = lockstep::to_torch(unaligned);
  CHECK(reinterpret_cast<std::uintptr_t>(converted.const_data_ptr()) % alignof(float) == 0);
  CHECK(at::equal(converted, at::tensor({1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F})));
}

TEST_CASE("strides that LibTorch has and such that it has not") {
  const auto* data = one_to_six.data();
  const Tensor broadcast(nullptr, data, DType::float32, {2, 3}, {0, 1});
  CHECK(at::equal(lockstep::to_torch(broadcast), at::tensor({1.0F, 2.0F, 3.0F, 1.0F, 2.0F, 3.0F}).view({2, 3})));
  const Tensor backwards(nullptr, data + 5, DType::float32, {6}, {-1});
  CHECK(at::equal(lockstep::to_torch(backwards), at::tensor({6.0F, 5.0F, 4.0F, 3.0F, 2.0F, 1.0F})));
}

TEST_CASE("tensors without axes and without elements survive the way there and back") {
  const Tensor scalar(at::scalar_tensor(2.5, at::TensorOptions().dtype(at::kDouble)));
  CHECK(scalar.dim() == 0);
  CHECK(lockstep::to_torch(scalar).item<double>() == 2.5);
  const Tensor none(at::empty({2, 0, 3}));
  CHECK(none.sizes() == Sizes{2, 0, 3});
  CHECK(lockstep::to_torch(none).sizes().vec() == Sizes{2, 0, 3});
  CHECK(lockstep::to_torch(Tensor()).numel() == 0);
}

TEST_CASE("what a tensor cannot hold is refused") {
  const auto refused = [](const at::Tensor& tensor) {
    try {
      static_cast<void>(Tensor(tensor));
    } catch (const lockstep::Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_THAT(refused(at::Tensor()), contains_text("undefined"));
  CHECK_THAT(refused(at::empty({2}, at::TensorOptions().device(at::kMeta))), contains_text("device meta"));
  CHECK_THAT(refused(at::empty({2}, at::TensorOptions().dtype(at::kComplexFloat))), contains_text("ComplexFloat"));
  CHECK_THAT(refused(at::eye(3).to_sparse()), contains_text("sparse"));
}

TEST_CASE("a negated view arrives negated") {
  const auto conjugate = at::zeros({1}, at::TensorOptions().dtype(at::kComplexFloat)).fill_(c10::complex<float>(0, 3));
  const auto negative = at::imag(conjugate.conj());
  REQUIRE(negative.is_neg());
  CHECK(Tensor(negative).contiguous().values<float>()[0] == -3.0F);
}
