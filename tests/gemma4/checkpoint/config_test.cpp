#include "checkpoint/config.hpp"

#include <array>

#include "catch.hpp"
#include "checkpoint/checkpoint.hpp"
#include "checkpoint_folder.hpp"

using gemma4::LayerType;
using nlohmann::json;

namespace {

std::string error_with(const std::string& file, const std::function<void(json&)>& edit) {
  const CheckpointFolder folder;
  folder.edit_json(file, edit);
  return error_of([&] { static_cast<void>(gemma4::Checkpoint::open(folder.path())); });
}

std::string config_error(const std::string& pointer, const json& value) {
  return error_with("config.json", [&](json& config) { config[json::json_pointer(pointer)] = value; });
}

/// Every path to a member of an object, outer ones first.
void collect_pointers(const json& value, const std::string& prefix, std::vector<std::string>& pointers) {
  if (!value.is_object()) return;
  for (const auto& [key, member] : value.items()) {
    const auto pointer = prefix + "/" + key;  // a copy: `pointers` moves its elements as it grows
    pointers.push_back(pointer);
    collect_pointers(member, pointer, pointers);
  }
}

}  // namespace

// Expected values: pipelines/data/shapes-gemma4/config.json.
TEST_CASE("config.json in Google's spelling is read") {
  const auto config = gemma4::read_config(CheckpointFolder::shapes() / "config.json");
  CHECK(config.dtype == lockstep::DType::bfloat16);
  CHECK(config.text.vocab_size == 960);
  CHECK(config.text.hidden_size == 128);
  CHECK(config.text.sliding_window == 64);
  CHECK(config.text.final_logit_softcapping == 30.0);
  CHECK(config.text.full_rope.rope_theta == 1e6);
  CHECK(config.text.full_rope.partial_rotary_factor == 0.25);
  CHECK(config.text.head_dim(LayerType::sliding_attention) == 32);
  CHECK(config.text.head_dim(LayerType::full_attention) == 64);
  REQUIRE(config.text.layers.size() == 10);
  CHECK(config.text.layers[4].type == LayerType::full_attention);
  CHECK_FALSE(config.text.layers[4].shares_kv);
  CHECK(config.text.layers[4].intermediate_size == 256);
  CHECK(config.text.layers[5].shares_kv);
  CHECK(config.text.layers[5].intermediate_size == 512);
  REQUIRE(config.vision);
  CHECK(config.vision->position_embedding_size == 216);
  CHECK(config.vision->default_output_length == 70);
  CHECK(config.vision->use_clipped_linears);
  CHECK(config.tokens.image == 955);
  CHECK(config.tokens.end_of_image == 957);
  CHECK(config.tokens.end_of_audio == 958);
  CHECK(config.tokens.eos == std::vector<std::int64_t>{1, 17});
}

TEST_CASE("config.json in transformers' spelling is read") {
  const auto config = gemma4::read_config(CheckpointFolder::irregular() / "config.json");
  CHECK(config.text.head_dim(LayerType::sliding_attention) == 24);
  CHECK(config.text.head_dim(LayerType::full_attention) == 48);
  CHECK(config.text.layers[1].type == LayerType::full_attention);
  CHECK(config.text.layers[1].head_dim == 48);
  CHECK_FALSE(config.text.final_logit_softcapping);
  CHECK_FALSE(config.vision->default_output_length);
  CHECK_FALSE(config.vision->use_clipped_linears);
}

TEST_CASE("per_layer_config means the same as global_head_dim, with and without padded keys") {
  const auto explicit_layers = GENERATE(false, true);
  const auto error = error_with("config.json", [&](json& config) {
    auto& text = config["text_config"];
    text.erase("global_head_dim");
    if (explicit_layers) {
      text.erase("head_dim");
      for (int i = 0; i < 10; ++i) text["per_layer_config"]["0" + std::to_string(i)]["head_dim"] = i % 5 == 4 ? 64 : 32;
    } else {
      text["per_layer_config"] = {{"4", {{"head_dim", 64}}}, {"9", {{"head_dim", 64}}}};
    }
  });
  CHECK(error.empty());
}

