#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <lockstep/diagnostic.hpp>
#include <lockstep/safetensors.hpp>
#include <memory>
#include <string>

#include "catch.hpp"
#include "reference/native_reference.hpp"

namespace fs = std::filesystem;
using lockstep::DType;
using lockstep::SafetensorsFile;
using lockstep::Tensor;

namespace {

std::shared_ptr<const gemma4::Checkpoint> checkpoint(const std::string& name) {
  const auto folder = name == "shapes-gemma4" ? fs::path(LOCKSTEP_SOURCE_DIR) / "pipelines/data" / name
                                              : fs::path(LOCKSTEP_TEST_DATA) / name;
  return std::make_shared<const gemma4::Checkpoint>(gemma4::Checkpoint::open(folder));
}

std::shared_ptr<const gemma4::Reference> reference(const std::string& name, DType dtype) {
  return gemma4::make_native_reference(checkpoint(name), dtype);
}

bool same_bits(const Tensor& a, const Tensor& b) {
  const auto left = a.contiguous();
  const auto right = b.contiguous();
  return a.dtype() == b.dtype() && a.sizes() == b.sizes() && a.numel() > 0 &&
         std::memcmp(left.data(), right.data(), element_size(a.dtype()) * static_cast<std::size_t>(a.numel())) == 0;
}

/// The value of one bfloat16 or float32 element.
float value_of(const Tensor& scalar) {
  float value = 0;
  if (scalar.dtype() == DType::float32) {
    std::memcpy(&value, scalar.data(), sizeof(value));
  } else {
    std::uint16_t half = 0;  // the upper half of a float32
    std::memcpy(&half, scalar.data(), sizeof(half));
    const auto bits = std::uint32_t{half} << 16;
    std::memcpy(&value, &bits, sizeof(value));
  }
  return value;
}

Tensor ids(std::vector<std::int64_t> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return Tensor::copy_of(std::span<const std::int64_t>(values), {1, count});
}

}  // namespace

TEST_CASE("the token embedding has the bits of every recording of transformers") {
  std::size_t cases = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(LOCKSTEP_TEST_DATA) / "reference")) {
    if (entry.path().extension() != ".safetensors") continue;
    const auto recording = SafetensorsFile::open(entry.path());
    const auto dtype = recording.metadata().at("dtype") == "bf16" ? DType::bfloat16 : DType::float32;
    const auto native = reference(recording.metadata().at("checkpoint"), dtype);
    const Tensor computed = native->token_embedding(recording.at("llm.ids"));
    INFO(entry.path().filename());
    CHECK(same_bits(computed, recording.at("llm.embed")));
    ++cases;
  }
  CHECK(cases == 9);
}

// Values: sqrt(128) = 11.3137…, nearest bfloat16 11.3125 (in the recordings too); sqrt(80) = 8.94427…, nearest 8.9375.
TEST_CASE("the embedding scale is rounded to the model dtype") {
  CHECK(value_of(reference("shapes-gemma4", DType::bfloat16)->embed_scale()) == 11.3125F);
  CHECK(value_of(reference("irregular-gemma4", DType::bfloat16)->embed_scale()) == 8.9375F);
  const auto scale = reference("shapes-gemma4", DType::float32)->embed_scale();
  CHECK(scale.dim() == 0);
  CHECK(scale.dtype() == DType::float32);
  CHECK(value_of(scale) == std::sqrt(128.0F));
}

TEST_CASE("the unscaled embedding is the table's rows") {
  const auto native = reference("shapes-gemma4", DType::bfloat16);
  const auto& table = native->checkpoint().weight("model.language_model.embed_tokens.weight");
  const Tensor rows = native->unscaled_embedding(ids({3, 959, 3}));
  CHECK(rows.to_string() == "bfloat16 [1, 3, 128]");
  const auto row_bytes = 128 * element_size(DType::bfloat16);
  CHECK(std::memcmp(rows.data(), table.data() + 3 * row_bytes, row_bytes) == 0);
  CHECK(std::memcmp(rows.data() + row_bytes, table.data() + 959 * row_bytes, row_bytes) == 0);
}

TEST_CASE("an embedding outlives the reference that computed it") {
  Tensor rows;
  {
    const auto native = reference("shapes-gemma4", DType::float32);
    rows = native->token_embedding(ids({5}));
  }
  CHECK(std::isfinite(value_of(rows)));
}

TEST_CASE("ids outside the table, and what is no batch of ids, are errors that say so") {
  const auto native = reference("shapes-gemma4", DType::bfloat16);
  CHECK_THROWS_WITH(native->token_embedding(ids({1, 960})), contains_text("960 at position 1, expected 0 to 959"));
  CHECK_THROWS_WITH(native->unscaled_embedding(ids({-1})), contains_text("-1 at position 0"));
  const std::array<std::int32_t, 2> narrow{1, 2};
  CHECK_THROWS_WITH(native->token_embedding(Tensor::copy_of(std::span<const std::int32_t>(narrow), {1, 2})),
                    contains_text("int32 [1, 2], expected int64 [batch, sequence]"));
  const std::array<std::int64_t, 2> flat{1, 2};
  CHECK_THROWS_WITH(native->token_embedding(Tensor::copy_of(std::span<const std::int64_t>(flat), {2})),
                    contains_text("int64 [2]"));
}

TEST_CASE("the reference computes in bfloat16 and float32 only") {
  CHECK_THROWS_WITH(reference("shapes-gemma4", DType::float16), contains_text("cannot compute in float16"));
}
