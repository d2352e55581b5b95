#include "runtime/static_runtime.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>

#include <lockstep/safetensors.hpp>

#include "catch.hpp"
#include "gemma4/runtime/errors.hpp"
#include "gemma4/runtime/tensors.hpp"
#include "runtime/known_profiles.hpp"

using namespace gemma4;
using namespace gemma4::test;
using lockstep::DType;

namespace {

std::shared_ptr<const Checkpoint> open_checkpoint(const std::string& folder) {
  return std::make_shared<const Checkpoint>(Checkpoint::open(std::string(LOCKSTEP_SOURCE_DIR) + "/" + folder));
}
std::shared_ptr<const Checkpoint> shapes_checkpoint() {
  static const auto checkpoint = open_checkpoint("pipelines/data/shapes-gemma4");
  return checkpoint;
}

StaticRuntimeOptions shapes_options(DType dtype = DType::bfloat16) {
  return {.profile = find_profile("shapes_24x24_64"), .max_seq = 160, .dtype = dtype};
}
std::string error_of_runtime(const StaticRuntimeOptions& options) {
  return error_of([&] { (void)make_static_runtime(shapes_checkpoint(), options); });
}

/// One row of a recording's [B, S] ids or [B, S, H] values as [1, S, …].
lockstep::Tensor row_of(const lockstep::Tensor& tensor, std::int64_t row) {
  auto sizes = tensor.sizes();
  sizes[0] = 1;
  const auto dense = tensor.contiguous();
  const auto bytes = static_cast<std::size_t>(dense.numel() / dense.size(0)) * element_size(dense.dtype());
  return lockstep::Tensor::copy_of(std::span(dense.data() + static_cast<std::size_t>(row) * bytes, bytes),
                                   dense.dtype(), std::move(sizes));
}

bool same_bits(const lockstep::Tensor& a, const lockstep::Tensor& b) {
  return a.dtype() == b.dtype() && a.sizes() == b.sizes() && a.is_contiguous() && b.is_contiguous() &&
         std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.numel()) * element_size(a.dtype())) == 0;
}

}  // namespace

TEST_CASE("the runtime's token embedding has the bits of transformers' recordings") {
  const std::pair<const char*, DType> recordings[] = {
      {"two_describe_bf16", DType::bfloat16}, {"two_describe_fp32", DType::float32},
      {"two_raw_bf16", DType::bfloat16},      {"wide_count_bf16", DType::bfloat16},
      {"wide_count_fp32", DType::float32},    {"text_window_bf16", DType::bfloat16},
      {"batch_padded_bf16", DType::bfloat16}};
  for (const auto& [name, dtype] : recordings) {
    CAPTURE(name);
    const auto recording =
        lockstep::SafetensorsFile::open(LOCKSTEP_TEST_DATA "/reference/" + std::string(name) + ".safetensors");
    const auto runtime = make_static_runtime(shapes_checkpoint(), shapes_options(dtype));
    const auto& ids = recording.at("llm.ids");
    const auto& expected = recording.at("llm.embed");
    REQUIRE(expected.dtype() == dtype);
    for (std::int64_t row = 0; row < ids.size(0); ++row) {
      CHECK(same_bits(runtime->token_embedding(row_of(ids, row)), row_of(expected, row)));
    }
  }
}

TEST_CASE("the runtime embeds an irregular checkpoint with the bits of transformers' recordings") {
  const auto checkpoint = open_checkpoint("tests/data/irregular-gemma4");
  const auto& vision = checkpoint->config().vision.value();
  // One soft token high, as wide as the processor allows: any profile that fits the checkpoint will do for text.
  const auto tokens = checkpoint->image_processor()->max_soft_tokens;
  const VisionProfile profile{.name = "irregular",
                              .visual_start_idx = 1,
                              .num_visual_tokens = tokens,
                              .max_soft_tokens = tokens,
                              .patch_grid_height = vision.pooling_kernel_size,
                              .patch_grid_width = vision.pooling_kernel_size * tokens,
                              .patch_size = vision.patch_size,
                              .pooling_kernel_size = vision.pooling_kernel_size};
  for (const auto& [name, dtype] : {std::pair("irregular_bf16", DType::bfloat16), {"irregular_fp32", DType::float32}}) {
    CAPTURE(name);
    const auto recording =
        lockstep::SafetensorsFile::open(LOCKSTEP_TEST_DATA "/reference/" + std::string(name) + ".safetensors");
    const auto runtime = make_static_runtime(checkpoint, {.profile = profile, .max_seq = 512, .dtype = dtype});
    CHECK(same_bits(runtime->token_embedding(recording.at("llm.ids").contiguous()),
                    recording.at("llm.embed").contiguous()));
  }
}

