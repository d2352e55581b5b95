#include <limits>

#include <ATen/TensorOperators.h>
#include <ATen/ops/full_like.h>

#include "catch.hpp"
#include "gemma4/steps/vision_steps.hpp"
#include "runtime/static_vision.hpp"

using namespace gemma4::test;
using gemma4::Runtime;
using lockstep::DType;
using lockstep::Level;
using lockstep::StepBench;
using lockstep::Tensor;
using lockstep::Verdict;

namespace {

using Names = std::vector<std::string>;

StepBench prepared(DType dtype, std::shared_ptr<const Runtime> runtime) {
  StepBench bench("gemma4.vision_prefill");
  bench.bind("batch", shared(batch_with_picture(*runtime)))
      .bind("reference", native_reference(dtype))
      .bind("runtime", runtime);
  return bench;
}

/// What the fixed-shape graph is made of, to be damaged.
struct Graph {
  gemma4::VisionWeights weights;
  gemma4::VisionTables tables;
};

/// The step when the fixed-shape graph has a fault, and the eager view has not.
StepBench prepared_with_fault(DType dtype, const std::function<void(Graph&)>& damage,
                              const std::function<at::Tensor(const at::Tensor&)>& damage_pixels = {}) {
  Graph graph{.weights = gemma4::load_vision_weights(*shapes_checkpoint(), lockstep::to_torch(dtype))};
  graph.tables = gemma4::bake_vision_tables(gemma4::find_profile("shapes_24x24_64"), graph.weights, -120);
  if (damage) damage(graph);
  const auto faulty = std::make_shared<FaultyRuntime>(native_runtime(dtype));
  faulty->other_vision = [=](const Tensor& pixels, const lockstep::TensorVisitor& taps) {
    const auto values = lockstep::to_torch(pixels);
    return Tensor(
        static_vision_prefill(graph.weights, graph.tables, damage_pixels ? damage_pixels(values) : values, taps));
  };
  return prepared(dtype, faulty);
}
StepBench run_with_fault(DType dtype, const std::function<void(Graph&)>& damage,
                         const std::function<at::Tensor(const at::Tensor&)>& damage_pixels = {}) {
  auto bench = prepared_with_fault(dtype, damage, damage_pixels);
  bench.run();
  CHECK_FALSE(bench.error());
  CHECK(bench.output<Tensor>("visual_embeds"));
  return bench;
}
StepBench run_damaged(std::function<Tensor(const Tensor&)> damage) {
  const auto faulty = std::make_shared<FaultyRuntime>(native_runtime(DType::float32));
  faulty->damage_visual = std::move(damage);
  auto bench = prepared(DType::float32, faulty);
  bench.run();
  CHECK_FALSE(bench.error());
  return bench;
}

}  // namespace

TEST_CASE("vision_prefill passes for the native runtime in both dtypes") {
  for (const auto dtype : {DType::bfloat16, DType::float32}) {
    auto bench = prepared(dtype, native_runtime(dtype));
    bench.run();
    CHECK_FALSE(bench.error());
    CHECK(bench.with(Verdict::pass) == Names{"shape", "matches_eager_model", "peir_vs_float"});
    CHECK(bench.with(Verdict::vacuous).empty());
    CHECK(bench.result("matches_eager_model").metric == lockstep::Metric::close);
    CHECK(bench.result("matches_eager_model").level == Level::require);
    CHECK(bench.result("peir_vs_float").metric == lockstep::Metric::peir);
    CHECK(bench.result("peir_vs_float").level == Level::inform);
    CHECK(bench.result("peir_vs_float").bound.max == 0.02);
    const auto embeds = bench.output<Tensor>("visual_embeds");
    REQUIRE(embeds);
    CHECK(embeds->sizes() == std::vector<std::int64_t>{64, 128});
    CHECK(embeds->dtype() == dtype);
  }
}

TEST_CASE("vision_prefill compares each layer's valid patches when asked") {
  auto bench = prepared(DType::float32, native_runtime(DType::float32));
  bench.set("per_layer", true).run();
  CHECK_FALSE(bench.error());
  CHECK(bench.with(Verdict::pass) == Names{"shape", "matches_eager_model", "peir_vs_float", "layer_vs_float",
                                           "layer_vs_float", "layer_vs_float", "layer_vs_float"});
}

