// Every way a tokenizer.json or tokenizer_config.json can be wrong ends in an error that names file and field.

#include <lockstep/diagnostic.hpp>

#include "catch.hpp"
#include "small_tokenizer.hpp"

namespace {

using nlohmann::json;

/// The message that loading ends with, without the folder.
template <typename Load>
std::string message_of(Load load) {
  try {
    load();
  } catch (const lockstep::Error& error) {
    const std::string message = error.what();
    return message.substr(message.find("tokenizer"), std::string::npos)
        .substr(message.substr(message.find("tokenizer")).find('/') + 1);
  }
  return "no error";
}

std::string message_of(const SmallTokenizer& file) {
  return message_of([&] { static_cast<void>(file.load()); });
}

std::string message_of_text(const std::string& bytes) {
  const SmallTokenizer file;
  return message_of([&] { static_cast<void>(file.load_text(bytes)); });
}

}  // namespace

TEST_CASE("a file that is not there or not JSON is refused") {
  CHECK_THROWS_WITH(gemma4::Tokenizer::from_file("nowhere/tokenizer.json"), "nowhere/tokenizer.json: no such file");
  CHECK_THROWS_WITH(gemma4::Tokenizer::from_file("/"), "/: not a regular file");
  CHECK_THAT(message_of_text(""), contains_text("tokenizer.json: not valid JSON: parse error at line 1, column 1"));
  CHECK_THAT(message_of_text("{\"model\":\n {\"vocab\": {\"a\" 0}}}"), contains_text("parse error at line 2"));
  CHECK_THAT(message_of_text("{} {}"), contains_text("not valid JSON"));
  CHECK_THAT(message_of_text("{\"model\": {\"vocab\": {\"\xFF\": 0}}}"), contains_text("not valid JSON"));
  CHECK_THAT(message_of_text("{\"model\": {\"vocab\": {\"\\ud800\": 0}}}"), contains_text("not valid JSON"));
  CHECK_THAT(message_of_text("[1e999]"), contains_text("not valid JSON"));
  CHECK_THAT(message_of_text("[]"), contains_text("tokenizer.json: the document is [], expected an object"));
  CHECK_THAT(message_of_text(std::string(100'000, '[')), contains_text("nested deeper than 64 levels"));
}

TEST_CASE("every cut of a file is refused") {
  SmallTokenizer file;
  file.vocabulary({"a", "b", "ab", "<x>"});
  file.merges({{"a", "b"}});
  file.added("<x>");
  const auto bytes = file.json().dump();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    CHECK_THAT(message_of_text(bytes.substr(0, length)), contains_text("tokenizer.json: not valid JSON"));
  }
}

TEST_CASE("missing fields are named") {
  for (const auto* key : {"model", "added_tokens", "normalizer", "decoder"}) {
    SmallTokenizer file;
    file.json().erase(key);
    CHECK(message_of(file) == std::string{"tokenizer.json: "} + key + " is missing");
  }
  for (const auto* key : {"type", "vocab", "merges"}) {
    SmallTokenizer file;
    file.model().erase(key);
    CHECK(message_of(file) == std::string{"tokenizer.json: model."} + key + " is missing");
  }
  for (const auto* key : {"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"}) {
    SmallTokenizer file;
    file.vocabulary({"a", "<x>"});
    file.added("a").added("<x>");
    file.json()["added_tokens"][1].erase(key);
    CHECK(message_of(file) == std::string{"tokenizer.json: added_tokens[1]."} + key + " is missing");
  }
}

TEST_CASE("keys, tokens and ids that occur twice are refused") {
  CHECK(message_of_text(R"({"version": "1.0", "version": "1.0"})") ==
        "tokenizer.json: key \"version\" occurs twice in the document");
  CHECK(message_of_text(R"({"model": {"vocab": {}, "vocab": {}}})") ==
        "tokenizer.json: key \"vocab\" occurs twice in model");
  CHECK(message_of_text(R"({"added_tokens": [{}, {"id": 1, "id": 2}]})") ==
        "tokenizer.json: key \"id\" occurs twice in added_tokens[1]");
  CHECK(message_of_text(R"({"model": {"vocab": {"a": 0, "a": 1}}})") ==
        "tokenizer.json: model.vocab: \"a\" occurs twice");
  CHECK(message_of_text(R"({"model": {"vocab": {"a": 7, "b\n": 7}}})") ==
        "tokenizer.json: model.vocab: \"a\" and \"b\\n\" have the same id 7");
  SmallTokenizer file;
  file.vocabulary({"a", "<x>"});
  file.added("<x>").added("<x>");
  CHECK(message_of(file) ==
        "tokenizer.json: added_tokens[1].content is \"<x>\", expected a token that the list does not have yet");
}

TEST_CASE("ids of the vocabulary are small non-negative integers") {
  const std::string expected = ", expected an integer from 0 to 16777215";
  for (const auto* value : {"-1", "1.5", "16777216", "18446744073709551615", "null", "true", "\"0\"", "[0]", "{}"}) {
    const auto message = message_of_text(std::string{R"({"model": {"vocab": {"a": )"} + value + "}}}");
    CHECK_THAT(message, contains_text("tokenizer.json: model.vocab: the id of \"a\" is ") && contains_text(expected));
  }
  SmallTokenizer file;
  file.model()["vocab"] = json::array({"a"});
  CHECK(message_of(file) == "tokenizer.json: model.vocab is [\"a\"], expected an object");
  file.model()["vocab"] = json::object();
  CHECK(message_of(file) == "tokenizer.json: model.vocab is {}, expected at least one token");
}

TEST_CASE("merges have two pieces, both in the vocabulary, and so is what they join to") {
  for (const auto* value : {R"("ab")", R"("a b c")", R"(["a"])", R"(["a", "b", "c"])", R"([])", R"(["a", 1])", "1",
                            "null", "true", "-1", "0.5", "{}", R"([["a"], "b"])"}) {
    const auto message =
        message_of_text(std::string{R"({"model": {"vocab": {"a": 0}, "merges": [["a", "a"], )"} + value + "]}}");
    CHECK_THAT(message, contains_text("tokenizer.json: model.merges[1] is ") &&
                            contains_text(R"(expected ["left", "right"] or "left right")"));
  }
  SmallTokenizer file;
  file.vocabulary({"a", "b", "ab"});
  file.merges({{"a", "b"}, {"a", "x"}});
  CHECK(message_of(file) == "tokenizer.json: model.merges[1] joins \"a\" and \"x\", but \"ax\" is not in model.vocab");
  file.vocabulary({"a", "b", "ab", "ax"});
  CHECK(message_of(file) == "tokenizer.json: model.merges[1] joins \"a\" and \"x\", but \"x\" is not in model.vocab");
}

TEST_CASE("other normalizers, pre-tokenizers, decoders and models are refused by name") {
  const auto spoil = [](const char* pointer, const json& value) {
    SmallTokenizer file;
    file.json()[json::json_pointer{pointer}] = value;
    return message_of(file);
  };
  CHECK_THAT(spoil("/normalizer", {{"type", "NFC"}}),
             contains_text(R"(tokenizer.json: normalizer is {"type":"NFC"}, expected)"));
  CHECK_THAT(spoil("/normalizer", nullptr), contains_text("normalizer is null"));
  CHECK_THAT(spoil("/normalizer/content", "_"), contains_text("normalizer is "));
  CHECK_THAT(spoil("/pre_tokenizer/type", "Metaspace"),
             contains_text("pre_tokenizer is ") && contains_text("Metaspace"));
  CHECK_THAT(spoil("/decoder/decoders/1/type", "Strip"), contains_text("decoder is ") && contains_text("Strip"));
  CHECK_THAT(spoil("/post_processor", {{"type", "ByteLevel"}}), contains_text("post_processor.type is \"ByteLevel\""));
  CHECK_THAT(spoil("/model/type", "Unigram"), contains_text("model.type is \"Unigram\", expected \"BPE\""));
  CHECK_THAT(spoil("/model/dropout", 0.1), contains_text("model.dropout is 0.1"));
  CHECK_THAT(spoil("/model/continuing_subword_prefix", "##"),
             contains_text("model.continuing_subword_prefix is \"##\""));
  CHECK_THAT(spoil("/model/end_of_word_suffix", "</w>"), contains_text("model.end_of_word_suffix is \"</w>\""));
  CHECK_THAT(spoil("/model/unk_token", "<unk>"),
             contains_text("model.unk_token is \"<unk>\", expected a token of model.vocab"));
  CHECK_THAT(spoil("/model/fuse_unk", 1), contains_text("model.fuse_unk is 1, expected true or false"));
  CHECK_THAT(spoil("/model/new_option", 1), contains_text("unknown key model.\"new_option\""));
  CHECK_THAT(spoil("/version", "2.0"), contains_text("version is \"2.0\", expected \"1.0\""));
  CHECK(spoil("/pre_tokenizer", nullptr) == "no error");
  CHECK(spoil("/model/dropout", 0.0) == "no error");
}

TEST_CASE("added tokens that cannot be honoured are refused by name") {
  const auto with = [](const char* content, const json& changes) {
    SmallTokenizer file;
    file.vocabulary({"a", "<x>"});
    file.added(content, changes);
    return message_of(file);
  };
  CHECK_THAT(with("<x>", {{"single_word", true}}),
             contains_text("added_tokens[0].single_word is true, expected false"));
  CHECK_THAT(with("<x>", {{"lstrip", 1}}), contains_text("added_tokens[0].lstrip is 1, expected true or false"));
  CHECK_THAT(with("<x>", {{"id", 0}}), contains_text("added_tokens[0].id is 0, expected 1, the id of \"<x>\""));
  CHECK_THAT(with("<y>", {{"id", 5}}), contains_text("added_tokens[0].id is 5, expected 2, the id of \"<y>\""));
  CHECK_THAT(with("<x>", {{"id", -1}}), contains_text("added_tokens[0].id is -1, expected an integer"));
  CHECK_THAT(with("", {{"id", 2}}), contains_text("added_tokens[0].content is \"\", expected at least one character"));
  CHECK_THAT(with("<x>", {{"extra", 1}}), contains_text("unknown key added_tokens[0].\"extra\""));
  CHECK(with("<x>", json::object()) == "no error");
}

TEST_CASE("a post-processor must hold the text once and known ids") {
  const auto with = [](const char* single, const char* ids) {
    SmallTokenizer file;
    file.json()["post_processor"] = {{"type", "TemplateProcessing"},
                                     {"single", json::parse(single)},
                                     {"special_tokens", {{"<s>", {{"ids", json::parse(ids)}}}}}};
    return message_of(file);
  };
  constexpr auto both = R"([{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}])";
  CHECK(with(both, "[0]") == "no error");
  CHECK_THAT(with(both, "[1]"),
             contains_text("post_processor.special_tokens.<s>.ids is [1], expected a list of token ids"));
  CHECK_THAT(with(both, "0"), contains_text("post_processor.special_tokens.<s>.ids is 0"));
  CHECK_THAT(with("[]", "[0]"), contains_text("post_processor.single is [], expected the text"));
  CHECK_THAT(with(R"([{"Sequence": {"id": "B"}}])", "[0]"),
             contains_text("post_processor.single.Sequence.id is \"B\""));
  CHECK_THAT(with(R"([{"SpecialToken": {"id": "<t>"}}])", "[0]"),
             contains_text("post_processor.special_tokens.<t> is missing"));
  CHECK_THAT(with(R"([1])", "[0]"), contains_text("post_processor.single is [1]"));
}

TEST_CASE("tokenizer_config.json names special tokens that tokenizer.json must have") {
  SmallTokenizer file;
  file.vocabulary({"a", "<m>", "<bos>", "<v>"});
  file.added("<m>", {{"special", false}});
  const auto message = [&](const json& config) {
    return message_of([&] { static_cast<void>(file.load_with(config)); });
  };
  const auto tokenizer =
      file.load_with({{"mask_token", "<m>"}, {"extra_special_tokens", {"<v>"}}, {"add_bos_token", true}});
  CHECK(tokenizer.is_special(1));
  CHECK(tokenizer.is_special(3));
  CHECK(tokenizer.encode("a<v>", true) == std::vector<std::int64_t>{2, 0, 3});
  CHECK(file.load_with({{"extra_special_tokens", {{"video_token", "<v>"}}}}).is_special(3));
  CHECK(file.load_with({{"sot_token", {{"content", "<v>"}, {"lstrip", false}}}}).is_special(3));
  CHECK(message({{"mask_token", "<none>"}}) ==
        "tokenizer_config.json: mask_token is \"<none>\", which tokenizer.json does not have");
  CHECK_THAT(message({{"mask_token", ""}}),
             contains_text("tokenizer_config.json: mask_token is \"\", expected a token"));
  CHECK_THAT(message({{"extra_special_tokens", 3}}), contains_text("tokenizer_config.json: extra_special_tokens is 3"));
  CHECK_THAT(message({{"split_special_tokens", true}}), contains_text("split_special_tokens is true"));
  CHECK_THAT(message({{"add_bos_token", 1}}), contains_text("add_bos_token is 1, expected true or false"));
  CHECK_THAT(message({{"add_eos_token", true}}),
             contains_text("add_eos_token is true, but there is no token \"<eos>\""));
  CHECK_THAT(message(json::array()), contains_text("tokenizer_config.json: the document is [], expected an object"));
}

TEST_CASE("added tokens that tokenizer_config.json repeats must be the same") {
  SmallTokenizer file;
  file.vocabulary({"a", "<x>"});
  file.added("<x>");
  json entry = {{"content", "<x>"}, {"single_word", false}, {"lstrip", false},
                {"rstrip", false},  {"normalized", false},  {"special", true}};
  const auto message = [&](const json& decoder) {
    return message_of([&] { static_cast<void>(file.load_with({{"added_tokens_decoder", decoder}})); });
  };
  CHECK(message({{"1", entry}}) == "no error");
  CHECK_THAT(message({{"2", entry}}), contains_text("added_tokens_decoder[\"1\"] is missing"));
  CHECK_THAT(message(json::object()), contains_text("added_tokens_decoder has 0 tokens, but tokenizer.json has 1"));
  entry["rstrip"] = true;
  CHECK_THAT(message({{"1", entry}}), contains_text("tokenizer_config.json: added_tokens_decoder[\"1\"] is "));
}
