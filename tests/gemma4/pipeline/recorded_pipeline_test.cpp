// pipelines/gemma4.toml against a runtime that ran elsewhere and against a recorded reference, as a user runs it.

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.hpp"
#include "lockstep/safetensors.hpp"
#include "process.hpp"

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Words = std::vector<std::string>;
using Tensors = std::map<std::string, lockstep::Tensor>;

const fs::path scratch = fs::temp_directory_path() / ("recorded_pipeline_test_" + std::to_string(getpid()));

struct Run {
  process::Result result;
  std::map<std::string, Json> steps;  ///< by id

  [[nodiscard]] std::string status(const std::string& step) const { return steps.at(step)["status"]; }
  /// Messages of the failed checks of a step.
  [[nodiscard]] std::string failures(const std::string& step) const {
    std::string text;
    for (const auto& check : steps.at(step)["checks"]) {
      if (check["verdict"] == "fail")
        text += check["name"].get<std::string>() + ": " + check.value("message", "") + "\n";
    }
    return text;
  }
};

Run run(Words words) {
  fs::create_directories(scratch);
  const auto record = scratch / "record.json";
  words.insert(words.begin(), {LOCKSTEP_BINARY_DIR "/bin/lockstep", "run", LOCKSTEP_SOURCE_DIR "/pipelines/gemma4.toml",
                               "--json", record.string()});
  Run done{process::run(words), {}};
  UNSCOPED_INFO(done.result.out << done.result.err);
  const auto document = Json::parse(std::ifstream(record));
  for (const auto& step : document["steps"]) done.steps[step["id"].get<std::string>()] = step;
  return done;
}

/// What the native runtime computes for the shipped prompt, dumped once.
const fs::path& native_dump() {
  static const fs::path folder = [] {
    const auto made = scratch / "native";
    REQUIRE(run({"--dump", made.string()}).result.code == 0);
    return made;
  }();
  return folder;
}

/// The native dump with one file changed, run as the runtime of the shipped pipeline.
Run run_changed(const std::string& stage, const std::function<void(Tensors&)>& change, Words words = {}) {
  const auto folder = scratch / "changed";
  fs::remove_all(folder);
  fs::copy(native_dump(), folder);
  const auto path = folder / (stage + ".safetensors");
  Tensors tensors;
  {
    const auto file = lockstep::SafetensorsFile::open(path);
    for (const auto& name : file.names()) tensors.emplace(name, file.at(name));
    change(tensors);
  }
  lockstep::write_safetensors(path, {tensors.begin(), tensors.end()});
  words.insert(words.end(),
               {"--config", LOCKSTEP_SOURCE_DIR "/configs/recorded_runtime.toml", "--set", "dump=" + folder.string()});
  return run(words);
}

/// Sign and exponent of the first element changed.
void damage(lockstep::Tensor& tensor) {
  std::vector<std::byte> bytes(tensor.data(),
                               tensor.data() + static_cast<std::size_t>(tensor.numel()) * element_size(tensor.dtype()));
  bytes[1] ^= std::byte{0xc0};
  tensor = lockstep::Tensor::copy_of(bytes, tensor.dtype(), tensor.sizes());
}

struct Stage {
  std::string id, tensor;
};
const std::vector<Stage> stages{{"token_embedding", "text_embeds"},
                                {"vision_prefill", "visual_embeds"},
                                {"mm_fusion", "fused_embeds"},
                                {"masks_and_rope", "masks.mask.full"},
                                {"masks_and_rope", "rope.rope.sliding.sin"},
                                {"prefill", "logits"},
                                {"prefill", "kv_cache.cache.L4.v"},
                                {"decode", "decode_logits"},
                                {"decode", "decode_cache.cache.L4.k"},
                                {"generation", "generated_tokens"}};

struct Cleanup {
  ~Cleanup() { fs::remove_all(scratch); }
} const cleanup;

}  // namespace

TEST_CASE("the dump of a run passes as another run's runtime") {
  const auto done = run_changed("token_embedding", [](Tensors&) {});
  CHECK(done.result.code == 0);
  for (const auto* step : {"build_static_inputs", "token_embedding", "vision_prefill", "mm_fusion", "masks_and_rope",
                           "prefill", "decode", "generation"}) {
    CHECK(done.status(step) == "pass");
  }
  CHECK_THAT(done.steps.at("runtime")["uses"].get<std::string>(), contains_text("recorded_runtime"));
}

TEST_CASE("a dump has no answer to the reference's inputs, and says so where they differ from its own") {
  const auto done = run_changed("token_embedding", [](Tensors&) {}, {"--set", "feed=reference"});
  CHECK(done.result.code == 0);
  CHECK_THAT(done.result.out, contains_text("not fed: ") && contains_text("its own prefill.kv_cache.cache.L0.k"));
  const auto damaged = run_changed("mm_fusion", [](Tensors& tensors) { damage(tensors.at("fused_embeds")); },
                                   {"--set", "feed=reference"});
  CHECK_THAT(damaged.result.out, contains_text("its own mm_fusion.fused_embeds"));
}

