// The stages before the text layers, served from a recording. Expected values are the file's own.

#include <algorithm>
#include <array>

#include "gemma4/recording/recordings.hpp"
#include "processor/image_processor.hpp"

using namespace gemma4::test;
using lockstep::DType;

namespace {

constexpr std::int64_t slots = 79, width = 128, image_token = 955;

/// The recorded ids with pad ids behind, as a static runtime's prompt.
std::vector<std::int64_t> padded_ids(std::int64_t max_seq) {
  auto ids = ids_of(recorded("llm.ids"));
  ids.resize(static_cast<std::size_t>(max_seq), 0);
  return ids;
}
Tensor image_mask(std::int64_t max_seq, std::int64_t wrong = -1) {
  const auto ids = ids_of(recorded("tok.ids"));
  std::vector<std::uint8_t> mask(static_cast<std::size_t>(max_seq), 0);
  for (std::size_t i = 0; i < std::min(ids.size(), mask.size()); ++i) mask[i] = ids[i] == image_token;
  if (wrong >= 0) mask[static_cast<std::size_t>(wrong)] ^= 1;
  return Tensor::copy_of(std::as_bytes(std::span(mask)), DType::boolean, {1, max_seq});
}
Tensor zeros(std::vector<std::int64_t> sizes, DType dtype = DType::bfloat16) {
  std::int64_t count = 1;
  for (const auto size : sizes) count *= size;
  return Tensor::copy_of(std::vector<std::byte>(static_cast<std::size_t>(count) * element_size(dtype)), dtype, sizes);
}
gemma4::ImageInputs processed_picture() {
  const std::array pictures{gemma4::decode_image(LOCKSTEP_SOURCE_DIR "/pipelines/data/images/two_384.png")};
  return gemma4::process_images(pictures, *shapes()->image_processor());
}

}  // namespace

TEST_CASE("the recorded prompt has the recorded embedding, padding the row of the pad id") {
  const auto embeds = served()->token_embedding(row(padded_ids(160)));
  REQUIRE(embeds.sizes() == std::vector<std::int64_t>{1, 160, width});
  CHECK(same_bits(slice(embeds, 0, slots), recorded("llm.embed")));
  // Placeholders of the picture were recorded as the pad id.
  const auto ids = ids_of(recorded("llm.ids"));
  const auto pad = std::ranges::find(ids, 0) - ids.begin();
  for (const std::int64_t behind : {slots, std::int64_t{159}}) {
    CHECK(same_bits(slice(embeds, behind, behind + 1), slice(recorded("llm.embed"), pad, pad + 1)));
  }
}

TEST_CASE("another prompt is refused with slot, id and recorded id") {
  auto ids = padded_ids(160);
  ids[3] = 301;
  CHECK_THAT(error_of([&] { (void)served()->token_embedding(row(ids)); }),
             contains_text("input_ids[0, 3] is 301, the recording was made with"));
  ids = padded_ids(160);
  ids[100] = 301;
  CHECK_THAT(error_of([&] { (void)served()->token_embedding(row(ids)); }),
             contains_text("input_ids[0, 100] is 301, behind the 79 recorded tokens"));
}

TEST_CASE("single tokens have the recorded row of their id, decode steps included") {
  const auto token = ids_of(recorded("decode.0.llm.ids"));
  CHECK(same_bits(served()->token_embedding(row(token)), recorded("decode.0.llm.embed")));
  CHECK_THAT(error_of([] {
               (void)served()->token_embedding(row({2, 600}));
             }),
             contains_text("has nothing for id 600, which input_ids[0, 1] is"));
}

TEST_CASE("a prompt without placeholders has the pad row from llm.pad_embed, or an error that names the pad id") {
  const auto text_only = [](Tensors& tensors) {
    auto ids = ids_of(tensors.at("llm.ids"));
    // The recorded text behind the picture alone.
    const auto last = std::find(ids.rbegin(), ids.rend(), 0).base() - ids.begin();
    tensors.at("llm.ids") = row({ids.begin() + last, ids.end()});
    tensors.at("llm.embed") = slice(tensors.at("llm.embed"), last, slots).contiguous();
  };
  const Copy without;
  without.edit_tensors(text_only);
  auto ids = ids_of(lockstep::SafetensorsFile::open(without.folder() / "reference.safetensors").at("llm.ids"));
  const auto length = std::ssize(ids);
  ids.resize(40, 0);
  CHECK_THAT(error_of([&] { (void)served(without.folder())->token_embedding(row(ids)); }),
             contains_text("has nothing for id 0, which input_ids[0, " + std::to_string(length) + "] is"));

  const auto pad_row = flipped(slice(recorded("llm.embed"), 10, 11).contiguous(), 0);
  without.edit_tensors([&](Tensors& tensors) { tensors["llm.pad_embed"] = pad_row; });
  const auto embeds = served(without.folder())->token_embedding(row(ids));
  CHECK(same_bits(slice(embeds, 39, 40), pad_row));
}

