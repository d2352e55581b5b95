// Each fault changes a number, first of all in the stage that its table names as guilty.

#include "runtime/faults.hpp"

#include <set>

#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>

#include <fmt/format.h>
#include <lockstep/safetensors.hpp>

#include "gemma4/runtime/prompts.hpp"
#include "runtime/processor_contract.hpp"
#include "runtime/text_graph.hpp"
#include "runtime/text_weights.hpp"

using namespace gemma4;
using namespace gemma4::test;
using lockstep::DType;

namespace {

const std::vector<std::string> stages{"token_embedding", "vision_prefill", "mm_fusion", "masks_and_rope",
                                      "prefill",         "decode",         "generation"};

std::shared_ptr<const Runtime> runtime_with(Fault fault, DType dtype) {
  return make_static_runtime(
      shapes_vision_checkpoint(),
      {.profile = find_profile("shapes_24x24_64_chat"), .max_seq = 128, .dtype = dtype, .fault = fault});
}

/// A recorded prompt with a picture, 79 tokens (the window is 64), and what an unfaulted runtime makes of it.
struct Clean {
  explicit Clean(DType type) : dtype(type), runtime(runtime_with(Fault::none, type)) {
    const auto recorded =
        lockstep::SafetensorsFile::open(LOCKSTEP_TEST_DATA "/recordings/two_describe_fp32/reference.safetensors");
    positions = build_image_position_ids(runtime->profile());
    pixels = pixels_of(vision_recording("two_describe_fp32").at("img.0.resized_u8"), runtime->profile());
    prompt.batch = runtime->build_static_inputs(
        {.input_ids = recorded.at("tok.ids").contiguous(), .pixel_values = pixels, .image_position_ids = positions});
    text = runtime->token_embedding(prompt.batch.input_ids);
    visual = runtime->vision_prefill(pixels, positions);
    prompt.embeds = runtime->fuse(text, visual);
    prompt.masks = runtime->attention_masks(prompt.batch.attention_mask);
    prompt.rope = runtime->rope(prompt.batch.position_ids);
    const auto session = runtime->start();
    logits = prefill(*session, prompt);
    snapshot = session->snapshot();
    tokens = session->generate(logits, 20).tokens;
  }

  DType dtype;
  std::shared_ptr<const Runtime> runtime;
  lockstep::Tensor pixels, positions, text, visual, logits;
  Prompt prompt;
  KvCache snapshot;
  std::vector<std::int64_t> tokens;
};

const Clean& clean(DType dtype) {
  static const Clean bfloat16(DType::bfloat16);
  static const Clean float32(DType::float32);
  return dtype == DType::float32 ? float32 : bfloat16;
}

/// What `runtime` makes of the unfaulted inputs of a stage.
std::vector<at::Tensor> results(const Runtime& runtime, const Clean& inputs, const std::string& stage) {
  std::vector<at::Tensor> shown;
  const lockstep::TensorVisitor keep = [&](std::string_view, const lockstep::Tensor& t) {
    shown.push_back(lockstep::to_torch(t).clone());
  };
  const auto visit_cache = [&](const RuntimeSession& session) { visit_tensors(session.snapshot(), keep); };
  const auto& prompt = inputs.prompt;
  if (stage == "token_embedding") keep("", runtime.token_embedding(prompt.batch.input_ids));
  if (stage == "vision_prefill") keep("", runtime.vision_prefill(inputs.pixels, inputs.positions));
  if (stage == "mm_fusion") keep("", runtime.fuse(inputs.text, inputs.visual));
  if (stage == "masks_and_rope") {
    visit_tensors(runtime.attention_masks(prompt.batch.attention_mask), keep);
    visit_tensors(runtime.rope(prompt.batch.position_ids), keep);
  }
  if (stage == "prefill") {
    const auto session = runtime.start();
    keep("", prefill(*session, prompt));
    visit_cache(*session);
  }
  if (stage == "decode") {
    const auto session = runtime.resume(inputs.snapshot);
    for (std::size_t step = 0; step < 4; ++step) {
      keep("", decode(*session, inputs.tokens[step]));
      visit_cache(*session);
    }
  }
  if (stage == "generation") {
    const auto generation = runtime.resume(inputs.snapshot)->generate(inputs.logits, 20);
    keep("", row(generation.tokens));
  }
  return shown;
}

bool same(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!same_bits(a[i], b[i])) return false;
  }
  return true;
}

