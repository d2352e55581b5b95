// Memory of tensors in a file that another process maps.

#include <cstdint>
#include <numeric>
#include <vector>

#include "catch.hpp"
#include "engine/tensor_memory.hpp"
#include "lockstep/diagnostic.hpp"

using namespace lockstep;

namespace {

Tensor counting(std::int64_t count) {
  std::vector<std::int32_t> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  return Tensor::copy_of(std::span<const std::int32_t>(values), {count});
}

}  // namespace

TEST_CASE("memory that tensors share is written once, and alignment to a page stays") {
  const auto whole = counting(3000);
  const auto* data = reinterpret_cast<const std::int32_t*>(whole.data());
  const Tensor part(whole.owner(), data + 1, DType::int32, {10}, {7});
  const auto apart = counting(5);
  TensorMemory memory;
  for (const auto& tensor : {whole, part, apart}) memory.add(tensor);
  TemporaryFile file;
  memory.write(file);
  CHECK(memory.placed(1).offset == memory.placed(0).offset + 4);
  const auto mapped = MappedFile::open(file.path());
  CHECK(mapped->bytes().size() < 3 * 4096 + 12000 + 20);
  const std::vector<Tensor> tensors{whole, part, apart};
  for (std::size_t i = 0; i < 3; ++i) {
    const auto received = tensor_at(mapped, memory.placed(i));
    CHECK(reinterpret_cast<std::uintptr_t>(received.data()) % 4096 ==
          reinterpret_cast<std::uintptr_t>(tensors[i].data()) % 4096);
    CHECK(received.strides() == tensors[i].strides());
  }
  CHECK(tensor_at(mapped, memory.placed(1)).contiguous().values<std::int32_t>()[9] == 64);
}

TEST_CASE("a place within what was sent leads back to the original, another does not") {
  const auto whole = counting(10);
  TensorMemory memory;
  memory.add(whole);
  TemporaryFile file;
  memory.write(file);
  auto place = memory.placed(0);
  CHECK(memory.original(place).value().data() == whole.data());
  place.offset += 4;
  CHECK_FALSE(memory.original(place).has_value());
  place.sizes = {9};
  CHECK(memory.original(place).value().data() == whole.data() + 4);
}

TEST_CASE("a tensor that reaches out of the file is refused") {
  const auto whole = counting(4);
  TensorMemory memory;
  memory.add(whole);
  TemporaryFile file;
  memory.write(file);
  const auto mapped = MappedFile::open(file.path());
  const auto good = memory.placed(0);
  CHECK_NOTHROW(tensor_at(mapped, good));
  auto later = good;
  later.offset += 1;
  CHECK_THROWS_AS(tensor_at(mapped, later), Error);
  auto backwards = good;
  backwards.strides = {-1};
  backwards.offset = 4;
  CHECK_THROWS_AS(tensor_at(mapped, backwards), Error);
  auto endless = good;
  endless.strides = {INT64_MAX};
  CHECK_THROWS_AS(tensor_at(mapped, endless), Error);
  auto ragged = good;
  ragged.strides = {1, 1};
  CHECK_THROWS_AS(tensor_at(mapped, ragged), Error);
}
