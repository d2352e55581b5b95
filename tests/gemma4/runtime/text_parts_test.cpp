// Cache, masks and rotary tables of the static text model, one by one.

#include <cstring>

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>

#include "gemma4/runtime/errors.hpp"
#include "gemma4/runtime/prompts.hpp"
#include "runtime/fixed_cache.hpp"
#include "runtime/text_graph.hpp"
#include "runtime/text_masks.hpp"
#include "runtime/text_model.hpp"
#include "runtime/text_rope.hpp"
#include "runtime/text_weights.hpp"

using namespace gemma4;
using namespace gemma4::test;
using lockstep::DType;

namespace {

constexpr auto sliding = LayerType::sliding_attention;
constexpr auto full = LayerType::full_attention;

TextConfig config_of(const std::vector<LayerType>& types, std::int64_t head_dim, std::int64_t global_head_dim,
                     std::int64_t shared = 0) {
  TextConfig config;
  config.num_key_value_heads = 2;
  config.num_hidden_layers = std::ssize(types);
  for (const auto type : types) {
    const bool shares = std::ssize(config.layers) >= config.num_hidden_layers - shared;
    config.layers.push_back({.type = type, .head_dim = type == full ? global_head_dim : head_dim, .shares_kv = shares});
  }
  return config;
}

using Shapes = std::vector<std::vector<std::int64_t>>;
Shapes cache_shapes(const TextConfig& config, std::int64_t max_seq) {
  Shapes shapes;
  for (const auto& layer : FixedCache(config, max_seq, at::kFloat).snapshot(0).layers) {
    CHECK(layer.key.sizes() == layer.value.sizes());
    shapes.push_back(layer.key.sizes());
  }
  return shapes;
}

/// Slots of [1, S] that may be attended to.
std::vector<std::int64_t> allowed(const at::Tensor& mask) {
  std::vector<std::int64_t> slots;
  for (std::int64_t i = 0; i < mask.size(-1); ++i) {
    if (mask.flatten()[i].item<float>() == 0) slots.push_back(i);
  }
  return slots;
}
std::vector<std::int64_t> range(std::int64_t first, std::int64_t end, std::vector<std::int64_t> more = {}) {
  std::vector<std::int64_t> result(static_cast<std::size_t>(end - first));
  std::iota(result.begin(), result.end(), first);
  result.insert(result.end(), more.begin(), more.end());
  return result;
}

std::uint32_t bits_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

}  // namespace

TEST_CASE("the cache has max_seq - 1 slots of each producer's head dimension") {
  CHECK(cache_shapes(config_of({sliding, full}, 16, 32), 64) == Shapes{{1, 2, 63, 16}, {1, 2, 63, 32}});
}
TEST_CASE("a cache of sliding layers has head_dim everywhere") {
  CHECK(cache_shapes(config_of({sliding, sliding}, 256, 512), 10) == Shapes{{1, 2, 9, 256}, {1, 2, 9, 256}});
}
TEST_CASE("a cache of full layers has global_head_dim everywhere") {
  CHECK(cache_shapes(config_of({full, full}, 256, 512), 10) == Shapes{{1, 2, 9, 512}, {1, 2, 9, 512}});
}
TEST_CASE("without a head dimension of their own full layers have head_dim") {
  CHECK(cache_shapes(config_of({sliding, full}, 256, 256), 10) == Shapes{{1, 2, 9, 256}, {1, 2, 9, 256}});
}
TEST_CASE("layers that share keys and values have no cache") {
  const auto config = config_of({sliding, full, sliding, full}, 16, 32, 2);
  CHECK(cache_shapes(config, 8) == Shapes{{1, 2, 7, 16}, {1, 2, 7, 32}});
  FixedCache cache(config, 8, at::kFloat);
  CHECK_THAT(error_of([&] { (void)cache.with_current(2, {}); }), contains_text("layer 2 has no keys and values"));
}

