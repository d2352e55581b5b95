// A runtime that is a TorchScript module goes through the shipped pipeline; a module with a mistake does not.

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/scalar_tensor.h>
#include <torch/csrc/jit/api/module.h>

#include <lockstep/torch.hpp>

#include "catch.hpp"
#include "checkpoint/checkpoint.hpp"
#include "process.hpp"

namespace fs = std::filesystem;

namespace {

constexpr const char* embedding = R"(
def token_embedding(self, input_ids):
    return self.table[input_ids] * self.scale
)";
constexpr const char* fusion = R"(
def fuse(self, text_embeds, visual_embeds):
    fused = text_embeds.clone()
    fused[0, 1:1 + visual_embeds.size(0)] = visual_embeds
    return fused
)";

/// Saves a module of the shapes checkpoint's table with these methods. Its scale is rounded to bfloat16, as it must be.
fs::path module_with(const std::string& name, const std::vector<std::string>& methods, double scale = 11.3125) {
  const auto checkpoint = gemma4::Checkpoint::open(LOCKSTEP_SOURCE_DIR "/pipelines/data/shapes-gemma4");
  torch::jit::Module module("Stages");
  module.register_buffer("table",
                         lockstep::to_torch(checkpoint.weight("model.language_model.embed_tokens.weight")).clone());
  module.register_buffer("scale", at::scalar_tensor(scale, at::dtype(at::kBFloat16)));
  for (const auto& method : methods) module.define(method);
  const auto file = fs::path(LOCKSTEP_BINARY_DIR) / "tests/module_runtime" / (name + ".pt");
  fs::create_directories(file.parent_path());
  module.save(file.string());
  return file;
}

process::Result run(const fs::path& module) {
  const std::string source = LOCKSTEP_SOURCE_DIR;
  return process::run(
      {LOCKSTEP_PROGRAM, "run", source + "/pipelines/gemma4.toml", "--config",
       source + "/docs/module_runtime/module_runtime.toml", "--set", "step.runtime.with.module=" + module.string(),
       "--set", "environment.threads=1"},
      {.folder = LOCKSTEP_BINARY_DIR, .environment = {"LOCKSTEP_PLUGIN_PATH=" MODULE_PLUGINS, "NO_COLOR=1"}});
}

/// All that was written, on one line with single spaces.
std::string text_of(const process::Result& result) {
  return std::regex_replace(result.out + result.err, std::regex("\\s+"), " ");
}

}  // namespace

TEST_CASE("the pipeline passes with stages that run in a TorchScript module") {
  const auto result = run(module_with("good", {embedding, fusion}));
  INFO(text_of(result));
  CHECK(result.code == 0);
  CHECK_THAT(text_of(result), contains_text("the module does token_embedding, fuse"));
}

TEST_CASE("the pipeline fails at the stage where the module has a mistake") {
  const auto result = run(module_with("bad_scale", {embedding, fusion}, 11.375));
  INFO(text_of(result));
  CHECK(result.code == 1);
  CHECK_THAT(text_of(result), contains_text("FAIL token_embedding") && contains_text("failed: 1"));
}

TEST_CASE("what goes wrong inside the module is told with its file") {
  const auto result = run(module_with("bad_method", {embedding, R"(
def fuse(self, text_embeds, visual_embeds):
    return text_embeds + visual_embeds
)"}));
  INFO(text_of(result));
  CHECK(result.code != 0);
  CHECK_THAT(text_of(result), contains_text("bad_method.pt'") && contains_text("size of tensor"));
}

TEST_CASE("a file that is no module, or has no stage, is refused") {
  const auto file = fs::path(LOCKSTEP_BINARY_DIR) / "tests/module_runtime/text.pt";
  fs::create_directories(file.parent_path());
  std::ofstream(file) << "no module";
  const auto text = run(file);
  CHECK(text.code != 0);
  CHECK_THAT(text_of(text), contains_text("module '") && contains_text("text.pt'"));
  const auto empty = run(module_with("empty", {}));
  CHECK(empty.code != 0);
  CHECK_THAT(text_of(empty), contains_text("has no stage"));
}
