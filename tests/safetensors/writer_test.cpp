#include <array>
#include <bit>
#include <cstring>
#include <numeric>
#include <string>

#include <nlohmann/json.hpp>

#include <sys/resource.h>

#include <lockstep/safetensors.hpp>

#include "catch.hpp"
#include "safetensors/files.hpp"

using namespace lockstep;

namespace {

using Tensors = std::vector<std::pair<std::string, Tensor>>;

/// Bytes 1, 2, 3, …
Tensor counting(DType dtype, std::vector<std::int64_t> sizes) {
  std::size_t bytes = element_size(dtype);
  for (const auto size : sizes) bytes *= static_cast<std::size_t>(size);
  std::vector<std::byte> values(bytes);
  for (std::size_t i = 0; i < bytes; ++i) values[i] = static_cast<std::byte>(i + 1);
  return Tensor::copy_of(std::span<const std::byte>(values), dtype, std::move(sizes));
}

/// Sizes that are multiples of 64 bytes and sizes that are not, in an order that favours neither.
Tensors mixed() {
  return {{"odd", counting(DType::uint8, {7})},
          {"even", counting(DType::bfloat16, {4, 32})},
          {"scalar", counting(DType::float64, {})},
          {"empty", counting(DType::float32, {0, 3})},
          {"second even", counting(DType::int64, {2, 8})},
          {"boolean", counting(DType::boolean, {65})}};
}

/// The header as another program sees it.
nlohmann::json header_of(const std::string& bytes) {
  std::uint64_t length = 0;
  static_assert(std::endian::native == std::endian::little);
  std::memcpy(&length, bytes.data(), 8);
  return nlohmann::json::parse(bytes.substr(8, length));
}

std::uint64_t data_start(const std::string& bytes) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  return 8 + length;
}

}  // namespace

TEST_CASE("what is written reads back: names in their order, dtypes, shapes, bytes, metadata") {
  const TemporaryFolder folder;
  const auto tensors = mixed();
  write_safetensors(folder / "a.safetensors", tensors, {{"format", "pt"}, {"line\n", "\"ü\""}});
  const auto file = SafetensorsFile::open(folder / "a.safetensors");
  CHECK(file.names() == std::vector<std::string>{"odd", "even", "scalar", "empty", "second even", "boolean"});
  CHECK(file.metadata() == std::map<std::string, std::string>{{"format", "pt"}, {"line\n", "\"ü\""}});
  for (const auto& [name, tensor] : tensors) {
    CAPTURE(name);
    const Tensor& read = file.at(name);
    CHECK(read.dtype() == tensor.dtype());
    CHECK(read.sizes() == tensor.sizes());
    const auto bytes = static_cast<std::size_t>(tensor.numel()) * element_size(tensor.dtype());
    CHECK((bytes == 0 || std::memcmp(read.data(), tensor.data(), bytes) == 0));
  }
}

TEST_CASE("every tensor starts at a multiple of 64 bytes of the file and no byte lies between entries") {
  const TemporaryFolder folder;
  write_safetensors(folder / "a.safetensors", mixed());
  const auto bytes = load(folder / "a.safetensors");
  const auto header = header_of(bytes);
  CHECK(data_start(bytes) % 64 == 0);
  std::map<std::uint64_t, std::uint64_t> spans;
  for (const auto& [name, entry] : header.items()) {
    CAPTURE(name);
    const auto begin = entry["data_offsets"][0].get<std::uint64_t>();
    const auto end = entry["data_offsets"][1].get<std::uint64_t>();
    if (!name.starts_with("__lockstep_padding__")) CHECK((data_start(bytes) + begin) % 64 == 0);
    if (end > begin) spans[begin] = end;
  }
  std::uint64_t covered = 0;
  for (const auto& [begin, end] : spans) {
    CHECK(begin == covered);
    covered = end;
  }
  CHECK(covered == bytes.size() - data_start(bytes));
}

