#include "recorded_copies.hpp"

using namespace parity;

namespace {

/// Another token at one place of int64 [1, n].
auto other_token(std::size_t place, std::int64_t token) {
  return [place, token](std::vector<std::byte>& bytes) {
    std::memcpy(bytes.data() + place * sizeof(token), &token, sizeof(token));
  };
}
void recorded_elsewhere(const Copy& copy) {
  copy.edit([](Json& document) { document["environment"]["cpu"] = "NoSuchVendor family 1 model 1"; });
}

}  // namespace

TEST_CASE("another generated token is a warning with its margin where the recording is another machine's") {
  const Copy copy("two_describe_bf16");
  change(copy, "gen.ids", true, other_token(3, 5));
  recorded_elsewhere(copy);
  const auto done = run(copy.folder(), {"images=" + pictures.string()});
  CHECK(done.result.code == 0);
  CHECK(done.with("warn") == Names{"gen.ids"});
  const auto message = done.entries.at("gen.ids")["message"].get<std::string>();
  CHECK_THAT(message, contains_text("token 3 of row 0 is ") && contains_text(", recorded 5; the top two logits"));
  // Inputs are equal up to the logits that chose it: four positions of a vocabulary of 960.
  CHECK(done.entries.at("gen.logits")["compared"] == 4 * 960);
  CHECK(done.entries.at("gen.logits")["verdict"] == "pass");
}

TEST_CASE("another generated token is a failure on the recording's machine") {
  const Copy copy("two_describe_bf16");
  change(copy, "gen.ids", true, other_token(3, 5));
  copy.recorded_here();
  const auto done = run(copy.folder(), {"images=" + pictures.string()});
  CHECK(done.result.code == 1);
  CHECK(done.entries.at("gen.ids")["verdict"] == "fail");
}

TEST_CASE("steps are fed the recorded tokens, so one that was not drawn here is named and changes what follows") {
  const Copy copy("two_describe_fp32");
  change(copy, "decode.tokens", true, other_token(2, 5));
  recorded_elsewhere(copy);
  const auto done = run(copy.folder(), {"images=" + pictures.string()});
  CHECK(done.result.code == 1);
  CHECK(done.with("warn") == Names{"decode.tokens"});
  CHECK_THAT(done.entries.at("decode.tokens")["message"].get<std::string>(), contains_text("token 2 of row 0"));
  CHECK(done.entries.at("decode.1.L9.out")["verdict"] == "pass");
  CHECK(done.entries.at("decode.2.llm.ids")["verdict"] == "fail");
  CHECK(done.entries.at("decode.2.logits_raw")["verdict"] == "fail");
  CHECK(done.entries.at("cache_final.L4.v")["verdict"] == "fail");
  CHECK(done.entries.at("cache.L4.v")["verdict"] == "pass");
}

TEST_CASE("recorded tokens that are no tokens are an error that names them") {
  const Copy copy("two_describe_bf16");
  copy.edit([](Json& document) { document["options"]["steps"] = 5; });
  const auto done = run(copy.folder(), {"images=" + pictures.string()});
  CHECK(done.result.code != 0);
  CHECK_THAT(done.result.out, contains_text("decode.tokens is int64 [1, 12], expected int64 [1, 5]"));

  const Copy wild("two_describe_bf16");
  wild.edit([](Json& document) { document["options"]["steps"] = -1; });
  CHECK_THAT(run(wild.folder()).result.out, contains_text("'options.steps' is -1, expected 0 to"));
}
