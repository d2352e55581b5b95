// A runtime that is served from dumped tensors, and what the steps make of one that has nothing for a stage. The dumps
// are the native runtime's own results.

#include <unistd.h>

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <lockstep/safetensors.hpp>

#include "catch.hpp"
#include "gemma4/steps/vision_steps.hpp"
#include "runtime/not_served.hpp"
#include "runtime/recorded_runtime.hpp"

using namespace gemma4::test;
using gemma4::Runtime;
using gemma4::RuntimeDump;
using gemma4::StaticBatch;
using lockstep::DType;
using lockstep::StepBench;
using lockstep::Tensor;
using lockstep::Verdict;

namespace {

using Names = std::vector<std::string>;
using Tensors = std::map<std::string, Tensor>;

/// A folder of safetensors files; gone with the object.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("dump_test_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directory(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const Folder& write(const std::string& file, const Tensors& tensors) const {
    lockstep::write_safetensors(path_ / file, {tensors.begin(), tensors.end()});
    return *this;
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// What the native runtime computes for a prompt with a picture, by the names of a dump.
Tensors native_results() {
  const auto runtime = native_runtime(DType::bfloat16);
  const auto batch = batch_with_picture(*runtime);
  const auto text = runtime->token_embedding(batch.input_ids);
  const auto visual = runtime->vision_prefill(*batch.pixel_values, *batch.image_position_ids, {});
  Tensors results{{"token_embedding.text_embeds", text},
                  {"vision_prefill.visual_embeds", visual},
                  {"mm_fusion.fused_embeds", runtime->fuse(text, visual)}};
  visit_tensors(batch, [&](std::string_view name, const Tensor& tensor) {
    results.emplace("build_static_inputs.batch." + std::string(name), tensor);
  });
  return results;
}

std::shared_ptr<const Runtime> served(const Tensors& tensors, const Names& required) {
  const Folder folder;
  folder.write("all.safetensors", tensors);
  auto options = gemma4::recorded_runtime_options(*shapes_checkpoint());
  options.profile = gemma4::find_profile("shapes_24x24_64");
  options.max_seq = 160;
  options.required = gemma4::with_earlier_stages(required);
  return gemma4::make_recorded_runtime(RuntimeDump::open(folder.path()), options);
}

/// The tensor with the highest bit of its second byte flipped: of a bfloat16, the sign of the first element.
Tensor damaged(const Tensor& tensor) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.numel()) * element_size(tensor.dtype()));
  std::copy_n(tensor.contiguous().data(), bytes.size(), bytes.begin());
  bytes[1] ^= std::byte{0x80};
  return Tensor::copy_of(bytes, tensor.dtype(), tensor.sizes());
}
Tensors without(Tensors tensors, const std::string& name) {
  REQUIRE(tensors.erase(name) == 1);
  return tensors;
}
Tensors with_damage(Tensors tensors, const std::string& name) {
  tensors.at(name) = damaged(tensors.at(name));
  return tensors;
}

/// One of the three stages that compute, fed with the native runtime's inputs.
StepBench run_stage(const std::string& stage, const std::shared_ptr<const Runtime>& runtime) {
  const auto good = native_results();
  StepBench bench("gemma4." + stage);
  bench.bind("batch", shared(batch_with_picture(*native_runtime(DType::bfloat16))))
      .bind("reference", native_reference(DType::bfloat16))
      .bind("runtime", runtime);
  if (stage == "mm_fusion") {
    bench.bind("text_embeds", shared(good.at("token_embedding.text_embeds")))
        .bind("visual_embeds", shared(good.at("vision_prefill.visual_embeds")));
  }
  bench.run();
  CHECK_FALSE(bench.error());
  return bench;
}
StepBench run_build(const std::shared_ptr<const Runtime>& runtime) {
  StepBench bench("gemma4.build_static_inputs");
  bench.bind("checkpoint", shapes_checkpoint())
      .bind("runtime", runtime)
      .set("prompt", "<|image|>Describe the image.")
      .set("image", std::string(LOCKSTEP_SOURCE_DIR) + "/pipelines/data/images/two_384.png");
  bench.run();
  CHECK_FALSE(bench.error());
  return bench;
}

struct Case {
  std::string stage, tensor, judge;  // the check that fails if the tensor is missing
};
const std::vector<Case> stages{{"token_embedding", "token_embedding.text_embeds", "matches_reference"},
                               {"vision_prefill", "vision_prefill.visual_embeds", "shape"},
                               {"mm_fusion", "mm_fusion.fused_embeds", "matches_reference"}};

}  // namespace