TEST_CASE("a damaged tensor fails its stage and no other before it") {
  for (std::size_t i = 0; i < stages.size(); ++i) {
    CAPTURE(stages[i].id);
    const auto done = run_changed(stages[i].id, [&](Tensors& tensors) { damage(tensors.at(stages[i].tensor)); });
    CHECK(done.result.code == 1);
    CHECK(done.status(stages[i].id) == "fail");
    CAPTURE(stages[i].tensor);
    CHECK_FALSE(done.failures(stages[i].id).empty());
    for (std::size_t before = 0; before < i; ++before) {
      if (stages[before].id != stages[i].id) CHECK(done.status(stages[before].id) == "pass");
    }
  }
}

TEST_CASE("a damaged input fails build_static_inputs by name") {
  const auto done = run_changed("build_static_inputs", [](Tensors& t) { damage(t.at("batch.position_ids")); });
  CHECK(done.result.code == 1);
  CHECK_THAT(done.failures("build_static_inputs"), contains_text("position_ids"));
}

TEST_CASE("a missing tensor fails its stage and is named") {
  for (const auto& stage : stages) {
    const auto& id = stage.id;
    CAPTURE(id);
    const auto done = run_changed(id, [&](Tensors& tensors) {
      tensors.erase(stage.tensor);
      tensors.emplace("something_else", lockstep::Tensor());
    });
    CHECK(done.result.code == 1);
    CHECK(done.status(id) == "fail");
    CHECK_THAT(done.failures(id), contains_text("the dump has no " + id + "." + stage.tensor));
  }
}

TEST_CASE("a missing tensor of a stage that is not required skips the stage with the reason") {
  const auto done = run_changed("mm_fusion",
                                [](Tensors& tensors) {
                                  tensors.clear();
                                  tensors.emplace("something_else", lockstep::Tensor());
                                },
                                {"--set", "step.runtime.with.require=[\"token_embedding\", \"vision_prefill\"]"});
  CHECK(done.result.code == 0);
  CHECK(done.status("vision_prefill") == "pass");
  CHECK(done.status("mm_fusion") == "skipped");
  CHECK_THAT(done.steps.at("mm_fusion")["reason"].get<std::string>(),
             contains_text("the dump has no mm_fusion.fused_embeds"));
}

TEST_CASE("a stage that is required requires what it reads from") {
  const auto done = run_changed("token_embedding",
                                [](Tensors& tensors) {
                                  tensors = {{"something_else", lockstep::Tensor()}};
                                },
                                {"--set", "step.runtime.with.require=[\"mm_fusion\"]"});
  CHECK(done.result.code == 1);
  CHECK(done.status("token_embedding") == "fail");
  CHECK(done.status("mm_fusion") == "skipped");
}

TEST_CASE("an unknown stage in require is found before anything runs") {
  const auto done = run_changed("mm_fusion", [](Tensors&) {}, {"--set", "step.runtime.with.require=[\"mm_fussion\"]"});
  CHECK(done.result.code == 2);
  CHECK_THAT(done.result.err, contains_text("mm_fusion"));
}

const Words recorded_reference{"--config", LOCKSTEP_SOURCE_DIR "/configs/recorded_reference.toml",
                               "--set",    "prompt_format=chat",
                               "--set",    "profile=shapes_24x24_64_chat"};
Words with_recording(const std::string& name, const Words& more = {}) {
  auto words = recorded_reference;
  words.insert(words.end(), {"--set", "recording=" LOCKSTEP_TEST_DATA "/recordings/" + name});
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST_CASE("the native runtime passes against transformers' recorded numbers, in both dtypes") {
  const auto bfloat16 = run(with_recording("two_describe_bf16"));
  CHECK(bfloat16.result.code == 0);
  CHECK(bfloat16.status("mm_fusion") == "pass");
  CHECK(bfloat16.status("decode") == "pass");
  CHECK(bfloat16.status("generation") == "pass");
  CHECK(run(with_recording("two_describe_bf16", {"--set", "feed=reference"})).result.code == 0);
  const auto float32 = run(with_recording("two_describe_fp32", {"--set", "dtype=float32"}));
  CHECK(float32.result.code == 0);
  CHECK(float32.status("token_embedding") == "pass");
  CHECK(float32.steps.at("reference").contains("fingerprint_differences"));
}

TEST_CASE("a prompt that was not recorded is an error with place and ids, a wrong picture one with its hash") {
  const auto text = run(with_recording("two_describe_bf16", {"--set", "prompt=<|image|>Describe the imagx."}));
  CHECK(text.result.code == 4);
  CHECK_THAT(text.steps.at("token_embedding")["reason"].get<std::string>(),
             contains_text("the recording was made with"));
  const auto picture = run(with_recording("two_describe_bf16", {"--set", "image="}));
  CHECK(picture.result.code == 4);
  CHECK(picture.status("vision_prefill") == "error");
  CHECK_THAT(picture.steps.at("vision_prefill")["reason"].get<std::string>(),
             contains_text("pixel_values is not what the recording was made with: sha256"));
}

TEST_CASE("a recording without values is an error of the reference") {
  const auto done = run(with_recording("two_raw_bf16"));
  CHECK(done.result.code == 4);
  CHECK_THAT(done.steps.at("reference")["reason"].get<std::string>(), contains_text("has no reference.safetensors"));
}
