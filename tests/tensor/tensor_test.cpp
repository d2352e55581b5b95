#include <lockstep/tensor.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <lockstep/diagnostic.hpp>

#include "catch.hpp"

using namespace lockstep;

namespace {

Tensor counting(std::vector<std::int64_t> sizes) {
  std::int64_t count = 1;
  for (const auto n : sizes) count *= n;
  std::vector<std::int32_t> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(i);
  return Tensor::copy_of(std::span<const std::int32_t>(values), std::move(sizes));
}

std::vector<std::int32_t> list(const Tensor& tensor) {
  const auto values = tensor.values<std::int32_t>();
  return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("every dtype has PyTorch's name and element size") {
  const std::vector<std::pair<std::string, std::size_t>> expected{{"bool", 1},
                                                                  {"uint8", 1},
                                                                  {"int8", 1},
                                                                  {"uint16", 2},
                                                                  {"int16", 2},
                                                                  {"uint32", 4},
                                                                  {"int32", 4},
                                                                  {"uint64", 8},
                                                                  {"int64", 8},
                                                                  {"float8_e4m3fn", 1},
                                                                  {"float8_e5m2", 1},
                                                                  {"float8_e4m3fnuz", 1},
                                                                  {"float8_e5m2fnuz", 1},
                                                                  {"float8_e8m0fnu", 1},
                                                                  {"float16", 2},
                                                                  {"bfloat16", 2},
                                                                  {"float32", 4},
                                                                  {"float64", 8}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto dtype = static_cast<DType>(i);
    CHECK(name_of(dtype) == expected[i].first);
    CHECK(element_size(dtype) == expected[i].second);
    CHECK(is_floating_point(dtype) == (expected[i].first.find("float") != std::string::npos));
  }
}

TEST_CASE("a copy is contiguous, row-major and aligned to 64 bytes") {
  const Tensor t = counting({2, 3});
  CHECK(t.strides() == std::vector<std::int64_t>{3, 1});
  CHECK(t.is_contiguous());
  CHECK(reinterpret_cast<std::uintptr_t>(t.data()) % 64 == 0);
  CHECK(list(t) == std::vector<std::int32_t>{0, 1, 2, 3, 4, 5});
  CHECK(t.to_string() == "int32 [2, 3]");
  CHECK(t.size(-1) == 3);
  CHECK(t.size(0) == 2);
  CHECK_THROWS_AS(t.size(2), Error);
  CHECK_THROWS_AS(t.size(-3), Error);
}

TEST_CASE("a 0-d tensor has one element and an empty one has none") {
  CHECK(counting({}).numel() == 1);
  CHECK(counting({}).dim() == 0);
  CHECK(counting({}).to_string() == "int32 []");
  CHECK(counting({3, 0, 2}).numel() == 0);
  CHECK(counting({3, 0, 2}).is_contiguous());
  CHECK(Tensor().numel() == 0);
  CHECK(Tensor().sizes() == std::vector<std::int64_t>{0});
}

TEST_CASE("contiguous gathers what strides name, and is the same tensor where there is nothing to gather") {
  const Tensor t = counting({3, 4});
  const Tensor transposed{t.owner(), t.data(), DType::int32, {4, 3}, {1, 4}};
  CHECK_FALSE(transposed.is_contiguous());
  CHECK(list(transposed.contiguous()) == std::vector<std::int32_t>{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
  const Tensor backward{t.owner(), t.data() + 11 * 4, DType::int32, {3, 4}, {-4, -1}};
  CHECK(list(backward.contiguous()) == std::vector<std::int32_t>{11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0});
  const Tensor rows{t.owner(), t.data(), DType::int32, {2, 4}, {0, 1}};
  CHECK(list(rows.contiguous()) == std::vector<std::int32_t>{0, 1, 2, 3, 0, 1, 2, 3});
  const Tensor one_row{t.owner(), t.data(), DType::int32, {1, 4}, {99, 1}};
  CHECK(one_row.is_contiguous());
  CHECK(t.contiguous().data() == t.data());
}

TEST_CASE("values are read in their own dtype only, contiguous and aligned") {
  const Tensor t = counting({2, 3});
  CHECK_THROWS_AS(t.values<float>(), Error);
  const Tensor transposed{t.owner(), t.data(), DType::int32, {3, 2}, {1, 3}};
  CHECK_THROWS_AS(transposed.values<std::int32_t>(), Error);
  const Tensor shifted{t.owner(), t.data() + 1, DType::int32, {2}};
  CHECK_THROWS_AS(shifted.values<std::int32_t>(), Error);
}

TEST_CASE("copying the handle keeps the data alive and copies nothing") {
  auto owner = std::make_shared<std::vector<float>>(4, 1.0F);
  const std::weak_ptr<std::vector<float>> watch = owner;
  const void* data = owner->data();
  auto first = std::make_unique<Tensor>(std::move(owner), data, DType::float32, std::vector<std::int64_t>{4});
  const Tensor second = *first;
  first.reset();
  CHECK_FALSE(watch.expired());
  CHECK(second.data() == data);
}

TEST_CASE("sizes and bytes that do not fit are errors that name them") {
  const std::array<std::byte, 8> bytes{};
  CHECK_THROWS_WITH(Tensor::copy_of(bytes, DType::float32, {3}),
                    "8 bytes were given for a tensor float32 [3], expected 12");
  CHECK_THROWS_AS(Tensor(nullptr, bytes.data(), DType::float32, {-1}), Error);
  CHECK_THROWS_AS(Tensor(nullptr, bytes.data(), DType::float32, {2}, {1, 1}), Error);
  CHECK_THROWS_AS(Tensor(nullptr, nullptr, DType::float32, {2}), Error);
  const std::int64_t half = std::int64_t{1} << 32;
  CHECK_THROWS_AS(Tensor(nullptr, bytes.data(), DType::float32, {half, half}), Error);
  CHECK_THROWS_AS(Tensor::copy_of(bytes, DType::float64, {std::numeric_limits<std::int64_t>::max() / 2}), Error);
}
