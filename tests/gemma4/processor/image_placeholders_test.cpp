#include <lockstep/diagnostic.hpp>

#include "catch.hpp"
#include "processor/prompt.hpp"

using gemma4::count_images;
using gemma4::expand_images;
using Counts = std::vector<std::int64_t>;

TEST_CASE("each picture's placeholder becomes begin, one token per soft token, end") {
  CHECK(expand_images("<|image|>Describe.", Counts{3}) == "<|image><|image|><|image|><|image|><image|>Describe.");
  CHECK(expand_images("a<|image|>b<|image|>c", Counts{1, 2}) ==
        "a<|image><|image|><image|>b<|image><|image|><|image|><image|>c");
  CHECK(expand_images("<|image|>", Counts{0}) == "<|image><image|>");
  CHECK(expand_images("no picture", Counts{}) == "no picture");
}

TEST_CASE("only whole placeholders count") {
  CHECK(count_images("<|image|><|image><image|><|image|") == 1);
  CHECK(count_images("<<|image|>>") == 1);
  CHECK(count_images("") == 0);
}

TEST_CASE("placeholders and pictures must be as many") {
  CHECK_THROWS_WITH(expand_images("<|image|>", Counts{}),
                    "the prompt has 1 <|image|> placeholders, but there are 0 pictures");
  CHECK_THROWS_AS(expand_images("no picture", Counts{4}), lockstep::Error);
  CHECK_THROWS_AS(expand_images("<|image|>", Counts{4, 4}), lockstep::Error);
}

TEST_CASE("a number of soft tokens that no picture has is refused") {
  CHECK_THROWS_WITH(expand_images("<|image|>", Counts{-1}), "picture 0 has -1 soft tokens, expected 0 to 1048576");
  CHECK_THROWS_AS(expand_images("<|image|>", Counts{INT64_MAX}), lockstep::Error);
}

TEST_CASE("the tokens are those that the tokenizer has for the config's ids") {
  const auto tokenizer =
      gemma4::Tokenizer::from_file(LOCKSTEP_SOURCE_DIR "/pipelines/data/shapes-gemma4/tokenizer.json");
  const auto tokens = gemma4::ImageTokens::from(tokenizer, 953, 955, 957);  // ids: the checkpoint's config.json
  CHECK(tokens.begin == "<|image>");
  CHECK(tokens.image == "<|image|>");
  CHECK(tokens.end == "<image|>");
  CHECK_THROWS_AS(gemma4::ImageTokens::from(tokenizer, 953, 258880, 957), lockstep::Error);
}
