// Small tokenizers whose results are worked out by hand from the rules of byte-pair encoding; what the `tokenizers`
// library makes of such files is compared live (tests/live/tokenizer_live.py).

#include <ctime>
#include <lockstep/diagnostic.hpp>

#include "catch.hpp"
#include "small_tokenizer.hpp"

using Ids = std::vector<std::int64_t>;

TEST_CASE("merges are applied by rank, not from left to right") {
  SmallTokenizer file;
  file.vocabulary({"a", "b", "c", "bc", "ab"});
  file.merges({{"b", "c"}, {"a", "b"}});
  CHECK(file.load().encode("abc") == Ids{0, 3});
}

TEST_CASE("the leftmost of equal pairs is merged first") {
  SmallTokenizer file;
  file.vocabulary({"a", "aa"});
  file.merges({{"a", "a"}});
  CHECK(file.load().encode("aaaaa") == Ids{1, 1, 0});
}

TEST_CASE("merges may be written as pairs or as text") {
  SmallTokenizer file;
  file.vocabulary({"a", "b", "ab"});
  file.model()["merges"] = {"a b"};
  CHECK(file.load().encode("ab") == Ids{2});
}

TEST_CASE("spaces become U+2581, and a U+2581 in the text is the same") {
  SmallTokenizer file;
  file.vocabulary({"a", "\u2581",
                   "\u2581"
                   "a"});
  file.merges({{"\u2581", "a"}});
  CHECK(file.load().encode(" a  a") == Ids{2, 1, 2});
  CHECK(file.load().encode("\u2581"
                           "a") == Ids{2});
}

TEST_CASE("characters outside of the vocabulary become bytes") {
  SmallTokenizer file;
  file.vocabulary({"a", "<0xC3>", "<0xA9>"});
  file.model()["byte_fallback"] = true;
  CHECK(file.load().encode("a\u00e9a") == Ids{0, 1, 2, 0});
}

TEST_CASE("without all of its bytes a character is unknown") {
  SmallTokenizer file;
  file.vocabulary({"a", "<0xC3>", "<unk>"});
  file.model()["byte_fallback"] = true;
  file.model()["unk_token"] = "<unk>";
  CHECK(file.load().encode("a\u00e9\u00e9a") == Ids{0, 2, 2, 0});
  file.model()["fuse_unk"] = true;
  CHECK(file.load().encode("a\u00e9\u00e9a") == Ids{0, 2, 0});
  file.model()["unk_token"] = nullptr;
  CHECK(file.load().encode("a\u00e9\u00e9a") == Ids{0, 0});
}

TEST_CASE("a word that is a token stays whole only with ignore_merges") {
  SmallTokenizer file;
  file.vocabulary({"a", "b", "ab"});
  CHECK(file.load().encode("ab") == Ids{0, 1});
  file.model()["ignore_merges"] = true;
  CHECK(file.load().encode("ab") == Ids{2});
}

TEST_CASE("of added tokens at one place the longest is taken, also inside words") {
  SmallTokenizer file;
  file.vocabulary({"a", "<b", "<b>", "b", "<", ">"});
  file.added("<b").added("<b>");
  CHECK(file.load().encode("a<b>a<b<b>") == Ids{0, 2, 0, 1, 2});
}

TEST_CASE("an added token outside of the vocabulary takes the next id") {
  SmallTokenizer file;
  file.vocabulary({"a"});
  file.added("<x>", {{"id", 1}});
  const auto tokenizer = file.load();
  CHECK(tokenizer.encode("a<x>") == Ids{0, 1});
  CHECK(tokenizer.size() == 2);
  CHECK(tokenizer.decode(Ids{1, 0}) == "<x>a");
}

TEST_CASE("lstrip and rstrip swallow white space on their side") {
  SmallTokenizer file;
  file.vocabulary({"a", "\u2581", "\n", "<l>", "<r>"});
  file.added("<l>", {{"lstrip", true}}).added("<r>", {{"rstrip", true}});
  const auto tokenizer = file.load();
  CHECK(tokenizer.encode("a \n <l> a") == Ids{0, 3, 1, 0});
  CHECK(tokenizer.encode("a <r>\u3000\n a") == Ids{0, 1, 4, 0});
  CHECK(tokenizer.encode("<r>  <l>") == Ids{4, 3});
}

