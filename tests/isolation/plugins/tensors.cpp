#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include <lockstep/step.hpp>

namespace {
using namespace lockstep;

/// Publishes tensors of every kind of layout and value.
struct Tensors final : Step {
  Out<NamedTensors> set{*this, "set", "every kind"};
  Out<Tensor> numbers{*this, "numbers", "[2, 3]"};
  Out<std::string> text{*this, "text", "a text with a zero byte"};

  void run(StepContext&) override {
    const std::array<float, 6> values{1, -0.0F, std::nanf("7"), std::numeric_limits<float>::infinity(), 1e-42F, 6};
    const auto plain = Tensor::copy_of(std::span<const float>(values), {2, 3});
    const auto* data = reinterpret_cast<const float*>(plain.data());
    NamedTensors tensors;
    tensors.add("plain", plain);
    tensors.add("transposed", Tensor(plain.owner(), data, DType::float32, {3, 2}, {1, 3}));
    tensors.add("column", Tensor(plain.owner(), data + 1, DType::float32, {2}, {3}));
    tensors.add("reversed", Tensor(plain.owner(), data + 5, DType::float32, {6}, {-1}));
    tensors.add("expanded", Tensor(plain.owner(), data, DType::float32, {4, 3}, {0, 1}));
    tensors.add("scalar", Tensor(plain.owner(), data + 5, DType::float32, {}));
    tensors.add("empty", Tensor(nullptr, nullptr, DType::int64, {0, 3}));
    tensors.add("unaligned", Tensor(plain.owner(), plain.data() + 1, DType::int16, {3}));
    const std::array<bool, 3> flags{true, false, true};
    tensors.add("flags", Tensor::copy_of(std::span<const bool>(flags), {3}));
    const std::array<std::int64_t, 2> large{std::numeric_limits<std::int64_t>::min(), 1};
    tensors.add("large", Tensor::copy_of(std::span<const std::int64_t>(large), {2}));
    tensors.add("half", Tensor(plain.owner(), data, DType::bfloat16, {12}));
    set = tensors;
    numbers = plain;
    text = std::string("a\0b\nä", 6);
  }
};
}  // namespace

LOCKSTEP_STEP("iso.tensors", Tensors, "publishes tensors of every kind")
