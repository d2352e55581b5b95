#include "recorded_copies.hpp"

using namespace parity;

namespace {

const Names exact_everywhere{"llm.embed", "llm.ids", "llm.position_ids", "tok.attention_mask", "tok.ids"};

}  // namespace

TEST_CASE("the reference computes every recorded value, from pictures up to generated tokens") {
  const auto name = GENERATE(std::string("two_describe_bf16"), std::string("two_describe_fp32"));
  const auto done = run(recordings / name, {"images=" + pictures.string()});
  INFO(done.result.out);
  CHECK(done.result.code == 0);
  CHECK(done.with("fail").empty());
  const auto values = lockstep::SafetensorsFile::open(recordings / name / "reference.safetensors");
  std::size_t count = 0;
  for (const auto& tensor : values.names()) {
    ++count;
    CAPTURE(tensor);
    REQUIRE(done.entries.contains(tensor));
    if (!is_floating_point(values.at(tensor).dtype())) CHECK(done.entries.at(tensor)["ladder"] == "bits_equal");
  }
  CHECK(count >= 300);
}

TEST_CASE("a row padded on the left keeps its recorded ids and positions") {
  const Copy copy("batch_padded_bf16");
  copy.recorded_here();
  copy.keep(exact_everywhere);
  const auto done = run(copy.folder());
  CHECK(done.result.code == 0);
  CHECK(done.with("pass") == exact_everywhere);
  CHECK(done.step["fingerprint_matches"] == true);
}

TEST_CASE("hashes alone judge pictures and integers on a machine like the recording's") {
  const auto name =
      GENERATE(std::string("wide_count_bf16"), std::string("wide_count_fp32"), std::string("two_raw_bf16"));
  const Copy copy(name);
  copy.recorded_here();
  const Names kept{"img.num_soft_tokens", "img.pixel_values", "img.position_ids", "llm.embed", "tok.ids", "vis.pixels"};
  copy.edit([&](Json& document) {
    Json tensors = Json::object();
    for (const auto& tensor : kept) {
      if (document["tensors"].contains(tensor)) tensors[tensor] = document["tensors"][tensor];
    }
    document["tensors"] = tensors;
  });
  const auto done = run(copy.folder(), {"images=" + pictures.string()});
  INFO(done.result.out);
  CHECK(done.result.code == 0);
  CHECK(done.with("pass").size() >= 5);
  CHECK(done.not_compared().empty());
}

TEST_CASE("another hash fails and is named") {
  const Copy copy("text_window_bf16");
  copy.recorded_here();
  copy.keep(exact_everywhere);
  copy.edit([](Json& document) { document["tensors"]["llm.ids"]["sha256"] = std::string(64, '0'); });
  const auto done = run(copy.folder());
  CHECK(done.result.code == 1);
  CHECK(done.with("fail") == Names{"llm.ids"});
}

TEST_CASE("without values nothing is compared on another machine, and the run fails") {
  const Copy copy("text_window_bf16");
  copy.edit([](Json& document) { document["environment"]["cpu"] = "NoSuchVendor family 1 model 1"; });
  const auto done = run(copy.folder());
  CHECK(done.result.code == 1);
  CHECK(done.entries.empty());
  CHECK(done.not_compared().size() == gemma4::Recording::open(copy.folder()).tensors().size());
}

TEST_CASE("tensors that differ in one element fail and are named, and no others") {
  const Names names{"L7.out",       "cache.L4.v",   "decode.3.L9.out", "gen.logits",    "llm.ids",
                    "mask.sliding", "ple.combined", "rope.full.cos",   "vis.L0.scores", "vis.proj"};
  const Copy copy("two_describe_bf16");
  for (const auto& name : names) change(copy, name, true, flip_bit);
  const auto done = run(copy.folder(), {"images=" + pictures.string()});
  CHECK(done.result.code == 1);
  CHECK(done.with("fail") == names);
  for (const auto& name : names) CHECK(done.entries.at(name)["mismatched"] >= 1);
}

TEST_CASE("a damaged tensor fails and says so") {
  const Copy copy("two_describe_fp32");
  change(copy, "llm.embed", false, flip_bit);
  const auto done = run(copy.folder(), {"images=" + pictures.string()});
  CHECK(done.result.code == 1);
  CHECK(done.with("fail") == Names{"llm.embed"});
  CHECK_THAT(done.entries.at("llm.embed")["message"].get<std::string>(), contains_text("damaged"));
}

TEST_CASE("tensors that the reference does not know are listed as not compared") {
  const Copy copy("batch_padded_bf16");
  copy.recorded_here();
  copy.keep({"llm.ids", "tok.ids"});
  copy.edit([](Json& document) { document["tensors"]["vis.unheard_of"] = document["tensors"]["tok.ids"]; });
  const auto done = run(copy.folder());
  CHECK(done.result.code == 0);
  CHECK(done.not_compared() == Names{"vis.unheard_of"});
}

TEST_CASE("what cannot be compared is an error that names it") {
  const auto fails = [](const Run& done, const std::string& first, const std::string& second) {
    INFO(done.result.out << done.result.err);
    CHECK(done.result.code != 0);
    CHECK(done.entries.empty());
    CHECK_THAT(done.result.out + done.result.err, contains_text(first) && contains_text(second));
  };
  const auto whole = recordings / "two_describe_bf16";
  fails(run("/no/such/folder"), "/no/such/folder", "recording");
  fails(run(LOCKSTEP_TEST_DATA), "reference.json", "no such file");
  fails(run(whole, {"checkpoint=" LOCKSTEP_TEST_DATA "/irregular-gemma4"}), "sha256", "config.json");
  fails(run(whole, {"images=" LOCKSTEP_TEST_DATA "/check"}), "two_384.png", "no such file");
  fails(run(whole), "img.", "set images");

  const Copy cut("two_describe_bf16");
  fs::resize_file(cut.values(), fs::file_size(cut.values()) / 2);
  fails(run(cut.folder()), "reference.safetensors", "tensor");

  const Copy text("two_describe_bf16");
  fs::resize_file(text.folder() / "reference.json", 1000);
  fails(run(text.folder()), "reference.json", "line");

  const Copy fused("two_describe_bf16");
  fused.edit([](Json& document) { document["options"]["attn_implementation"] = "sdpa"; });
  fails(run(fused.folder()), "sdpa", "eager");

  const Copy other("two_describe_bf16");
  other.edit([](Json& document) { document["inputs"]["images"][0]["sha256"] = std::string(64, '0'); });
  fails(run(other.folder(), {"images=" + pictures.string()}), "two_384.png", "sha256");
}