TEST_CASE("the current token lies in the last slot of what is attended to and is stored where it belongs") {
  const auto config = config_of({sliding}, 4, 4);
  FixedCache cache(config, 8, at::kFloat);
  const auto rows = [](double value, std::int64_t count) { return at::full({2, count, 4}, value, at::kFloat); };
  cache.fill(0, {.key = rows(1, 8), .value = rows(-1, 8)}, 3);
  const auto attended = cache.with_current(0, {.key = rows(2, 1), .value = rows(-2, 1)});
  CHECK(attended.key.sizes() == at::IntArrayRef({2, 8, 4}));
  const auto slots = [](const at::Tensor& t) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < t.size(1); ++i) values.push_back(t[1][i][3].item<double>());
    return values;
  };
  CHECK(slots(attended.key) == std::vector<double>{1, 1, 1, 0, 0, 0, 0, 2});
  CHECK(slots(attended.value) == std::vector<double>{-1, -1, -1, 0, 0, 0, 0, -2});
  cache.store_current(3);
  const auto snapshot = cache.snapshot(4);
  CHECK(slots(lockstep::to_torch(snapshot.layers[0].key)[0]) == std::vector<double>{1, 1, 1, 2, 0, 0, 0});
  cache.store_current(4);
  CHECK(slots(lockstep::to_torch(snapshot.layers[0].key)[0]) == std::vector<double>{1, 1, 1, 2, 0, 0, 0});
}

TEST_CASE("a decode mask allows the past and the current token in the last slot") {
  CHECK(allowed(decode_mask(64, 10, std::nullopt, -120, at::kFloat)) == range(0, 10, {63}));
  CHECK(allowed(decode_mask(64, 63, std::nullopt, -120, at::kFloat)) == range(0, 64));
}
TEST_CASE("with nothing before it a token sees itself only") {
  CHECK(allowed(decode_mask(64, 0, std::nullopt, -120, at::kFloat)) == range(63, 64));
  CHECK(allowed(decode_mask(64, 0, 32, -120, at::kFloat)) == range(63, 64));
}
TEST_CASE("a sliding decode mask allows everything so far while that is less than the window") {
  CHECK(allowed(decode_mask(128, 10, 32, -120, at::kFloat)) == range(0, 10, {127}));
  CHECK(allowed(decode_mask(128, 31, 32, -120, at::kFloat)) == range(0, 31, {127}));
}
TEST_CASE("a sliding decode mask allows the last window - 1 slots of the past and the token, exactly window keys") {
  CHECK(allowed(decode_mask(128, 32, 32, -120, at::kFloat)) == range(1, 32, {127}));
  CHECK(allowed(decode_mask(128, 100, 32, -120, at::kFloat)) == range(69, 100, {127}));
}
TEST_CASE("a decode mask has one shape and holds the fill elsewhere") {
  const auto mask = decode_mask(64, 10, std::nullopt, -37.5, at::kBFloat16);
  CHECK(mask.sizes() == at::IntArrayRef({1, 64}));
  CHECK(mask.scalar_type() == at::kBFloat16);
  CHECK(mask[0][20].item<double>() == -37.5);
  CHECK_THAT(error_of([] { (void)decode_mask(64, 64, std::nullopt, -120, at::kFloat); }),
             contains_text("past_length is 64, a cache of max_seq 64 holds 0 to 63"));
  CHECK_FALSE(error_of([] { (void)decode_mask(64, -1, std::nullopt, -120, at::kFloat); }).empty());
}

TEST_CASE("a sliding prefill mask keeps exactly the last window keys, and none of padding") {
  const auto mask = prefill_mask(12, 8, 3, -120, at::kFloat);
  CHECK(allowed(mask[0]) == range(0, 1));
  CHECK(allowed(mask[2]) == range(0, 3));
  CHECK(allowed(mask[7]) == range(5, 8));
  CHECK(allowed(mask[8]) == range(6, 8));  // a row of padding: the same rule
  CHECK(allowed(mask[10]).empty());        // and no key at all
}
TEST_CASE("a full prefill mask is causal and hides padding") {
  const auto mask = prefill_mask(12, 8, std::nullopt, -37.5, at::kFloat);
  CHECK(allowed(mask[0]) == range(0, 1));
  CHECK(allowed(mask[7]) == range(0, 8));
  CHECK(allowed(mask[11]) == range(0, 8));
  CHECK(mask[0][1].item<float>() == -37.5F);
}