TEST_CASE("a fault in one layer shows in that layer and the later ones") {
  auto bench = prepared_with_fault(DType::float32, [](Graph& g) {
    g.weights.layers[1].post_attention_layernorm = g.weights.layers[1].post_attention_layernorm * 2;
  });
  bench.set("per_layer", true).run();
  const auto layers = bench.results("layer_vs_float");
  REQUIRE(layers.size() == 4);
  CHECK(layers[0].subject == "layer 0");
  CHECK(layers[0].verdict == Verdict::pass);
  CHECK(layers[1].verdict == Verdict::warn);
  CHECK(layers[2].verdict == Verdict::warn);
}

TEST_CASE("a runtime that shows no layers warns when they are asked for") {
  const auto blind = std::make_shared<FaultyRuntime>(native_runtime(DType::float32));
  const auto good = native_runtime(DType::float32);
  blind->other_vision = [good](const Tensor& pixels, const lockstep::TensorVisitor&) {
    return good->vision_prefill(pixels, gemma4::build_image_position_ids(good->profile()), {});
  };
  auto bench = prepared(DType::float32, blind);
  bench.set("per_layer", true).run();
  CHECK_FALSE(bench.error());
  CHECK(bench.with(Verdict::warn) == Names(4, "layer_vs_float"));
}

TEST_CASE("without the parameter a required layer check is vacuous, an informational one absent") {
  auto bench = prepared(DType::float32, native_runtime(DType::float32));
  bench.configure("layer_vs_float", {{"level", "require"}});
  bench.run();
  CHECK(bench.with(Verdict::vacuous) == Names{"layer_vs_float"});
}

TEST_CASE("each fault of the fixed-shape graph turns matches_eager_model red, in both dtypes") {
  const auto dtype = GENERATE(DType::float32, DType::bfloat16);
  CAPTURE(dtype);
  const Names red{"matches_eager_model"};
  SECTION("transposed patches") {
    CHECK(run_with_fault(dtype, {}, [](const at::Tensor& pixels) {
            auto result = pixels.clone();
            result.slice(1, 0, 576).copy_(
                pixels.slice(1, 0, 576).view({1, 24, 24, 768}).transpose(1, 2).reshape({1, 576, 768}));
            return result;
          }).with(Verdict::fail) == red);
  }
  SECTION("the sign on the wrong rope half") {
    CHECK(run_with_fault(dtype, [](Graph& g) {
            g.tables.signed_sin = g.tables.signed_sin.neg();
          }).with(Verdict::fail) == red);
  }
  SECTION("missing clip") {
    CHECK(run_with_fault(dtype, [](Graph& g) {
            for (auto& layer : g.weights.layers) {
              for (auto* p : {&layer.q_proj, &layer.k_proj, &layer.v_proj, &layer.gate_proj, &layer.up_proj,
                              &layer.down_proj, &layer.o_proj}) {
                p->input_min = p->output_min = at::full_like(p->input_min, -std::numeric_limits<double>::infinity());
                p->input_max = p->output_max = at::full_like(p->input_max, std::numeric_limits<double>::infinity());
              }
            }
          }).with(Verdict::fail) == red);
  }
  SECTION("a mask that lets padding in") {
    CHECK(run_with_fault(dtype, [](Graph& g) {
            g.tables.attention_mask = g.tables.attention_mask * 0;
          }).with(Verdict::fail) == red);
  }
  SECTION("positions from the other axis") {
    CHECK(run_with_fault(dtype, [](Graph& g) {
            g.tables.position_embeddings = g.tables.position_embeddings.clone();
            g.tables.position_embeddings.slice(0, 0, 576).copy_(g.tables.position_embeddings.slice(0, 0, 576)
                                                                    .clone()
                                                                    .view({24, 24, 64})
                                                                    .transpose(0, 1)
                                                                    .reshape({576, 64}));
          }).with(Verdict::fail) == red);
  }
  SECTION("tokens pooled in columns") {
    CHECK(run_with_fault(dtype, [](Graph& g) {
            const auto tokens = g.tables.pool_weight.slice(0, 0, 64).clone();
            g.tables.pool_weight = g.tables.pool_weight.clone();
            g.tables.pool_weight.slice(0, 0, 64).copy_(tokens.view({8, 8, 630}).transpose(0, 1).reshape({64, 630}));
          }).with(Verdict::fail) == red);
  }
}