TEST_CASE("dumped tensors of a right runtime pass at each stage") {
  const auto runtime = served(native_results(), {});
  for (const auto& [stage, tensor, judge] : stages) {
    CAPTURE(stage);
    const auto bench = run_stage(stage, runtime);
    CHECK(bench.with(Verdict::fail).empty());
    CHECK(bench.with(Verdict::vacuous).empty());
    CHECK(bench.with(Verdict::pass).size() >= 2);
  }
}

TEST_CASE("a damaged tensor fails its stage, by the comparison with the reference") {
  for (const auto& [stage, tensor, judge] : stages) {
    CAPTURE(stage);
    const auto bench = run_stage(stage, served(with_damage(native_results(), tensor), {}));
    const auto failed = bench.with(Verdict::fail);
    CHECK(std::find(failed.begin(), failed.end(), "matches_reference") != failed.end());
    CHECK(bench.result("matches_reference").mismatched == 1);
  }
}

TEST_CASE("a missing tensor of a required stage fails and is named") {
  for (const auto& [stage, tensor, judge] : stages) {
    CAPTURE(stage);
    const auto bench = run_stage(stage, served(without(native_results(), tensor), {stage}));
    const auto failed = bench.with(Verdict::fail);
    CHECK(failed.back() == judge);
    CHECK_THAT(bench.result(judge).message.value(), contains_text("the dump has no " + tensor));
    CHECK_FALSE(bench.skip_reason());
  }
}

TEST_CASE("a missing tensor of a stage that is not required skips it with the reason") {
  for (const auto& [stage, tensor, judge] : stages) {
    CAPTURE(stage);
    const auto bench = run_stage(stage, served(without(native_results(), tensor), {}));
    CHECK_THAT(bench.skip_reason().value_or(""), contains_text("the dump has no " + tensor));
    CHECK(bench.with(Verdict::fail).empty());
  }
}

TEST_CASE("a missing tensor's message names the nearest one that is there") {
  auto tensors = without(native_results(), "token_embedding.text_embeds");
  tensors.emplace("token_embedding.text_embed", native_results().at("token_embedding.text_embeds"));
  const auto bench = run_stage("token_embedding", served(tensors, {"token_embedding"}));
  CHECK_THAT(bench.result("matches_reference").message.value(),
             contains_text("the nearest name there is token_embedding.text_embed)"));
}

TEST_CASE("a stage that reads from others requires them too") {
  using gemma4::with_earlier_stages;
  CHECK(with_earlier_stages({}).empty());
  CHECK(with_earlier_stages({"token_embedding"}) == std::set<std::string, std::less<>>{"token_embedding"});
  CHECK(with_earlier_stages({"decode"}) == std::set<std::string, std::less<>>{"decode", "prefill", "masks_and_rope",
                                                                              "mm_fusion", "token_embedding",
                                                                              "vision_prefill"});
}

TEST_CASE("a dumped eager view takes the reference's place in vision_prefill") {
  auto tensors = native_results();
  tensors.emplace("vision_prefill.eager_image_features", tensors.at("vision_prefill.visual_embeds"));
  auto bench = run_stage("vision_prefill", served(tensors, {}));
  CHECK(bench.with(Verdict::pass) == Names{"shape", "matches_eager_model", "peir_vs_float"});
  tensors = with_damage(tensors, "vision_prefill.eager_image_features");
  CHECK(run_stage("vision_prefill", served(tensors, {})).with(Verdict::fail) == Names{"matches_eager_model"});
}

TEST_CASE("dumped inner tensors are shown to vision_prefill") {
  const auto runtime = native_runtime(DType::bfloat16);
  const auto batch = batch_with_picture(*runtime);
  auto tensors = native_results();
  (void)runtime->vision_prefill(*batch.pixel_values, *batch.image_position_ids,
                                [&](std::string_view name, const Tensor& tensor) {
                                  tensors.emplace("vision_prefill." + std::string(name), tensor);
                                });
  StepBench bench("gemma4.vision_prefill");
  bench.bind("batch", shared(batch))
      .bind("reference", native_reference(DType::bfloat16))
      .bind("runtime", served(tensors, {}))
      .set("per_layer", true)
      .run();
  CHECK(bench.with(Verdict::pass) == Names{"shape", "matches_reference", "peir_vs_float", "layer_vs_float",
                                           "layer_vs_float", "layer_vs_float", "layer_vs_float"});
}