TEST_CASE("the runtime's masks have its fill, its dtype and the sizes of its layout") {
  auto options = text_options(80, DType::bfloat16);
  options.mask_fill = -37.5;
  const auto runtime = make_static_runtime(shapes_vision_checkpoint(), options);
  CHECK(runtime->mask_fill() == -37.5);
  const auto prompt = prompt_of(*runtime, some_ids(70));
  for (const auto type : {sliding, full}) {
    const auto mask = lockstep::to_torch(prompt.masks[type]);
    CHECK(mask.sizes() == at::IntArrayRef({1, 1, 80, 80}));
    CHECK(mask.scalar_type() == at::kBFloat16);
    CHECK(mask[0][0][0][1].item<double>() == -37.5);
    CHECK(allowed(mask[0][0][69]) == (type == sliding ? range(6, 70) : range(0, 70)));
  }
  Shown shown;
  const auto session = runtime->start();
  (void)prefill(*session, prompt);
  (void)decode(*session, 30, into(shown));
  CHECK(allowed(shown.at("mask.sliding")) == range(7, 70, {79}));
  CHECK(allowed(shown.at("mask.full")) == range(0, 70, {79}));
  CHECK(shown.at("mask.full").flatten()[75].item<double>() == -37.5);
}

TEST_CASE("the runtime refuses a fill that is not finite and negative in every dtype") {
  for (const double fill :
       {0.0, 1.0, -std::numeric_limits<double>::infinity(), static_cast<double>(std::numeric_limits<float>::lowest()),
        std::numeric_limits<double>::quiet_NaN()}) {
    CAPTURE(fill);
    auto options = text_options(80);
    options.mask_fill = fill;
    CHECK_THAT(error_of([&] { (void)make_static_runtime(shapes_vision_checkpoint(), options); }),
               contains_text("mask_fill is") && contains_text("expected a finite negative number"));
  }
}

TEST_CASE("the runtime refuses masks of another shape, dtype or padding side, and positions without a row") {
  const auto runtime = shapes_runtime(80);
  const auto mask_error = [&](const lockstep::Tensor& mask) {
    return error_of([&] { (void)runtime->attention_masks(mask); });
  };
  CHECK_THAT(mask_error(zeros(DType::boolean, {1, 79})),
             contains_text("attention_mask is bool [1, 79], expected bool [1, 80]"));
  CHECK_THAT(mask_error(zeros(DType::int64, {1, 80})), contains_text("attention_mask is int64 [1, 80]"));
  std::vector<std::uint8_t> left(80, 1);
  left[0] = 0;
  CHECK_FALSE(mask_error(bools(left, {1, 80})).empty());
  const auto rope_error = [&](const lockstep::Tensor& positions) {
    return error_of([&] { (void)runtime->rope(positions); });
  };
  CHECK_THAT(rope_error(row({3, 80})), contains_text("position_ids[0, 1] is 80, the rotary tables have rows 0 to 79"));
  CHECK_THAT(rope_error(row({-1})), contains_text("position_ids[0, 0] is -1"));
  CHECK_THAT(rope_error(zeros(DType::int64, {2, 3})), contains_text("position_ids is int64 [2, 3]"));
}

TEST_CASE("a token's rotary rows are those of its position, one slot after the past") {
  const auto runtime = shapes_runtime(80);
  const auto session = runtime->start();
  (void)prefill(*session, prompt_of(*runtime, some_ids(20)));
  for (const std::int64_t position : {20, 21, 22}) {
    Shown shown;
    (void)decode(*session, 30, into(shown));
    const auto rope = runtime->rope(row({position}));
    CHECK(same_bits(shown.at("rope.full.cos"), lockstep::to_torch(rope.full.cos)));
    CHECK(same_bits(shown.at("rope.sliding.sin"), lockstep::to_torch(rope.sliding.sin)));
  }
}

TEST_CASE("the inverse frequencies of E2B are transformers', bit for bit") {
  const auto check = [](const at::Tensor& actual, const std::vector<std::pair<std::int64_t, std::uint32_t>>& expected) {
    for (const auto& [index, bits] : expected) {
      CAPTURE(index);
      CHECK(bits_of(actual[index].item<float>()) == bits);
    }
  };
  // float32 bits read off torch's own computation of transformers' formula.
  const auto local = inverse_frequencies(1e4, 256, 128, 256);
  CHECK(local.size(0) == 128);
  check(local,
        {{0, 0x3f800000}, {1, 0x3f6e39f8}, {2, 0x3f5dafd7}, {63, 0x3c301052}, {126, 0x38f22ce2}, {127, 0x38e15c91}});
  const auto global = inverse_frequencies(1e6, 512, 64, 512);
  CHECK(global.size(0) == 256);
  check(global,
        {{0, 0x3f800000}, {1, 0x3f728cf8}, {2, 0x3f65ced3}, {32, 0x3e361887}, {63, 0x3d08b588}, {64, 0}, {255, 0}});
}

