#include "checkpoint/checkpoint.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <lockstep/safetensors.hpp>

#include "catch.hpp"
#include "checkpoint/inventory.hpp"
#include "checkpoint_folder.hpp"

using lockstep::DType;
using lockstep::Tensor;

namespace {

std::string open_error(const std::filesystem::path& folder) {
  return error_of([&] { static_cast<void>(gemma4::Checkpoint::open(folder)); });
}

Tensor zeros(DType dtype, std::vector<std::int64_t> sizes) {
  std::size_t count = element_size(dtype);
  for (const auto size : sizes) count *= static_cast<std::size_t>(size);
  return Tensor::copy_of(std::vector<std::byte>(count), dtype, std::move(sizes));
}

nlohmann::json recorded_layout(const std::string& model) {
  std::ifstream stream(std::string(LOCKSTEP_TEST_DATA) + "/layout/" + model + ".json");
  return nlohmann::json::parse(stream);
}

/// Private memory of this process in bytes: what is not shared with a file.
std::int64_t private_bytes() {
  std::ifstream rollup("/proc/self/smaps_rollup");
  std::int64_t kilobytes = 0;
  for (std::string line; std::getline(rollup, line);) {
    if (line.starts_with("Private_")) kilobytes += std::stoll(line.substr(line.find(':') + 1));
  }
  return kilobytes * 1024;
}

}  // namespace

// 286 tensors: what transformers' own model of this config.json has (tools/record_layout.py).
TEST_CASE("a checkpoint opens with every tensor that its config describes") {
  const auto checkpoint = gemma4::Checkpoint::open(CheckpointFolder::shapes());
  CHECK(checkpoint.name() == "shapes-gemma4");
  CHECK(checkpoint.tensor_count() == 286);
  CHECK(checkpoint.ignored_count() == 0);
  CHECK(summary_of(checkpoint) == "286 tensors, 2.49 M parameters");
  CHECK(checkpoint.weight("model.language_model.embed_tokens.weight").to_string() == "bfloat16 [960, 128]");
  CHECK(checkpoint.weight("model.vision_tower.encoder.layers.0.mlp.up_proj.output_max").dim() == 0);
  CHECK_THAT(error_of([&] { static_cast<void>(checkpoint.weight("lm_head.weight")); }),
             contains_text("'lm_head.weight'"));
}

TEST_CASE("a checkpoint of irregular shapes as transformers saves it opens") {
  const auto checkpoint = gemma4::Checkpoint::open(CheckpointFolder::irregular());
  CHECK(checkpoint.tensor_count() == 144);
  CHECK(summary_of(checkpoint) == "144 tensors, 674 K parameters");
}

TEST_CASE("the name of a checkpoint does not depend on how its path is written") {
  CHECK(gemma4::Checkpoint::open(CheckpointFolder::shapes() / "").name() == "shapes-gemma4");
  CHECK(gemma4::Checkpoint::open(CheckpointFolder::shapes() / ".." / "shapes-gemma4" / ".").name() == "shapes-gemma4");
}

TEST_CASE("the tensors of E2B and E4B are those of transformers' model") {
  const auto* model = GENERATE("e2b", "e4b");
  const auto recorded = recorded_layout(model);
  const CheckpointFolder folder;
  folder.write("config.json", recorded["config"].dump());
  const auto expected = gemma4::expected_tensors(gemma4::read_config(folder.path() / "config.json"));
  CHECK(expected.size() == recorded["tensors"].size());
  for (const auto& [name, shape] : recorded["tensors"].items()) {
    INFO(name);
    REQUIRE(expected.contains(name));
    CHECK(expected.at(name) == shape.get<std::vector<std::int64_t>>());
  }
}

TEST_CASE("missing, unexpected and wrong tensors are listed in one error") {
  const CheckpointFolder folder;
  folder.edit_tensors([](CheckpointFolder::Tensors& tensors) {
    std::erase_if(tensors, [](const auto& entry) { return entry.first == "model.language_model.norm.weight"; });
    for (auto& [name, tensor] : tensors) {
      if (name == "model.language_model.layers.2.layer_scalar") tensor = zeros(DType::bfloat16, {2});
      if (name == "model.language_model.layers.3.mlp.up_proj.weight") tensor = zeros(DType::float32, {256, 128});
    }
    tensors.emplace_back("model.language_model.layers.0.experts.down_proj", zeros(DType::bfloat16, {4, 4}));
  });
  const auto error = open_error(folder.path());
  CHECK_THAT(error, contains_text("4 tensors are not what config.json describes"));
  CHECK_THAT(error, contains_text("missing (1):\n    model.language_model.norm.weight"));
  CHECK_THAT(error, contains_text("unexpected (1):\n    model.language_model.layers.0.experts.down_proj"));
  CHECK_THAT(error, contains_text("wrong shape or dtype (2):"));
  CHECK_THAT(error, contains_text("layers.2.layer_scalar is bfloat16 [2], expected bfloat16 [1]"));
  CHECK_THAT(error, contains_text("layers.3.mlp.up_proj.weight is float32 [256, 128], expected bfloat16 [256, 128]"));
}

TEST_CASE("long lists of tensors are cut, with their count") {
  const CheckpointFolder folder;
  folder.edit_json("config.json", [](nlohmann::json& config) { config["dtype"] = "float32"; });
  const auto error = open_error(folder.path());
  CHECK_THAT(error, contains_text("286 tensors are not") && contains_text("wrong shape or dtype (286):") &&
                        contains_text("and 278 more"));
  CHECK(std::ranges::count(error, '\n') == 10);
}

