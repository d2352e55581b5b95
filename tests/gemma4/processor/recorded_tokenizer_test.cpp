// Compares with what transformers gives for the shapes checkpoint (tests/data/tokenizer/README.md).

#include <fstream>
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "processor/tokenizer.hpp"

namespace {

using nlohmann::json;
using Ids = std::vector<std::int64_t>;

const std::filesystem::path shapes = std::filesystem::path{LOCKSTEP_SOURCE_DIR} / "pipelines/data/shapes-gemma4";

const json& recording() {
  static const json cases = json::parse(std::ifstream{LOCKSTEP_TEST_DATA "/tokenizer/tokenizer_cases.json"});
  return cases;
}

const gemma4::Tokenizer& tokenizer() {
  static const auto loaded = gemma4::Tokenizer::from_files(shapes / "tokenizer.json", shapes / "tokenizer_config.json");
  return loaded;
}

}  // namespace

TEST_CASE("every recorded string gives transformers' ids") {
  REQUIRE(recording().at("cases").size() >= 80);
  for (const auto& recorded : recording().at("cases")) {
    const auto text = recorded.at("text").get<std::string>();
    CAPTURE(text);
    CHECK(tokenizer().encode(text) == recorded.at("ids").get<Ids>());
    CHECK(tokenizer().encode(text, true) == recorded.at("ids_with_special").get<Ids>());
  }
}

TEST_CASE("every recorded id has transformers' token, and the token has that id") {
  for (const auto& recorded : recording().at("cases")) {
    for (std::size_t i = 0; i < recorded.at("ids").size(); ++i) {
      const auto id = recorded.at("ids").at(i).get<std::int64_t>();
      const auto token = recorded.at("tokens").at(i).get<std::string>();
      CHECK(tokenizer().token_of(id) == token);
      CHECK(tokenizer().id_of(token) == id);
    }
  }
}

TEST_CASE("every recorded list of ids decodes to transformers' text") {
  REQUIRE(recording().at("decode_cases").size() >= 8);
  for (const auto* list : {"cases", "decode_cases"}) {
    for (const auto& recorded : recording().at(list)) {
      const auto ids = recorded.at("ids").get<Ids>();
      CAPTURE(ids);
      CHECK(tokenizer().decode(ids) == recorded.at("decoded").get<std::string>());
      CHECK(tokenizer().decode(ids, true) == recorded.at("decoded_skip_special").get<std::string>());
    }
  }
}

TEST_CASE("named tokens of tokenizer_config.json are special only when it is read") {
  const auto alone = gemma4::Tokenizer::from_file(shapes / "tokenizer.json");
  const auto mask = alone.id_of("<mask>").value();
  CHECK_FALSE(alone.is_special(mask));
  CHECK(tokenizer().is_special(mask));
  CHECK(tokenizer().is_special(tokenizer().id_of("<|video|>").value()));
}
