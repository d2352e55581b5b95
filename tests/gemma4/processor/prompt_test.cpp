// The whole way from a prompt to the processor's ids, for the recordings in tests/data/reference. The texts and the
// number of soft tokens of each picture are those of the recordings' own records (tools/record_hf.py).

#include <cstring>
#include <lockstep/safetensors.hpp>

#include "catch.hpp"
#include "processor/prompt.hpp"

namespace {

using Kind = gemma4::ContentItem::Kind;
using Ids = std::vector<std::int64_t>;

const std::filesystem::path source = LOCKSTEP_SOURCE_DIR;
const std::filesystem::path shapes = source / "pipelines/data/shapes-gemma4";
const std::filesystem::path irregular = source / "tests/data/irregular-gemma4";

/// All rows of tok.ids, one after the other.
Ids recorded_ids(const std::string& name) {
  const auto file = lockstep::SafetensorsFile::open(source / "tests/data/reference" / (name + ".safetensors"));
  const auto& tensor = file.at("tok.ids");
  REQUIRE(tensor.dtype() == lockstep::DType::int64);
  Ids ids(static_cast<std::size_t>(tensor.numel()));
  std::memcpy(ids.data(), tensor.data(), ids.size() * sizeof(std::int64_t));
  return ids;
}

gemma4::Tokenizer tokenizer_of(const std::filesystem::path& folder) {
  return gemma4::Tokenizer::from_files(folder / "tokenizer.json", folder / "tokenizer_config.json");
}

/// One user turn; with a picture if it has soft tokens.
Ids chat_ids(const std::filesystem::path& folder, const std::string& text, const Ids& soft_tokens) {
  std::vector<gemma4::ContentItem> items;
  for (std::size_t i = 0; i < soft_tokens.size(); ++i) items.push_back({Kind::image});
  items.push_back({Kind::text, text});
  const std::vector<gemma4::Message> messages{{"user", items}};
  const auto chat = gemma4::ChatFormat::for_template(folder / "chat_template.jinja");
  return tokenizer_of(folder).encode(gemma4::expand_images(chat.render(messages), soft_tokens));
}

}  // namespace

TEST_CASE("chat prompts with a picture give the recorded ids") {
  CHECK(chat_ids(shapes, "Describe the image.", {64}) == recorded_ids("two_describe_bf16"));
  CHECK(chat_ids(shapes, "How many shapes are there?", {65}) == recorded_ids("wide_count_fp32"));
  CHECK(chat_ids(irregular, "What shape is red?", {70}) == recorded_ids("irregular_bf16"));
}

TEST_CASE("a raw prompt with a picture gives the recorded ids") {
  CHECK(tokenizer_of(shapes).encode(gemma4::expand_images("<|image|>Describe the image.", Ids{64})) ==
        recorded_ids("two_raw_bf16"));
}

TEST_CASE("chat prompts without a picture give the recorded ids") {
  constexpr auto text =
      "The quick brown fox jumps over the lazy dog. How many shapes are there? Little by little the rain stopped and "
      "the";
  CHECK(chat_ids(shapes, text, {}) == recorded_ids("text_window_bf16"));

  // Two rows of one batch: the shorter is padded on the left with id 0.
  auto rows = chat_ids(shapes, "Hello there.", {});
  const auto second = chat_ids(shapes, "What colour is the circle, and how many shapes are there?", {});
  rows.insert(rows.begin(), second.size() - rows.size(), 0);
  rows.insert(rows.end(), second.begin(), second.end());
  CHECK(rows == recorded_ids("batch_padded_bf16"));
}
