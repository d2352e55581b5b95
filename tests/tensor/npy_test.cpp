#include "tensor/npy.hpp"

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <lockstep/diagnostic.hpp>
#include <lockstep/safetensors.hpp>

#include "catch.hpp"

using namespace lockstep;

namespace {

const std::filesystem::path data = std::filesystem::path(LOCKSTEP_TEST_DATA) / "npy";

std::string content(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string hex(const Tensor& tensor) {
  const Tensor dense = tensor.contiguous();
  const auto size = static_cast<std::size_t>(dense.numel()) * element_size(dense.dtype());
  constexpr auto* digits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    const auto byte = std::to_integer<unsigned>(dense.data()[i]);
    text += {digits[byte >> 4], digits[byte & 15]};
  }
  return text;
}

/// Reads bytes at an address that is a multiple of 64, plus `offset`.
Tensor read(const std::string& bytes, std::size_t offset = 0) {
  const std::shared_ptr<std::byte[]> memory(new std::byte[bytes.size() + 128]);
  const auto start = (reinterpret_cast<std::uintptr_t>(memory.get()) + 63) / 64 * 64 + offset;
  std::memcpy(reinterpret_cast<void*>(start), bytes.data(), bytes.size());
  return read_npy(memory, {reinterpret_cast<const char*>(start), bytes.size()}, "x.npy");
}

std::string problem(const std::string& bytes) {
  try {
    (void)read(bytes);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

/// A version 1 file with this text as its header and `size` bytes of data.
std::string file_with(const std::string& header, std::size_t size = 24) {
  std::string bytes = "\x93NUMPY";
  bytes += {1, 0, static_cast<char>(header.size() % 256), static_cast<char>(header.size() / 256)};
  return bytes + header + std::string(size, '\0');
}

}  // namespace

TEST_CASE("what NumPy writes is read: every dtype, byte order, order of axes, shape and version") {
  const auto contents = nlohmann::json::parse(content(data / "contents.json"));
  REQUIRE(contents.size() >= 28);
  for (const auto& [name, expected] : contents.items()) {
    INFO(name);
    const auto file = read_tensor_file(data / (name + ".npy"));
    REQUIRE(file.size() == 1);
    const auto& tensor = file.at(name);
    CHECK(name_of(tensor.dtype()) == expected.at("dtype").get<std::string>());
    CHECK(tensor.sizes() == expected.at("shape").get<std::vector<std::int64_t>>());
    CHECK(hex(tensor) == expected.at("bytes").get<std::string>());
    CHECK(hex(read(content(data / (name + ".npy")), 1)) == expected.at("bytes").get<std::string>());  // not aligned
  }
}

TEST_CASE("data is mapped, not copied, where its bytes are the tensor's, in Fortran order too") {
  for (const auto* name : {"f4_little", "fortran_order", "u1_little"}) {
    const auto bytes = content(data / (std::string(name) + ".npy"));
    const auto owner = std::make_shared<std::string>(bytes);
    const auto tensor = read_npy(owner, *owner, name);
    const auto* begin = reinterpret_cast<const std::byte*>(owner->data());
    CHECK(tensor.data() >= begin);
    CHECK(tensor.data() < begin + owner->size());
  }
  CHECK(read_tensor_file(data / "fortran_order.npy").at("fortran_order").strides() ==
        std::vector<std::int64_t>{1, 2, 6});
}

TEST_CASE("a dtype that has no equal is refused by its name") {
  const auto refused = [](const std::string& name) { return problem(content(data / ("refused_" + name + ".npy"))); };
  CHECK(refused("complex").find("the dtype is \"<c8\", expected one of booleans") != std::string::npos);
  CHECK(refused("text").find("the dtype is \"<U2\"") != std::string::npos);
  CHECK(refused("date").find("the dtype is \"<M8[s]\"") != std::string::npos);
  CHECK(refused("long_double").find("the dtype is \"<f16\"") != std::string::npos);
  CHECK(refused("fields") == "x.npy: the array has fields ('descr' is a list), expected one dtype");
  CHECK(problem(file_with("{'descr': '|V2', 'fortran_order': False, 'shape': (3,)}")).find("the dtype is \"|V2\"") !=
        std::string::npos);
  CHECK(problem(file_with("{'descr': '|f4', 'fortran_order': False, 'shape': (6,)}")).find("the dtype is \"|f4\"") !=
        std::string::npos);
}

TEST_CASE("a file that ends too early is an error wherever it ends, and so is one that goes on") {
  const auto whole = content(data / "version_2.npy");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    INFO(size);
    CHECK(problem(whole.substr(0, size)) != "none");
  }
  CHECK(problem(whole) == "none");
  CHECK(problem(whole + "x") == "x.npy: float32 [3, 2] needs 24 bytes of data, found 25");
  CHECK(problem(whole.substr(0, whole.size() - 1)) == "x.npy: float32 [3, 2] needs 24 bytes of data, found 23");
  CHECK(problem("") == "x.npy: the file does not begin as a .npy file does (\\x93NUMPY)");
}

TEST_CASE("a malformed header is refused with what was found and what was expected") {
  const auto header = [](const std::string& text) { return problem(file_with(text)); };
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";
  CHECK(header(good) == "none");
  CHECK(header("{\"shape\":(2,3),'fortran_order':True,'descr':'<f4'}") == "none");
  CHECK(header("[]") == "x.npy: byte 0 of the header's text is \"[\", expected '{'");
  CHECK(header("{'descr': '<f4', 'fortran_order': False}") == "x.npy: the key 'shape' is missing");
  CHECK(header("{'descr': '<f4', 'descr': '<f4'}") == "x.npy: the key \"descr\" appears twice");
  CHECK(header("{'dtype': '<f4'}") ==
        "x.npy: the key \"dtype\" is not known, expected 'descr', 'fortran_order' and 'shape'");
  CHECK(header("{'descr': '<f4', 'fortran_order': 0}") ==
        "x.npy: byte 34 of the header's text is \"0\", expected True or False");
  CHECK(header("{'shape': (2 3)}") == "x.npy: byte 13 of the header's text is \"3\", expected ','");
  CHECK(header("{'shape': (3)}") == "x.npy: byte 12 of the header's text is \")\", expected ','");
  CHECK(header("{'shape': (-1,)}") ==
        "x.npy: byte 11 of the header's text is \"-\", expected a size of the shape, an integer that is not negative");
  CHECK(header("{'shape': (99999999999999999999,)}") == "x.npy: a size of the shape is larger than 64 bits hold");
  CHECK(header("{'shape': (") ==
        "x.npy: byte 11 of the header's text is its end, expected a size of the shape, an "
        "integer that is not negative");
  CHECK(header("{'descr': '<f4") == "x.npy: the text at byte 10 of the header has no end");
  CHECK(header(good + "x") == "x.npy: byte 60 of the header's text is \"x\", expected nothing after '}'");
  CHECK(header("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4611686018427387904, 0)}") ==
        "x.npy: the shape [4611686018427387904, 4611686018427387904, 0] has more bytes than 64 bits count");
  std::string axes;
  for (int i = 0; i < 65; ++i) axes += "1,";
  CHECK(header("{'shape': (" + axes + ")}") == "x.npy: the array has more than 64 axes");
}

TEST_CASE("a version of the format that is not known is refused") {
  auto bytes = content(data / "f4_little.npy");
  bytes[6] = 4;
  CHECK(problem(bytes) == "x.npy: the format version is 4.0, expected 1.0, 2.0 or 3.0");
  bytes[6] = 1;
  bytes[7] = 1;
  CHECK(problem(bytes) == "x.npy: the format version is 1.1, expected 1.0, 2.0 or 3.0");
}