TEST_CASE("dumped inputs are judged like a runtime's own") {
  Tensors tensors;
  visit_tensors(*run_build(native_runtime(DType::bfloat16)).output<StaticBatch>("batch"),
                [&](std::string_view name, const Tensor& tensor) {
                  tensors.emplace("build_static_inputs.batch." + std::string(name), tensor);
                });
  CHECK(run_build(served(tensors, {})).with(Verdict::pass).size() == 17);
  CHECK(run_build(served(with_damage(tensors, "build_static_inputs.batch.pixel_values"), {})).with(Verdict::fail) ==
        Names{"pixel_values"});
}

TEST_CASE("a dump of another prompt fails by its inputs") {
  const auto failed = run_build(served(native_results(), {})).with(Verdict::fail);
  CHECK(std::find(failed.begin(), failed.end(), "raw_input_ids") != failed.end());
}

TEST_CASE("a dump without inputs that need not have them leaves the comparisons out and publishes the step's own") {
  const auto bench = run_build(served({{"token_embedding.text_embeds", native_results().begin()->second}}, {}));
  CHECK(bench.with(Verdict::fail).empty());
  CHECK(bench.with(Verdict::vacuous).empty());
  CHECK(bench.with(Verdict::pass) == Names{"one_picture", "no_sound_or_video", "prompt_fits", "ids_in_vocabulary",
                                           "picture_fits_profile", "visual_start", "visual_count",
                                           "visual_contiguous"});
  CHECK(bench.recorded().back().first == "left_out");
  const auto batch = bench.output<StaticBatch>("batch");
  REQUIRE(batch);
  const auto native = run_build(native_runtime(DType::bfloat16)).output<StaticBatch>("batch");
  std::map<std::string, std::string> both;
  const auto collect = [&](std::string_view name, const Tensor& tensor) {
    const auto text = std::string(reinterpret_cast<const char*>(tensor.data()),
                                  static_cast<std::size_t>(tensor.numel()) * element_size(tensor.dtype()));
    CHECK(both.emplace(name, text).first->second == text);
  };
  visit_tensors(*batch, collect);
  visit_tensors(*native, collect);
  CHECK(both.size() == 6);
}

TEST_CASE("a dump that must have its inputs fails with the name of the one that is missing") {
  const auto bench =
      run_build(served(without(native_results(), "build_static_inputs.batch.attention_mask"), {"build_static_inputs"}));
  CHECK(bench.with(Verdict::fail) == Names{"input_ids"});
  CHECK_THAT(bench.result("input_ids").message.value(),
             contains_text("the dump has no build_static_inputs.batch.attention_mask"));
  CHECK(bench.output<StaticBatch>("batch"));
}

TEST_CASE("embeddings of another form fail mm_fusion by name instead of ending it in an error") {
  const auto good = native_results();
  const auto fuse = [&](const Tensor& text, const Tensor& visual) {
    StepBench bench("gemma4.mm_fusion");
    bench.bind("batch", shared(batch_with_picture(*native_runtime(DType::bfloat16))))
        .bind("reference", native_reference(DType::bfloat16))
        .bind("runtime", served(good, {}))
        .bind("text_embeds", shared(text))
        .bind("visual_embeds", shared(visual))
        .run();
    CHECK_FALSE(bench.error());
    return bench.with(Verdict::fail);
  };
  const auto text = good.at("token_embedding.text_embeds"), visual = good.at("vision_prefill.visual_embeds");
  const auto of = [](const Tensor& t) { return lockstep::to_torch(t); };
  CHECK(fuse(of(text).slice(1, 0, 159), visual) == Names{"length"});
  CHECK(fuse(of(text)[0], visual) == Names{"length"});
  CHECK(fuse(text, of(visual).to(at::kFloat)) == Names{"count"});
  CHECK(fuse(text, of(visual).slice(1, 0, 127)) == Names{"count"});
}

TEST_CASE("a file that is named as a stage needs no stage in its names") {
  const auto good = native_results();
  const Folder folder;
  folder.write("token_embedding.safetensors", {{"text_embeds", good.at("token_embedding.text_embeds")}})
      .write("mine.safetensors", {{"mm_fusion.fused_embeds", good.at("mm_fusion.fused_embeds")}});
  const auto dump = RuntimeDump::open(folder.path());
  CHECK(dump.size() == 2);
  CHECK(dump.find("token_embedding.text_embeds"));
  CHECK(dump.find("mm_fusion.fused_embeds"));
  folder.write("other.safetensors", {{"token_embedding.text_embeds", good.at("token_embedding.text_embeds")}});
  CHECK_THROWS_WITH(RuntimeDump::open(folder.path()), contains_text("is in another file of the folder as well"));
}

TEST_CASE("a folder without tensors is an error that says what to give") {
  const Folder folder;
  CHECK_THROWS_WITH(RuntimeDump::open(folder.path()), contains_text("has no safetensors file"));
}