TEST_CASE("an embedding outlives the runtime that made it") {
  auto runtime = make_static_runtime(shapes_checkpoint(), shapes_options(DType::float32));
  const auto embeds = runtime->token_embedding(row({5}));
  const auto again = runtime->token_embedding(row({5}));
  runtime.reset();
  CHECK(same_bits(embeds, again));
  CHECK(embeds.data() != again.data());
}

TEST_CASE("token_embedding names an id outside the vocabulary and where it is") {
  const auto runtime = make_static_runtime(shapes_checkpoint(), shapes_options());
  CHECK_THAT(error_of([&] {
               (void)runtime->token_embedding(row({5, 960}));
             }),
             contains_text("input_ids[0, 1] is 960, the vocabulary has ids 0 to 959"));
  CHECK_THAT(error_of([&] { (void)runtime->token_embedding(row({-1})); }), contains_text("input_ids[0, 0] is -1"));
}

TEST_CASE("token_embedding rejects ids of another dtype, rank or batch") {
  const auto runtime = make_static_runtime(shapes_checkpoint(), shapes_options());
  const auto error = [&](const lockstep::Tensor& ids) {
    return error_of([&] { (void)runtime->token_embedding(ids); });
  };
  CHECK_THAT(error(zeros(DType::int32, {1, 4})), contains_text("int32 [1, 4]"));
  CHECK_THAT(error(zeros(DType::int64, {4})), contains_text("int64 [4]"));
  CHECK_THAT(error(zeros(DType::int64, {2, 4})), contains_text("int64 [2, 4]"));
}

TEST_CASE("the runtime's layout is the profile's") {
  const auto runtime = make_static_runtime(shapes_checkpoint(), shapes_options());
  CHECK(runtime->layout() == StaticLayout{.max_seq = 160, .visual_start_idx = 1, .num_visual_tokens = 64});
  CHECK(runtime->profile().name == "shapes_24x24_64");
  CHECK(runtime->dtype() == DType::bfloat16);
}

TEST_CASE("the runtime knows the checkpoint's pad and image ids") {
  const auto runtime = make_static_runtime(shapes_checkpoint(), shapes_options());
  CHECK(runtime->build_static_inputs({.input_ids = row({5, 6, 0})}).valid_length == 2);
  CHECK_THAT(error_of([&] {
               (void)runtime->build_static_inputs({.input_ids = row({5, 955, 6})});
             }),
             contains_text("image tokens (id 955) in slots 1-64"));
}

TEST_CASE("the runtime rejects a layout that its profile does not fit") {
  auto options = shapes_options();
  options.max_seq = 64;
  CHECK_THAT(error_of_runtime(options), contains_text("64 visual tokens from slot 1") && contains_text("max_seq 64"));
  options.max_seq = 0;
  CHECK_THAT(error_of_runtime(options), contains_text("max_seq is 0"));
}

TEST_CASE("the runtime rejects a profile that the checkpoint does not fit") {
  auto options = shapes_options();
  options.profile = find_profile("e2b_66x36_264");
  options.max_seq = 2048;
  CHECK_THAT(error_of_runtime(options),
             contains_text("max_soft_tokens is 280") && contains_text("default_output_length is 70"));
  options = shapes_options();
  options.profile.tokenizer_add_bos_token = true;  // the shapes tokenizer does not say: nothing to compare
  CHECK(error_of_runtime(options).empty());
}

TEST_CASE("the runtime rejects a dtype that it does not compute in") {
  CHECK_THAT(error_of_runtime(shapes_options(DType::float16)),
             contains_text("bfloat16 or float32, not in float16") && contains_text("set dtype"));
}

TEST_CASE("what tokenizer and processor files say is compared with the profile") {
  namespace fs = std::filesystem;
  const auto folder = fs::path(LOCKSTEP_BINARY_DIR) / "tests/add_bos-gemma4";
  fs::remove_all(folder);
  fs::create_directories(folder.parent_path());
  fs::copy(fs::path(LOCKSTEP_SOURCE_DIR) / "pipelines/data/shapes-gemma4", folder);
  const auto write = [&](const char* file, const std::string& text) { std::ofstream(folder / file) << text; };
  const auto error = [&] {
    const auto checkpoint = std::make_shared<const Checkpoint>(Checkpoint::open(folder));
    return error_of([&] { (void)make_static_runtime(checkpoint, shapes_options()); });
  };
  CHECK(error().empty());
  write("tokenizer_config.json", R"({"add_bos_token": true})");
  CHECK_THAT(error(), contains_text("the tokenizer's add_bos_token is true"));
  write("tokenizer_config.json", R"({"add_bos_token": "yes"})");
  CHECK_THAT(error(), contains_text("tokenizer_config.json: add_bos_token is \"yes\", expected true or false"));
  write("tokenizer_config.json", "[]");
  CHECK_THAT(error(), contains_text("tokenizer_config.json: not a JSON object"));
  fs::remove(folder / "tokenizer_config.json");
  CHECK(error().empty());
}
