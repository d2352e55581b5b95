#include <memory>
#include <set>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <lockstep/safetensors.hpp>

#include "catch.hpp"
#include "safetensors/files.hpp"

using namespace lockstep;

namespace {

const std::filesystem::path data{LOCKSTEP_TEST_DATA "/safetensors"};

std::string hex(const Tensor& tensor) {
  std::string text;
  const auto bytes = static_cast<std::size_t>(tensor.numel()) * element_size(tensor.dtype());
  for (std::size_t i = 0; i < bytes; ++i) text += fmt::format("{:02x}", static_cast<unsigned>(tensor.data()[i]));
  return text;
}

void check_against(const SafetensorsFile& file, const std::filesystem::path& recorded) {
  const auto expected = nlohmann::json::parse(load(recorded));
  CHECK(std::set(file.names().begin(), file.names().end()).size() == expected.size());
  for (const auto& [name, tensor] : expected.items()) {
    CAPTURE(name);
    REQUIRE(file.contains(name));
    const Tensor& actual = file.at(name);
    CHECK(name_of(actual.dtype()) == tensor["dtype"].get<std::string>());
    CHECK(actual.sizes() == tensor["shape"].get<std::vector<std::int64_t>>());
    CHECK(actual.is_contiguous());
    CHECK(hex(actual) == tensor["bytes"].get<std::string>());
  }
}

}  // namespace

TEST_CASE("a file of Hugging Face's safetensors reads with every dtype, shape and byte that torch recorded") {
  const auto file = SafetensorsFile::open(data / "all_dtypes.safetensors");
  CHECK(file.path() == data / "all_dtypes.safetensors");
  CHECK(file.names().size() == 22);
  check_against(file, data / "all_dtypes.json");
  CHECK(file.metadata() == std::map<std::string, std::string>{{"format", "pt"}, {"note", "ünïcode \n \"q\""}});
}

TEST_CASE("a checkpoint sharded by Hugging Face reads as one") {
  const auto file = SafetensorsFile::open(data / "sharded" / "model.safetensors.index.json");
  check_against(file, data / "sharded.json");
  CHECK(file.names().front() == "layers.0.weight");
  CHECK(file.metadata().at("format") == "pt");
}

TEST_CASE("names come in the order of the header") {
  const auto bytes =
      std::make_shared<const std::string>(safetensors_bytes(R"({"z":{"dtype":"U8","shape":[1],"data_offsets":[1,2]},
                            "a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
                                                            2));
  const auto file = SafetensorsFile::from_memory(bytes, *bytes, "memory");
  CHECK(file.names() == std::vector<std::string>{"z", "a"});
  CHECK(file.at("z").values<std::uint8_t>()[0] == 1);
  CHECK(file.at("a").values<std::uint8_t>()[0] == 0);
}

TEST_CASE("tensors are views: nothing is copied, and they keep the data alive after the file object is gone") {
  auto bytes = std::make_shared<const std::string>(
      safetensors_bytes(R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})", 3));
  const char* const end = bytes->data() + bytes->size();
  const std::weak_ptr<const std::string> alive = bytes;
  Tensor tensor = [&] {
    const auto file = SafetensorsFile::from_memory(bytes, *bytes, "memory");
    return file.at("a");
  }();
  bytes.reset();
  CHECK(tensor.data() == reinterpret_cast<const std::byte*>(end - 3));
  CHECK_FALSE(alive.expired());
  CHECK(tensor.values<std::uint8_t>()[2] == 2);
  tensor = Tensor();
  CHECK(alive.expired());
}

TEST_CASE("a mapped tensor outlives the file object and the file's name") {
  const TemporaryFolder folder;
  save(folder / "a.safetensors", safetensors_bytes(R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})", 3));
  const Tensor tensor = SafetensorsFile::open(folder / "a.safetensors").at("a");
  std::filesystem::remove(folder / "a.safetensors");
  CHECK(tensor.values<std::uint8_t>()[1] == 1);
}

TEST_CASE("a tensor that is not there is an error with the nearest name") {
  const auto file = SafetensorsFile::open(data / "all_dtypes.safetensors");
  CHECK_FALSE(file.contains("matrix.bfloat61"));
  try {
    (void)file.at("matrix.bfloat61");
    FAIL("expected an Error");
  } catch (const Error& error) {
    CHECK(error.what() == file.path().string() + ": there is no tensor \"matrix.bfloat61\"");
    CHECK(error.diagnostic().did_you_mean == "matrix.bfloat16");
  }
}

TEST_CASE("a path that is no readable file is an error that says why") {
  const TemporaryFolder folder;
  CHECK(error_of([&] { (void)SafetensorsFile::open(folder / "none"); }) ==
        "cannot read " + (folder / "none").string() + ": No such file or directory");
  CHECK(error_of([&] { (void)SafetensorsFile::open(folder.path()); }) ==
        "cannot read " + folder.path().string() + ": it is a folder, expected a file");
}