TEST_CASE("every layer attends to the last producer of its own type") {
  const auto sources = [](const Checkpoint& checkpoint) {
    std::vector<std::size_t> result;
    for (const auto& layer : load_text_weights(checkpoint, at::kFloat).layers) result.push_back(layer.kv_source);
    return result;
  };
  CHECK(sources(*shapes_vision_checkpoint()) == std::vector<std::size_t>{0, 1, 2, 3, 4, 3, 3, 3, 3, 4});
  CHECK(sources(*irregular_vision_checkpoint()) == std::vector<std::size_t>{0, 1, 2, 3, 1, 3, 1});
}

TEST_CASE("the graph asks for each producer's keys and values once, in order, and for no consumer's") {
  const auto checkpoint = irregular_vision_checkpoint();
  const TextModel model(*checkpoint, {.max_seq = 8, .dtype = DType::float32});
  const auto ids = some_ids(8);
  const auto masks = model.prefill_masks(8);
  const auto rope = model.rope(range(0, 8));
  const auto rotation = [](const RopeTable& table) {
    return rotation_of(lockstep::to_torch(table.cos)[0], lockstep::to_torch(table.sin)[0]);
  };
  std::vector<std::size_t> asked;
  const auto embeds = model.embed(ids)[0];
  TextPass pass{.hidden = embeds,
                .per_layer_inputs = model.graph().per_layer_projection(model.per_layer_lookup(ids)[0], embeds),
                .mask = {lockstep::to_torch(masks.sliding)[0][0], lockstep::to_torch(masks.full)[0][0]},
                .rotation = {rotation(rope.sliding), rotation(rope.full)},
                .attended = [&](std::size_t layer, const KeyValue& current) {
                  asked.push_back(layer);
                  return current;
                }};
  (void)model.graph().layers(pass, {});
  CHECK(asked == std::vector<std::size_t>{0, 1, 2, 3});
  pass.attended = [](std::size_t, const KeyValue& current) {
    return KeyValue{.key = current.key.slice(1, 0, 7), .value = current.value.slice(1, 0, 7)};
  };
  CHECK_THAT(error_of([&] { (void)model.graph().layers(pass, {}); }),
             contains_text("keys that layer 0 attends to is [1, 7, 24], the static graph has [1, 8, 24]"));
}

TEST_CASE("per-layer inputs are one lookup and one projection, and each layer's are views of one storage") {
  const TextModel model(*shapes_vision_checkpoint(), {.max_seq = 80, .dtype = DType::float32});
  const auto ids = some_ids(6);
  const auto lookup = model.per_layer_lookup(ids);
  CHECK(lookup.sizes() == at::IntArrayRef({1, 6, 160}));
  const auto projected = model.graph().per_layer_projection(lookup[0], model.embed(ids)[0]);
  CHECK(projected.sizes() == at::IntArrayRef({6, 10, 16}));
  CHECK(projected.select(1, 3).is_alias_of(projected));
  // The lookup is the table's row times sqrt(16).
  const auto table =
      lockstep::to_torch(shapes_vision_checkpoint()->weight("model.language_model.embed_tokens_per_layer.weight"));
  CHECK(same_bits(lookup[0][2], table[ids[2]].to(at::kFloat) * 4));
}

TEST_CASE("the softcap rounds after each of its three steps") {
  const TextModel model(*shapes_vision_checkpoint(), {.max_seq = 80, .dtype = DType::bfloat16});
  const auto logits = at::arange(-64, 64, 0.25, at::kFloat).to(at::kBFloat16);
  const auto divided = (logits.to(at::kFloat) / 30).to(at::kBFloat16);
  const auto bent = divided.to(at::kFloat).tanh().to(at::kBFloat16);
  CHECK(same_bits(model.softcapped(logits), (bent.to(at::kFloat) * 30).to(at::kBFloat16)));
  const TextModel uncapped(*irregular_vision_checkpoint(), {.max_seq = 80, .dtype = DType::bfloat16});
  CHECK(same_bits(uncapped.softcapped(logits), logits));
}