TEST_CASE("unsupported variants are refused by name") {
  struct Case {
    std::string pointer;
    json value;
    std::string message;
  };
  const auto [pointer, value, message] = GENERATE(values<Case>({
      {"/model_type", "gemma3", "model_type is \"gemma3\", expected \"gemma4\""},
      {"/text_config/model_type", "gemma3_text", "text_config.model_type is \"gemma3_text\""},
      {"/text_config/enable_moe_block", true, "mixture-of-experts checkpoints are not supported"},
      {"/text_config/attention_k_eq_v", true, "text_config.attention_k_eq_v is true, expected false"},
      {"/text_config/use_bidirectional_attention", "vision", "bidirectional attention is not supported"},
      {"/text_config/attention_bias", true, "projections with a bias are not supported"},
      {"/text_config/hidden_activation", "relu", "text_config.hidden_activation is \"relu\""},
      {"/text_config/hidden_size_per_layer_input", 0, "text_config.hidden_size_per_layer_input is 0"},
      {"/tie_word_embeddings", false, "a separate output table is not supported"},
      {"/quantization_config", {{"bits", 4}}, "quantized checkpoints are not supported"},
      {"/text_config/layer_types/3", "chunked_attention",
       "text_config.layer_types[3] is \"chunked_attention\", expected \"sliding_attention\" or \"full_attention\""},
      {"/text_config/layer_types/9", "sliding_attention", "text_config.layer_types[9] is \"sliding_attention\""},
      {"/text_config/rope_parameters/full_attention/rope_type", "yarn",
       "text_config.rope_parameters.full_attention.rope_type is \"yarn\", expected \"proportional\""},
      {"/text_config/rope_parameters/sliding_attention/rope_type", "linear",
       "text_config.rope_parameters.sliding_attention.rope_type is \"linear\", expected \"default\""},
      {"/text_config/rope_parameters/full_attention/factor", 8.0, "scaled rotary embeddings are not supported"},
      {"/text_config/per_layer_config",
       {{"4", {{"head_dim", 64}, {"intermediate_size", 8}}}},
       "text_config.per_layer_config.4.intermediate_size is not supported"},
      {"/vision_config/rope_parameters/rope_type", "mrope", "expected \"axial\" or \"default\""},
      {"/vision_config/standardize", true, "vision_config.standardize is true, expected false"},
      {"/dtype", "float8_e4m3fn", "dtype is \"float8_e4m3fn\", expected bfloat16, float16 or float32"},
  }));
  const auto error = config_error(pointer, value);
  CHECK_THAT(error, contains_text("config.json"));
  CHECK_THAT(error, contains_text(message));
}

TEST_CASE("absurd numbers are errors that name the key, what was found and what was expected") {
  struct Case {
    std::string pointer;
    json value;
    std::string message;
  };
  const auto [pointer, value, message] = GENERATE(values<Case>({
      {"/text_config/num_attention_heads", 0, "text_config.num_attention_heads is 0, expected an integer from 1"},
      {"/text_config/hidden_size", -128, "text_config.hidden_size is -128, expected an integer from 1"},
      {"/text_config/num_hidden_layers", 4000000000, "text_config.num_hidden_layers is 4000000000, expected"},
      {"/text_config/vocab_size", 18446744073709551615U, "is 18446744073709551615, expected an integer"},
      {"/text_config/hidden_size", 128.5, "text_config.hidden_size is 128.5, expected an integer"},
      {"/text_config/hidden_size", "128", "text_config.hidden_size is \"128\", expected an integer"},
      {"/text_config/rms_norm_eps", 0, "text_config.rms_norm_eps is 0, expected a number greater than 0"},
      {"/text_config/num_kv_shared_layers", 10,
       "text_config.num_kv_shared_layers is 10, expected an integer from 0 to 9"},
      {"/text_config/num_kv_shared_layers", 7, "no full_attention layer is left"},
      {"/text_config/num_key_value_heads", 3, "expected a divisor of num_attention_heads = 4"},
      {"/text_config/global_head_dim", 63, "of layer 4 is 63, expected an even number"},
      {"/text_config/layer_types", json::array({"full_attention"}), "has 1 entries, expected num_hidden_layers = 10"},
      {"/text_config/rope_parameters/full_attention/partial_rotary_factor", 1.5, "is 1.5, expected at most 1"},
      {"/image_token_id", 960, "image_token_id is 960, expected an integer from 0 to 959"},
      {"/text_config/vocab_size_per_layer_input", 900, "is 900, expected at least vocab_size = 960"},
      {"/text_config/use_double_wide_mlp", "yes", "is \"yes\", expected true or false"},
      {"/text_config/per_layer_config", {{"10", {{"head_dim", 64}}}}, "per_layer_config.10 names no layer"},
      {"/text_config/per_layer_config", {{"4", {{"head_dim", 64}}}}, "per_layer_config.9.head_dim is 32, expected 64"},
      {"/vision_config/head_dim", 18, "vision_config.head_dim is 18, expected a multiple of 4"},
      {"/text_config", 3, "text_config is 3, expected an object"},
  }));
  const auto error = config_error(pointer, value);
  CHECK_THAT(error, contains_text("config.json"));
  CHECK_THAT(error, contains_text(message));
}

TEST_CASE("a key without which no weight can be read may not be missing") {
  const auto* pointer = GENERATE("/text_config", "/text_config/hidden_size", "/text_config/head_dim", "/dtype",
                                 "/text_config/global_head_dim", "/text_config/layer_types",
                                 "/text_config/rope_parameters", "/vision_config/patch_size", "/image_token_id");
  const auto error = error_with("config.json", [&](json& config) {
    const json::json_pointer path(pointer);
    config[path.parent_pointer()].erase(path.back());
  });
  CHECK_THAT(error, contains_text(json::json_pointer(pointer).back() + " is missing, expected"));
}