TEST_CASE("an id with two different rows is a damaged recording") {
  const Copy copy;
  copy.edit_tensors([](Tensors& tensors) {
    const auto ids = ids_of(tensors.at("llm.ids"));
    const auto pad = static_cast<std::size_t>(std::ranges::find(ids, 0) - ids.begin());
    tensors.at("llm.embed") = flipped(tensors.at("llm.embed"), pad * width * 2);
  });
  CHECK_THAT(error_of([&] { (void)served(copy.folder())->token_embedding(row({2})); }),
             contains_text("llm.embed has another row for id 0"));
}

TEST_CASE("rows times scale is the recorded embedding") {
  // bfloat16: one rounding of a product, done here in float32 as in the definition.
  const auto reference = served();
  const auto rows = reference->unscaled_embedding(recorded("llm.ids"));
  const auto value = [](const Tensor& t, std::size_t i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, t.data() + 2 * i, 2);
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  };
  const auto scale = value(reference->embed_scale(), 0);
  CHECK(scale == 11.3125F);  // sqrt(128) in bfloat16
  CHECK(reference->embed_scale().dim() == 0);
  const auto embeds = recorded("llm.embed");
  REQUIRE(rows.sizes() == embeds.sizes());
  for (std::size_t i = 0; i < slots * width; ++i) {
    const auto product = value(rows, i) * scale;
    REQUIRE(std::abs(value(embeds, i) - product) <= std::abs(product) / 256);
  }
  // float32 of bfloat16 weights: the same rows, widened.
  const auto wide = served(recording_folder("two_describe_fp32"))->unscaled_embedding(recorded("llm.ids"));
  REQUIRE(wide.dtype() == DType::float32);
  for (std::size_t i = 0; i < slots * width; ++i) REQUIRE(wide.values<float>()[i] == value(rows, i));
}

TEST_CASE("the recorded picture has the recorded features, judged by the hash of its pixels") {
  const auto picture = processed_picture();
  std::map<std::string, Tensor, std::less<>> taps;
  const auto features =
      served()->image_features(picture.pixel_values, picture.image_position_ids,
                               [&](std::string_view name, const Tensor& tensor) { taps.emplace(name, tensor); });
  CHECK(same_bits(features, recorded("vis.proj")));
  CHECK(same_bits(taps.at("vis.L1.out"), recorded("vis.L1.out")));
  CHECK(same_bits(taps.at("vis.scaled"), recorded("vis.scaled")));
  CHECK(std::ranges::all_of(taps, [](const auto& tap) { return tap.first.starts_with("vis."); }));
}

TEST_CASE("another picture is refused: by hash, and with place and values where the recording has them") {
  const auto picture = processed_picture();
  const auto other = flipped(picture.pixel_values, (768 + 5) * 4);
  CHECK_THAT(error_of([&] { (void)served()->image_features(other, picture.image_position_ids); }),
             contains_text("pixel_values is not what the recording was made with: sha256"));
  const Copy whole;
  whole.edit_tensors([&](Tensors& tensors) { tensors["img.pixel_values"] = picture.pixel_values; });
  CHECK(same_bits(served(whole.folder())->image_features(picture.pixel_values, picture.image_position_ids),
                  recorded("vis.proj")));
  CHECK_THAT(error_of([&] { (void)served(whole.folder())->image_features(other, picture.image_position_ids); }),
             contains_text("pixel_values[0, 1, 5] is ") && contains_text("the recording was made with"));
  CHECK_THAT(
      error_of([&] { (void)served()->image_features(picture.pixel_values, flipped(picture.image_position_ids, 16)); }),
      contains_text("image_position_ids[0, 1, 0] is 0, the recording was made with 1"));
  CHECK_THAT(error_of([&] {
               (void)served()->image_features(zeros({1, 9, 768}), picture.image_position_ids);
             }),
             contains_text("pixel_values is bfloat16 [1, 9, 768], the recording was made with float32 [1, 630, 768]"));
}

