#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <array>
#include <bit>
#include <lockstep/diagnostic.hpp>
#include <lockstep/safetensors.hpp>
#include <lockstep/torch.hpp>
#include <map>

#include "catch.hpp"
#include "recording/recording.hpp"
#include "reference/rotary_embedding.hpp"
#include "references.hpp"

namespace fs = std::filesystem;
using gemma4::test::checkpoint_folder;
using gemma4::test::int64s;
using gemma4::test::native_reference;
using lockstep::DType;
using lockstep::Tensor;

namespace {

/// A recording of transformers, without its values: what it was asked and the hash of every tensor.
struct Recorded {
  explicit Recorded(const std::string& name)
      : recording(gemma4::Recording::open(fs::path(LOCKSTEP_TEST_DATA) / "recordings" / name)),
        reference(
            native_reference(checkpoint_folder(name.starts_with("irregular") ? "irregular-gemma4" : "shapes-gemma4"),
                             recording.dtype())) {}

  /// int64 [B, S]: as many zeros on the left of the first row as its hash says.
  at::Tensor attention_mask() const {
    const auto& entry = recording.tensors().at("tok.attention_mask");
    for (std::int64_t padding = 0; padding < entry.shape[1]; ++padding) {
      auto mask = at::ones(entry.shape, at::kLong);
      mask[0].slice(0, 0, padding).fill_(0);
      if (gemma4::sha256_of(mask) == entry.sha256) return mask;
    }
    FAIL("no padding on the left gives the recorded attention mask");
    return {};
  }
  bool same(const std::string& name, const Tensor& tensor) const {
    CAPTURE(name);
    const auto& entry = recording.tensors().at(name);
    CHECK(tensor.sizes() == entry.shape);
    CHECK(gemma4::sha256_of(tensor) == entry.sha256);
    return gemma4::sha256_of(tensor) == entry.sha256;
  }

  gemma4::Recording recording;
  std::shared_ptr<const gemma4::Reference> reference;
};

at::Tensor allowed(const Tensor& mask) { return lockstep::to_torch(mask).eq(0).select(0, 0).select(0, 0); }

std::uint32_t bits_of(const at::Tensor& value) { return std::bit_cast<std::uint32_t>(value.item<float>()); }

}  // namespace

TEST_CASE("masks and rope tables have the recorded bits, in the prompt and at every step after it") {
  const auto name = GENERATE(as<std::string>{}, "text_window_bf16", "batch_padded_bf16", "irregular_bf16",
                             "two_describe_bf16", "two_describe_fp32", "wide_count_bf16");
  const Recorded recorded(name);
  const auto prompt = recorded.attention_mask();
  for (std::int64_t step = -1; step < recorded.recording.steps(); ++step) {
    const auto prefix = step < 0 ? std::string() : "decode." + std::to_string(step) + ".";
    const auto past = step < 0 ? 0 : prompt.size(1) + step;
    const auto mask = at::cat({prompt, at::ones({prompt.size(0), step + 1}, at::kLong)}, 1);
    const auto masks = recorded.reference->attention_masks(mask, past);
    CHECK(recorded.same(prefix + "mask.sliding", masks.sliding));
    CHECK(recorded.same(prefix + "mask.full", masks.full));

    const bool padded = !prompt.all().item<bool>();
    const auto positions = (padded ? mask : mask.slice(0, 0, 1)).cumsum(1).sub(1).clamp_min(0).slice(1, past);
    CHECK(recorded.same(prefix + "llm.position_ids", positions));
    gemma4::visit_tensors(recorded.reference->rope(positions), [&](std::string_view table, const Tensor& tensor) {
      CHECK(recorded.same(prefix + std::string(table), tensor));
    });
  }
}

TEST_CASE("padding on any side is masked, and positions are counted, as transformers does") {
  const auto file = lockstep::SafetensorsFile::open(fs::path(LOCKSTEP_TEST_DATA) / "masks/masks.safetensors");
  const auto reference = native_reference(checkpoint_folder("irregular-gemma4"), DType::bfloat16);
  std::size_t cases = 0;
  for (const auto& name : file.names()) {
    if (!name.ends_with(".full")) continue;
    ++cases;
    const auto stem = name.substr(0, name.find('.') + 1);
    CAPTURE(stem);
    const auto equal = [&](const std::string& recorded, const Tensor& computed) {
      return at::equal(lockstep::to_torch(file.at(stem + recorded)), lockstep::to_torch(computed));
    };
    const auto mask = file.at(stem + "attention_mask");
    const auto masks = reference->attention_masks(mask, mask.size(1) - file.at(name).size(2));
    CHECK(equal("full", masks.full));
    CHECK(equal("sliding", masks.sliding));

    Tensor positions;
    static_cast<void>(reference->start()->prefill(
        {.input_ids = int64s(std::vector<std::int64_t>(static_cast<std::size_t>(mask.numel()), 7), mask.size(0)),
         .attention_mask = mask,
         .pixel_values = std::nullopt,
         .image_position_ids = std::nullopt},
        1, [&](std::string_view tap, const Tensor& tensor) {
          if (tap == "llm.position_ids") positions = tensor;
        }));
    CHECK(equal("position_ids", positions));
  }
  CHECK(cases == 8);
}