std::string first_changed_stage(Fault fault, DType dtype) {
  const auto& inputs = clean(dtype);
  const auto runtime = runtime_with(fault, dtype);
  for (const auto& stage : stages) {
    if (!same(results(*inputs.runtime, inputs, stage), results(*runtime, inputs, stage))) return stage;
  }
  return "none";
}

/// Faults that change no number here, and why.
std::string why_nothing_changes(Fault fault, DType dtype) {
  if (fault == Fault::kv_heads_swapped) return "the checkpoint has one key-value head";
  if (dtype != DType::float32) return {};
  if (fault == Fault::embedding_scale_not_rounded) return "the scale is float32 either way";
  if (fault == Fault::softcap_in_one_step) return "each step is float32 either way";
  return {};
}

}  // namespace

TEST_CASE("every fault has a name of its own, a stage and a line of text") {
  std::set<Fault> faults;
  std::set<std::string_view> names;
  for (const auto& info : known_faults()) {
    CAPTURE(info.name);
    CHECK(faults.insert(info.fault).second);
    CHECK(names.insert(info.name).second);
    CHECK(find_fault(info.name) == info.fault);
    CHECK(std::ranges::find(stages, info.stage) != stages.end());
    CHECK_FALSE(info.what.empty());
  }
  CHECK(known_faults().size() == static_cast<std::size_t>(Fault::eos_ignored));  // the last one
  CHECK(find_fault("none") == Fault::none);
  CHECK_FALSE(find_fault("no_such_fault"));
}

TEST_CASE("given what an unfaulted runtime hands on, a fault changes its guilty stage and none before it") {
  for (const auto dtype : {DType::bfloat16, DType::float32}) {
    for (const auto& info : known_faults()) {
      CAPTURE(info.name, dtype);
      const auto changed = first_changed_stage(info.fault, dtype);
      const auto reason = why_nothing_changes(info.fault, dtype);
      CHECK(changed == (reason.empty() ? info.stage : "none"));
    }
  }
}

TEST_CASE("without a fault nothing changes from one runtime to the next") {
  CHECK(first_changed_stage(Fault::none, DType::bfloat16) == "none");
  CHECK(first_changed_stage(Fault::none, DType::float32) == "none");
}

TEST_CASE("two key-value heads serve consecutive query heads, and swapping them is a fault") {
  // The shapes checkpoint with a second key-value head that is another layer's first one.
  const auto weights_of = [](bool exchanged) {
    auto weights = load_text_weights(*shapes_vision_checkpoint(), at::kFloat);
    weights.config.num_key_value_heads = 2;
    for (std::size_t i = 0; i < weights.layers.size(); ++i) {
      auto& layer = weights.layers[i];
      const auto halves = [&](const at::Tensor& t, std::int64_t axis) {
        const auto parts = t.chunk(2, axis);
        return at::cat({parts[1], parts[0]}, axis);
      };
      if (layer.produces_kv()) {
        layer.k_proj = at::cat({layer.k_proj, layer.k_proj.flip(1)}, 0);
        layer.v_proj = at::cat({layer.v_proj, layer.v_proj.flip(1)}, 0);
        if (exchanged) layer.k_proj = halves(layer.k_proj, 0);
        if (exchanged) layer.v_proj = halves(layer.v_proj, 0);
      }
      if (exchanged) layer.q_proj = halves(layer.q_proj, 0);
      if (exchanged) layer.o_proj = halves(layer.o_proj, 1);
    }
    return weights;
  };
  const auto run = [](TextWeights weights, Fault fault) {
    const auto& prompt = clean(DType::float32).prompt;
    const auto torch = [](const lockstep::Tensor& t) { return lockstep::to_torch(t)[0]; };
    const auto embeds = torch(prompt.embeds);
    const TextGraph graph(std::move(weights), 128, fault);
    TextPass pass{.hidden = embeds,
                  .per_layer_inputs = graph.per_layer_projection(at::zeros({128, 160}), embeds),
                  .mask = {torch(prompt.masks.sliding)[0], torch(prompt.masks.full)[0]},
                  .rotation = {rotation_of(torch(prompt.rope.sliding.cos), torch(prompt.rope.sliding.sin)),
                               rotation_of(torch(prompt.rope.full.cos), torch(prompt.rope.full.sin))},
                  .attended = [](std::size_t, const KeyValue& current) { return current; }};
    return graph.layers(pass, {}).slice(0, 0, 79);
  };
  const auto plain = run(weights_of(false), Fault::none);
  CHECK(norm_wise(plain, run(weights_of(true), Fault::none)) <= fp32_sums);
  CHECK(norm_wise(plain, run(weights_of(false), Fault::kv_heads_swapped)) > 1e-2);
}