TEST_CASE("a recording of cast pixel values says that it answers another question") {
  const auto picture = processed_picture();
  const Copy copy;
  copy.edit([](nlohmann::json& document) { document["options"]["cast_pixels"] = true; });
  CHECK_THAT(
      error_of([&] { (void)served(copy.folder())->image_features(picture.pixel_values, picture.image_position_ids); }),
      contains_text("given pixel values cast to bfloat16, this one is given float32"));
}

TEST_CASE("fusion places rows where the recording has them") {
  const auto reference = served();
  const auto fused = reference->fuse(recorded("llm.embed"), image_mask(slots), recorded("vis.proj"));
  CHECK(same_bits(fused, recorded("llm.fused")));
  // Other values go to the same places; padding behind stays.
  const auto padded = reference->token_embedding(row(padded_ids(160)));
  const auto black = reference->fuse(padded, image_mask(160), zeros({64, width}));
  const auto mask = image_mask(160);
  for (std::int64_t slot = 0; slot < 160; ++slot) {
    const auto expected =
        mask.values<bool>()[static_cast<std::size_t>(slot)] ? zeros({1, 1, width}) : slice(padded, slot, slot + 1);
    REQUIRE(same_bits(slice(black, slot, slot + 1), expected));
  }
}

TEST_CASE("fusion of another prompt is refused with the slot") {
  const auto reference = served();
  CHECK_THAT(
      error_of([&] { (void)reference->fuse(recorded("llm.embed"), image_mask(slots, 2), recorded("vis.proj")); }),
      contains_text("image_mask[0, 2] is true, the recorded prompt has no image token there"));
  CHECK_THAT(error_of([&] {
               (void)reference->fuse(recorded("llm.embed"), image_mask(slots), zeros({63, width}));
             }),
             contains_text("expected bfloat16 [64, 128]"));
  CHECK_THAT(error_of([&] {
               (void)reference->fuse(zeros({1, 78, width}), image_mask(78), recorded("vis.proj"));
             }),
             contains_text("the recorded prompt has 1 rows of 79 tokens"));
}

TEST_CASE("a recording whose fusion is not the placement of its rows is refused") {
  const Copy copy;
  copy.edit_tensors(
      [](Tensors& tensors) { tensors.at("llm.fused") = flipped(tensors.at("llm.fused"), 10 * width * 2); });
  CHECK_THAT(error_of([&] {
               (void)served(copy.folder())->fuse(recorded("llm.embed"), image_mask(slots), recorded("vis.proj"));
             }),
             contains_text("the row of llm.fused at [0, 10] is not the next one of vis.proj"));
}

TEST_CASE("per-layer inputs are those of the recorded embeddings") {
  const auto reference = served();
  CHECK(same_bits(reference->per_layer_inputs(recorded("llm.ids"), recorded("llm.fused")), recorded("ple.combined")));
  CHECK_THAT(
      error_of([&] { (void)reference->per_layer_inputs(recorded("llm.ids"), flipped(recorded("llm.fused"), 0)); }),
      contains_text("fused_embeds[0, 0, 0] is"));
}

TEST_CASE("a tensor that the recording lacks, knows by hash only, or has damaged is named") {
  const auto features = [](const fs::path& folder) {
    const auto picture = processed_picture();
    return error_of([&] { (void)served(folder)->image_features(picture.pixel_values, picture.image_position_ids); });
  };
  const Copy hash_only;
  hash_only.edit_tensors([](Tensors& tensors) { tensors.erase("vis.proj"); });
  CHECK_THAT(features(hash_only.folder()), contains_text("the recording has no values of vis.proj"));
  const Copy damaged("two_describe_fp32");
  damaged.edit_tensors([](Tensors& tensors) { tensors.at("vis.proj") = flipped(tensors.at("vis.proj"), 8); }, false);
  CHECK_THAT(features(damaged.folder()), contains_text("damaged") && contains_text("vis.proj"));
}

TEST_CASE("a recording of another checkpoint is refused with the file's name") {
  const Copy copy;
  copy.edit([](nlohmann::json& document) { document["checkpoint"]["sha256"]["config.json"] = std::string(64, '0'); });
  CHECK_THAT(error_of([&] { (void)served(copy.folder()); }), contains_text("config.json: sha256 is"));
}