TEST_CASE("a mask means the same as bool and as int64") {
  const auto reference = native_reference(checkpoint_folder("irregular-gemma4"), DType::bfloat16);
  const auto mask = at::ones({1, 30}, at::kLong);
  mask[0].slice(0, 0, 4).fill_(0);
  const auto wide = reference->attention_masks(mask), narrow = reference->attention_masks(mask.to(at::kBool));
  CHECK(at::equal(lockstep::to_torch(wide.sliding), lockstep::to_torch(narrow.sliding)));
  CHECK(at::equal(lockstep::to_torch(wide.full), lockstep::to_torch(narrow.full)));
}

TEST_CASE("sliding mask keeps exactly the last W keys") {
  const auto reference = native_reference(checkpoint_folder("irregular-gemma4"), DType::float32);
  const auto window = reference->checkpoint().config().text.sliding_window;
  const std::int64_t length = 40;
  REQUIRE(window < length);
  const auto masks = reference->attention_masks(at::ones({1, length}, at::kLong));
  const auto sliding = allowed(masks.sliding), full = allowed(masks.full);
  for (std::int64_t query = 0; query < length; ++query) {
    for (std::int64_t key = 0; key < length; ++key) {
      CAPTURE(query, key);
      REQUIRE(full[query][key].item<bool>() == (key <= query));
      REQUIRE(sliding[query][key].item<bool>() == (key <= query && query - key < window));
    }
  }
}

TEST_CASE("a mask of later positions is the last rows of the whole mask, over the keys that a cache keeps") {
  const auto reference = native_reference(checkpoint_folder("irregular-gemma4"), DType::float32);
  const auto window = reference->checkpoint().config().text.sliding_window;
  const auto mask = at::ones({1, 50}, at::kLong);
  const auto whole = reference->attention_masks(mask);
  const std::int64_t past = GENERATE(1, 22, 23, 24, 25, 47, 49);
  const auto later = reference->attention_masks(mask, past);
  const auto first = std::max<std::int64_t>(past - (window - 1), 0);
  CHECK(at::equal(lockstep::to_torch(later.full), lockstep::to_torch(whole.full).slice(2, past)));
  CHECK(at::equal(lockstep::to_torch(later.sliding), lockstep::to_torch(whole.sliding).slice(2, past).slice(3, first)));
}

// The bits that transformers' rope initialisation gives for E2B's head sizes, read from its buffers.
TEST_CASE("rope frequencies have transformers' bits at the published head sizes") {
  gemma4::TextConfig config;
  config.sliding_rope = {.rope_theta = 10000.0};
  config.full_rope = {.rope_theta = 1000000.0, .partial_rotary_factor = 0.25};
  config.layers = {{.type = gemma4::LayerType::sliding_attention, .head_dim = 256},
                   {.type = gemma4::LayerType::full_attention, .head_dim = 512}};
  std::map<std::string, at::Tensor> seen;
  const lockstep::TensorVisitor taps = [&](std::string_view name, const Tensor& tensor) {
    seen[std::string(name)] = lockstep::to_torch(tensor);
  };
  const gemma4::RotaryEmbedding rotary(config, at::kBFloat16);
  static_cast<void>(rotary.forward(at::zeros({1, 1}, at::kLong), gemma4::Taps(taps)));

  const auto sliding = seen.at("sliding.inv_freq"), full = seen.at("full.inv_freq");
  REQUIRE(sliding.sizes() == at::IntArrayRef{128});
  REQUIRE(full.sizes() == at::IntArrayRef{256});
  using Bits = std::pair<std::int64_t, std::uint32_t>;
  for (const auto& [index, bits] : {Bits{0, 0x3f800000}, Bits{1, 0x3f6e39f8}, Bits{2, 0x3f5dafd7}, Bits{63, 0x3c301052},
                                    Bits{126, 0x38f22ce2}, Bits{127, 0x38e15c91}}) {
    CAPTURE(index);
    CHECK(bits_of(sliding[index]) == bits);
  }
  for (const auto& [index, bits] :
       {Bits{0, 0x3f800000}, Bits{1, 0x3f728cf8}, Bits{2, 0x3f65ced3}, Bits{32, 0x3e361887}, Bits{63, 0x3d08b588}}) {
    CAPTURE(index);
    CHECK(bits_of(full[index]) == bits);
  }
  CHECK(full.slice(0, 64).eq(0).all().item<bool>());
}

TEST_CASE("what is no mask and no positions is an error that says so") {
  const auto reference = native_reference(checkpoint_folder("irregular-gemma4"), DType::bfloat16);
  const auto mask = int64s({1, 1, 1});
  CHECK_THROWS_WITH(reference->attention_masks(mask, 3), contains_text("past_length is 3, expected 0 to 2"));
  CHECK_THROWS_WITH(reference->attention_masks(mask, -1), contains_text("past_length is -1"));
  const std::array<float, 2> floats{1, 1};
  const auto wrong = Tensor::copy_of(std::span<const float>(floats), {1, 2});
  CHECK_THROWS_WITH(reference->attention_masks(wrong), contains_text("float32 [1, 2], expected bool or int64"));
  CHECK_THROWS_WITH(reference->rope(wrong), contains_text("float32 [1, 2], expected int64"));
}