TEST_CASE("all problems of a config are listed at once") {
  const auto error = error_with("config.json", [](json& config) {
    config["text_config"]["hidden_size"] = 0;
    config["text_config"]["enable_moe_block"] = true;
    config["vision_config"].erase("head_dim");
    config["image_token_id"] = -1;
  });
  CHECK_THAT(error, contains_text("4 problems") && contains_text("hidden_size is 0") &&
                        contains_text("mixture-of-experts") && contains_text("vision_config.head_dim is missing") &&
                        contains_text("image_token_id is -1"));
}

TEST_CASE("no value of any key, and no key less, makes the loader fail otherwise than by an Error") {
  const CheckpointFolder original;
  const auto* file = GENERATE("config.json", "generation_config.json", "processor_config.json");
  json whole;
  original.edit_json(file, [&](json& read) { whole = read; });
  std::vector<std::string> pointers;
  collect_pointers(whole, "", pointers);
  REQUIRE(pointers.size() > 5);
  const auto deep = json::parse(std::string(2000, '[') + std::string(2000, ']'));
  const std::vector<json> replacements{nullptr,
                                       true,
                                       0,
                                       -1,
                                       1,
                                       INT64_MAX,
                                       UINT64_MAX,
                                       1e308,
                                       -0.5,
                                       "",
                                       "text",
                                       json::array(),
                                       json::array({1, "a"}),
                                       json::object(),
                                       deep};
  for (const auto& pointer : pointers) {
    for (const auto& replacement : replacements) {
      auto damaged = whole;
      damaged[json::json_pointer(pointer)] = replacement;
      original.write(file, damaged.dump());
      INFO(file << pointer << " = " << replacement.dump().substr(0, 40));
      CHECK_NOTHROW(error_of([&] { static_cast<void>(gemma4::Checkpoint::open(original.path())); }));
    }
    auto damaged = whole;
    const json::json_pointer path(pointer);
    damaged[path.parent_pointer()].erase(path.back());
    original.write(file, damaged.dump());
    INFO(file << pointer << " erased");
    CHECK_NOTHROW(error_of([&] { static_cast<void>(gemma4::Checkpoint::open(original.path())); }));
  }
}

TEST_CASE("text that is no JSON object is an error that names the file") {
  const CheckpointFolder folder;
  const auto [text, message] =
      GENERATE(table<std::string, std::string>({{"", "is not valid JSON"},
                                                {"{\"model_type\": ", "is not valid JSON"},
                                                {"[1, 2]", "holds [1,2], expected a JSON object"},
                                                {"{\"a\": 1e999}", "is not valid JSON"},
                                                {"\xff\xfe", "is not valid JSON"}}));
  folder.write("config.json", text);
  const auto error = error_of([&] { static_cast<void>(gemma4::Checkpoint::open(folder.path())); });
  CHECK_THAT(error, contains_text((folder.path() / "config.json").string()));
  CHECK_THAT(error, contains_text(message));
}

TEST_CASE("stop tokens come from generation_config.json, else from config.json") {
  const CheckpointFolder folder;
  CHECK(gemma4::Checkpoint::open(folder.path()).generation().eos_token_ids == std::vector<std::int64_t>{1, 17, 10});
  folder.write("generation_config.json", "{\"eos_token_id\": 7}");
  CHECK(gemma4::Checkpoint::open(folder.path()).generation().eos_token_ids == std::vector<std::int64_t>{7});
  folder.remove("generation_config.json");
  CHECK(gemma4::Checkpoint::open(folder.path()).generation().eos_token_ids == std::vector<std::int64_t>{1, 17});
  folder.write("generation_config.json", "{\"eos_token_id\": [1, 960]}");
  CHECK_THAT(error_of([&] { static_cast<void>(gemma4::Checkpoint::open(folder.path())); }),
             contains_text("generation_config.json: eos_token_id[1] is 960, expected an integer from 0 to 959"));
}

TEST_CASE("the image processor must cut patches as the vision tower expects them") {
  const auto error = error_with("processor_config.json", [](json& config) {
    config["image_processor"]["patch_size"] = 14;
    config["image_processor"]["resample"] = 2;
  });
  CHECK_THAT(error, contains_text("image_processor.patch_size is 14, expected 16") &&
                        contains_text("image_processor.resample is 2, expected 3"));
}

TEST_CASE("the image processor may lie in the older preprocessor_config.json") {
  const CheckpointFolder folder;
  json image;
  folder.edit_json("processor_config.json", [&](json& config) { image = config["image_processor"]; });
  folder.remove("processor_config.json");
  folder.write("preprocessor_config.json", image.dump());
  const auto checkpoint = gemma4::Checkpoint::open(folder.path());
  REQUIRE(checkpoint.image_processor());
  CHECK(checkpoint.image_processor()->max_soft_tokens == 70);
  CHECK(checkpoint.image_processor()->rescale_factor == 0.00392156862745098);
}