TEST_CASE("K/V weights of sharing layers and the audio tower are accepted, ignored and not handed out") {
  const CheckpointFolder folder;
  const std::string shared = "model.language_model.layers.9.self_attn.";
  folder.edit_tensors([&](CheckpointFolder::Tensors& tensors) {
    tensors.emplace_back(shared + "k_proj.weight", zeros(DType::bfloat16, {64, 128}));
    tensors.emplace_back(shared + "v_proj.weight", zeros(DType::bfloat16, {64, 128}));
    tensors.emplace_back(shared + "k_norm.weight", zeros(DType::bfloat16, {64}));
    tensors.emplace_back("model.audio_tower.layers.0.norm.weight", zeros(DType::bfloat16, {8}));
    tensors.emplace_back("model.embed_audio.embedding_projection.weight", zeros(DType::bfloat16, {128, 8}));
  });
  const auto checkpoint = gemma4::Checkpoint::open(folder.path());
  CHECK(checkpoint.tensor_count() == 286);
  CHECK(checkpoint.ignored_count() == 5);
  CHECK_THAT(summary_of(checkpoint), contains_text("5 tensors ignored"));
  CHECK_FALSE(error_of([&] { static_cast<void>(checkpoint.weight(shared + "k_norm.weight")); }).empty());
}

TEST_CASE("other weights of sharing layers, and K/V weights of layers that do not exist, are unexpected") {
  const CheckpointFolder folder;
  folder.edit_tensors([&](CheckpointFolder::Tensors& tensors) {
    tensors.emplace_back("model.language_model.layers.9.self_attn.k_bias", zeros(DType::bfloat16, {64}));
    tensors.emplace_back("model.language_model.layers.10.self_attn.k_norm.weight", zeros(DType::bfloat16, {64}));
  });
  CHECK_THAT(open_error(folder.path()), contains_text("unexpected (2)"));
}

TEST_CASE("a text-only checkpoint needs no vision weights and no image processor") {
  const CheckpointFolder folder;
  folder.edit_json("config.json", [](nlohmann::json& config) { config["vision_config"] = nullptr; });
  folder.remove("processor_config.json");
  folder.edit_tensors([](CheckpointFolder::Tensors& tensors) {
    std::erase_if(tensors, [](const auto& entry) { return !entry.first.starts_with("model.language_model."); });
  });
  const auto checkpoint = gemma4::Checkpoint::open(folder.path());
  CHECK_FALSE(checkpoint.config().vision);
  CHECK_FALSE(checkpoint.image_processor());
}

TEST_CASE("shards are one checkpoint") {
  const CheckpointFolder folder;
  const auto whole = lockstep::SafetensorsFile::open(folder.path() / "model.safetensors");
  std::array<CheckpointFolder::Tensors, 2> shards;
  nlohmann::json index;
  for (std::size_t i = 0; i < whole.names().size(); ++i) {
    const auto& name = whole.names()[i];
    shards[i % 2].emplace_back(name, whole.at(name));
    index["weight_map"][name] = "model-0000" + std::to_string(i % 2 + 1) + "-of-00002.safetensors";
  }
  index["metadata"] = nlohmann::json::object();
  lockstep::write_safetensors(folder.path() / "model-00001-of-00002.safetensors", shards[0]);
  lockstep::write_safetensors(folder.path() / "model-00002-of-00002.safetensors", shards[1]);
  folder.remove("model.safetensors");
  folder.write("model.safetensors.index.json", index.dump());
  const auto checkpoint = gemma4::Checkpoint::open(folder.path());
  CHECK(summary_of(checkpoint) == "286 tensors, 2.49 M parameters");
  const auto table = checkpoint.weight("model.language_model.embed_tokens.weight");
  const auto& expected = whole.at("model.language_model.embed_tokens.weight");
  CHECK(std::equal(table.data(), table.data() + 960 * 128 * 2, expected.data()));
}

TEST_CASE("a folder without a needed file is an error that names it") {
  const auto* file = GENERATE("config.json", "model.safetensors", "tokenizer.json", "processor_config.json");
  const CheckpointFolder folder;
  folder.remove(file);
  CHECK_THAT(open_error(folder.path()), contains_text(file) && contains_text(folder.path().string()));
}

TEST_CASE("what is no folder is an error that names it") {
  CHECK_THAT(open_error("/nonexistent/checkpoint"), contains_text("/nonexistent/checkpoint is not a folder"));
}

TEST_CASE("opening ten gigabytes reads none of them") {
  const auto recorded = recorded_layout("e2b");
  const CheckpointFolder folder;
  folder.write("config.json", recorded["config"].dump());
  folder.edit_json("processor_config.json",
                   [](nlohmann::json& config) { config["image_processor"]["max_soft_tokens"] = 280; });
  nlohmann::json header;
  std::uint64_t offset = 0;
  for (const auto& [name, shape] : recorded["tensors"].items()) {
    std::uint64_t bytes = 2;
    for (const auto& size : shape) bytes *= size.get<std::uint64_t>();
    header[name] = {{"dtype", "BF16"}, {"shape", shape}, {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
  }
  const auto text = header.dump();
  const std::uint64_t length = text.size();
  folder.write("model.safetensors", std::string(reinterpret_cast<const char*>(&length), 8) + text);
  std::filesystem::resize_file(folder.path() / "model.safetensors", 8 + length + offset);  // sparse: zeros, no blocks

  const auto before = private_bytes();
  const auto checkpoint = gemma4::Checkpoint::open(folder.path());
  CHECK(offset > 9'000'000'000U);
  CHECK(checkpoint.tensor_count() == 1199);
  CHECK(private_bytes() - before < 20'000'000);
}