TEST_CASE("padding entries appear only between tensors that need them") {
  const TemporaryFolder folder;
  const auto entries = [&](const Tensors& tensors) {
    write_safetensors(folder / "a.safetensors", tensors);
    return header_of(load(folder / "a.safetensors")).size();
  };
  CHECK(entries({}) == 0);
  CHECK(entries({{"a", counting(DType::float32, {16})}, {"b", counting(DType::float32, {32})}}) == 2);
  CHECK(entries({{"odd", counting(DType::float32, {1})}, {"b", counting(DType::float32, {32})}}) == 2);
  CHECK(entries({{"odd", counting(DType::float32, {1})}, {"b", counting(DType::float32, {2})}}) == 3);
}

TEST_CASE("a tensor that is not contiguous is written in row-major order") {
  const TemporaryFolder folder;
  const std::array<std::int32_t, 6> values{1, 2, 3, 4, 5, 6};
  const auto matrix = Tensor::copy_of(std::span<const std::int32_t>(values), {2, 3});
  const Tensor transposed(matrix.owner(), matrix.data(), DType::int32, {3, 2}, {1, 3});
  const Tensor row(matrix.owner(), matrix.data(), DType::int32, {2, 3}, {0, 1});
  write_safetensors(folder / "a.safetensors", {{"transposed", transposed}, {"row", row}});
  const auto file = SafetensorsFile::open(folder / "a.safetensors");
  const auto list = [&](const char* name) {
    const auto span = file.at(name).values<std::int32_t>();
    return std::vector<std::int32_t>(span.begin(), span.end());
  };
  CHECK(list("transposed") == std::vector<std::int32_t>{1, 4, 2, 5, 3, 6});
  CHECK(list("row") == std::vector<std::int32_t>{1, 2, 3, 1, 2, 3});
}

TEST_CASE("names that the format or the reader could not give back are refused, and nothing is written") {
  const TemporaryFolder folder;
  const auto one = counting(DType::uint8, {1});
  const auto complaint = [&](const Tensors& tensors, const std::map<std::string, std::string>& metadata = {}) {
    return error_of([&] { write_safetensors(folder / "a.safetensors", tensors, metadata); });
  };
  CHECK(complaint({{"a", one}, {"a", one}}) == R"(two tensors are named "a", expected unique names)");
  CHECK(complaint({{"__metadata__", one}}) == R"(a tensor cannot be named "__metadata__": the name is reserved)");
  CHECK(complaint({{"__lockstep_padding__0", one}}) ==
        R"(a tensor cannot be named "__lockstep_padding__0": the name is reserved)");
  CHECK(complaint({{"a\xff", one}}).ends_with("is not UTF-8; safetensors stores names and metadata as UTF-8"));
  CHECK(complaint({{"a", one}}, {{"k", "\xc3"}})
            .ends_with("is not UTF-8; safetensors stores names and metadata as UTF-8"));
  CHECK(folder.entries() == 0);
}

TEST_CASE("a file is replaced while its tensors are still in use") {
  const TemporaryFolder folder;
  const auto path = folder / "a.safetensors";
  write_safetensors(path, {{"a", counting(DType::uint8, {4})}});
  const Tensor old = SafetensorsFile::open(path).at("a");
  write_safetensors(path, {{"a", old}, {"b", old}});
  CHECK(old.values<std::uint8_t>()[3] == 4);
  CHECK(SafetensorsFile::open(path).at("b").values<std::uint8_t>()[3] == 4);
}

TEST_CASE("a write that fails half-way leaves the old file and no partial one") {
  const TemporaryFolder folder;
  const auto path = folder / "a.safetensors";
  write_safetensors(path, {{"a", counting(DType::uint8, {4})}});
  const auto before = load(path);
  rlimit limit{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &limit) == 0);
  const rlimit small{.rlim_cur = 1 << 20, .rlim_max = limit.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  const auto message = error_of([&] { write_safetensors(path, {{"big", counting(DType::uint8, {2 << 20})}}); });
  setrlimit(RLIMIT_FSIZE, &limit);
  CHECK(message == "cannot write " + path.string() + ": File too large");
  CHECK(load(path) == before);
  CHECK(folder.entries() == 1);
}