TEST_CASE("white space that two added tokens claim is an error") {
  SmallTokenizer file;
  file.vocabulary({"\n", "<r>"});
  file.added("<r>", {{"rstrip", true}}).added("\n");
  CHECK(file.load().encode("<r> \n ") == Ids{1, 0});  // the token in the white space comes all the same
  file.json()["added_tokens"][1]["lstrip"] = true;
  CHECK_THROWS_WITH(file.load().encode("<r> \n "), Catch::Matchers::StartsWith("byte 4 of the text: "));
}

TEST_CASE("a normalized added token is looked for after spaces are replaced") {
  SmallTokenizer file;
  file.vocabulary({"a", "b", "\u2581", "a b"});
  file.added("a b", {{"normalized", true}});
  CHECK(file.load().encode("a b") == Ids{3});
  CHECK(file.load().encode("a\u2581"
                           "b") == Ids{3});
  file.json()["added_tokens"][0]["normalized"] = false;
  CHECK(file.load().encode("a b") == Ids{3});
  CHECK(file.load().encode("a\u2581"
                           "b") == Ids{0, 2, 1});
}

TEST_CASE("the post-processor adds its tokens only when asked to") {
  SmallTokenizer file;
  file.vocabulary({"a", "<s>", "</s>"});
  file.json()["post_processor"] = nlohmann::json::parse(R"({"type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
               {"SpecialToken": {"id": "</s>", "type_id": 0}}], "pair": [],
    "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]},
                       "</s>": {"id": "</s>", "ids": [2], "tokens": ["</s>"]}}})");
  CHECK(file.load().encode("a") == Ids{0});
  CHECK(file.load().encode("a", true) == Ids{1, 0, 2});
}

TEST_CASE("a run of bytes that is not UTF-8 decodes to one U+FFFD a byte") {
  SmallTokenizer file;
  file.vocabulary({"a", "<0xF0>", "<0x9F>", "<0x98>", "<0x80>", "<0xzz>"});
  const auto tokenizer = file.load();
  CHECK(tokenizer.decode(Ids{1, 2, 3, 4}) == "\U0001F600");
  CHECK(tokenizer.decode(Ids{1, 2, 3, 4, 2}) == "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD");
  CHECK(tokenizer.decode(Ids{1, 2, 0, 3, 4}) ==
        "\uFFFD\uFFFD"
        "a\uFFFD\uFFFD");
  CHECK(tokenizer.decode(Ids{5, 0}) == "<0xzz>a");
}

TEST_CASE("decode leaves out ids without a token and refuses negative ones") {
  SmallTokenizer file;
  file.vocabulary({"a"});
  CHECK(file.load().decode(Ids{0, 1, 1'000'000, INT64_MAX, 0}) == "aa");
  CHECK_THROWS_WITH(file.load().decode(Ids{0, -1}), "id -1 at position 1 is negative");
}

TEST_CASE("a text that is not UTF-8 is refused with the byte and its offset") {
  SmallTokenizer file;
  file.vocabulary({"a"});
  CHECK_THROWS_WITH(file.load().encode("aa\xC3"), "the text is not valid UTF-8: byte 0xC3 at offset 2");
}

TEST_CASE("a long text without an added token takes nearly linear time") {
  SmallTokenizer file;
  file.vocabulary({"a", "b", "aa", "ab", "aaaa"});
  file.merges({{"a", "b"}, {"a", "a"}, {"aa", "aa"}});
  const auto tokenizer = file.load();
  const auto cpu_seconds = [&](std::size_t length) {
    std::string text;
    while (text.size() < length) text += "aaaaab";
    const auto start = std::clock();
    CHECK_FALSE(tokenizer.encode(text).empty());
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  cpu_seconds(20'000);
  // For 32 times the text, quadratic work takes 1024 times as long; n log n some 50 times, with room for a busy
  // machine.
  CHECK(cpu_seconds(640'000) < 300 * (cpu_seconds(20'000) + 1e-3));
}
