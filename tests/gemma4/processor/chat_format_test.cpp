#include <fstream>
#include <lockstep/diagnostic.hpp>
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "processor/prompt.hpp"

namespace {

using nlohmann::json;

const std::filesystem::path shapes = std::filesystem::path{LOCKSTEP_SOURCE_DIR} / "pipelines/data/shapes-gemma4";

gemma4::ContentItem item_of(const json& item) {
  using Kind = gemma4::ContentItem::Kind;
  const auto type = item.at("type").get<std::string>();
  if (type == "text") return {Kind::text, item.at("text").get<std::string>()};
  return {type == "image" ? Kind::image : type == "audio" ? Kind::audio : Kind::video};
}

std::vector<gemma4::Message> messages_of(const json& recorded) {
  std::vector<gemma4::Message> messages;
  for (const auto& message : recorded) {
    auto& added = messages.emplace_back(gemma4::Message{message.at("role").get<std::string>(), {}});
    if (message.at("content").is_string()) {
      added.content = message.at("content").get<std::string>();
    } else {
      auto& items = added.content.emplace<std::vector<gemma4::ContentItem>>();
      for (const auto& item : message.at("content")) items.push_back(item_of(item));
    }
  }
  return messages;
}

}  // namespace

TEST_CASE("every recorded chat gives the text of transformers' template") {
  const auto recording = json::parse(std::ifstream{LOCKSTEP_TEST_DATA "/tokenizer/chat_cases.json"});
  const auto chat = gemma4::ChatFormat::for_template(shapes / "chat_template.jinja");
  CHECK(chat.template_sha256() == recording.at("template_sha256").get<std::string>());
  REQUIRE(recording.at("cases").size() >= 100);
  for (const auto& recorded : recording.at("cases")) {
    const gemma4::ChatOptions options{recorded.at("add_generation_prompt").get<bool>(),
                                      recorded.at("enable_thinking").get<bool>()};
    CAPTURE(recorded.dump());
    CHECK(chat.render(messages_of(recorded.at("messages")), options) == recorded.at("text").get<std::string>());
  }
}

TEST_CASE("a template with another hash is refused with its hash, the known ones and the way out") {
  try {
    gemma4::ChatFormat::for_template_text("{{ messages }}", "somewhere/chat_template.jinja");
    FAIL("no error");
  } catch (const lockstep::Error& error) {
    // printf '{{ messages }}' | sha256sum
    CHECK_THAT(error.what(), contains_text("f24189f08c85a1eb19a737306c3a13e85462ee33d964f28108d64a2485fa2171"));
    CHECK_THAT(error.what(), contains_text("somewhere/chat_template.jinja"));
    CHECK_THAT(error.what(), contains_text("4d5406ade76607bd2009498b0ce23ce7ac0b4893e248d75846ec5504304f4a18"));
    CHECK_THAT(error.diagnostic().help, contains_text("prompt_format = \"raw\""));
  }
}

TEST_CASE("a missing template is refused with the way out") {
  try {
    gemma4::ChatFormat::for_template(shapes / "none.jinja");
    FAIL("no error");
  } catch (const lockstep::Error& error) {
    CHECK_THAT(error.what(), contains_text("none.jinja: no such file"));
    CHECK_THAT(error.diagnostic().help, contains_text("prompt_format = \"raw\""));
  }
}

TEST_CASE("a message that is not UTF-8 is refused with the offset") {
  const auto chat = gemma4::ChatFormat::for_template(shapes / "chat_template.jinja");
  const std::vector<gemma4::Message> messages{{"user", std::string{"abc\xFF"}}};
  CHECK_THROWS_WITH(chat.render(messages), "the user message is not valid UTF-8: byte 0xFF at offset 3");
}