TEST_CASE("an unscaled pool, which the norm behind it hides, turns the pooler's entry") {
  auto bench = prepared_with_fault(DType::float32, [](Graph& g) { g.tables.pool_weight = g.tables.pool_weight / 8; });
  bench.set("per_layer", true).run();
  const auto inner = bench.results("layer_vs_float");
  REQUIRE(inner.size() == 4);
  CHECK(inner[2].verdict == Verdict::pass);
  CHECK(inner[3].subject == "pooler");
  CHECK(inner[3].verdict == Verdict::warn);
}

TEST_CASE("a fault of the picture is over the informational bound too, and only warns there") {
  const auto bench = run_with_fault(DType::float32, [](Graph& g) { g.weights.layers.pop_back(); });
  CHECK(bench.with(Verdict::fail) == Names{"matches_eager_model"});
  CHECK(bench.with(Verdict::warn) == Names{"peir_vs_float"});
}

TEST_CASE("a missing row, swapped rows, a NaN and another dtype turn vision_prefill red") {
  CHECK(run_damaged([](const Tensor& t) {
          return Tensor(lockstep::to_torch(t).slice(0, 0, 63));
        }).with(Verdict::fail) == Names{"shape", "matches_eager_model"});
  CHECK(run_damaged([](const Tensor& t) { return Tensor(lockstep::to_torch(t).flip(0)); }).with(Verdict::fail) ==
        Names{"matches_eager_model"});
  CHECK(run_damaged([](const Tensor& t) {
          auto values = lockstep::to_torch(t).clone();
          values[3][5] = std::numeric_limits<float>::quiet_NaN();
          return Tensor(values);
        }).with(Verdict::fail) == Names{"matches_eager_model"});
  CHECK(run_damaged([](const Tensor& t) {
          return Tensor(lockstep::to_torch(t).to(at::kBFloat16));
        }).with(Verdict::fail) == Names{"matches_eager_model"});
  CHECK(run_damaged([](const Tensor& t) { return Tensor(lockstep::to_torch(t).unsqueeze(0)); }).with(Verdict::fail) ==
        Names{"shape", "matches_eager_model"});
}

TEST_CASE("without an eager view the reference judges, and says so") {
  const auto runtime = std::make_shared<FaultyRuntime>(native_runtime(DType::float32));
  runtime->has_eager_view = false;
  auto bench = prepared(DType::float32, runtime);
  bench.run();
  CHECK_FALSE(bench.error());
  CHECK(bench.with(Verdict::vacuous).empty());
  CHECK(bench.with(Verdict::pass) == Names{"shape", "matches_reference", "peir_vs_float"});
  CHECK(bench.result("matches_reference").metric == lockstep::Metric::norm_wise);
  CHECK_THAT(bench.summary(), contains_text("no eager view"));
  REQUIRE(bench.recorded().size() == 1);
  CHECK(bench.recorded()[0].first == "left_out");
}

TEST_CASE("without an eager view a wrong picture turns matches_reference red") {
  const auto runtime = std::make_shared<FaultyRuntime>(native_runtime(DType::float32));
  runtime->has_eager_view = false;
  runtime->damage_visual = [](const Tensor& t) { return Tensor(lockstep::to_torch(t).flip(0)); };
  auto bench = prepared(DType::float32, runtime);
  bench.run();
  CHECK(bench.with(Verdict::fail) == Names{"matches_reference"});
}

TEST_CASE("vision_prefill skips itself when the prompt has no picture") {
  const auto runtime = native_runtime(DType::float32);
  StepBench bench("gemma4.vision_prefill");
  bench.bind("batch", shared(batch_of_text(*runtime)))
      .bind("reference", native_reference(DType::float32))
      .bind("runtime", runtime)
      .run();
  CHECK_FALSE(bench.error());
  CHECK(bench.skip_reason() == "no picture in the prompt");
  CHECK_FALSE(bench.output<Tensor>("visual_embeds"));
}
