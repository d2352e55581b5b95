// Each rule of gemma4.reference_parity, broken once: what it then says.

#include "gemma4/parity/recorded_copies.hpp"

using namespace parity;

namespace {

const std::string from_pictures = "images=" + pictures.string();

void lowest_bit(std::vector<std::byte>& bytes) { bytes.front() ^= std::byte{1}; }

}  // namespace

TEST_CASE("a recording on another machine: integers and bools by bits, all else norm-wise") {
  const auto done = run(recordings / "two_describe_bf16", {from_pictures});
  CHECK(done.step["fingerprint_matches"] == false);
  CHECK(done.step["fingerprint_differences"].size() >= 1);
  std::size_t exact = 0, near = 0;
  const auto file = lockstep::SafetensorsFile::open(recordings / "two_describe_bf16/reference.safetensors");
  for (const auto& [name, entry] : done.entries) {
    if (!file.contains(name)) continue;
    CAPTURE(name);
    const bool floating = is_floating_point(file.at(name).dtype());
    CHECK(entry["name"] == (floating ? "within_norm" : "same_bits"));
    CHECK(entry["metric"] == (floating ? "norm_wise" : "bits"));
    ++(floating ? near : exact);
  }
  CHECK(exact >= 5);
  CHECK(near >= 20);
}

TEST_CASE("one bit of an integer fails on every machine, though a norm would not see it") {
  const auto name = GENERATE(as<std::string>{}, "tok.ids", "llm.ids", "llm.position_ids", "img.position_ids",
                             "tok.attention_mask", "vis.pool_valid");
  const Copy copy("two_describe_bf16");
  change(copy, name, true, lowest_bit);
  const auto done = run(copy.folder(), {from_pictures});
  CHECK(done.result.code == 1);
  CHECK(done.with("fail") == Names{name});
  CHECK(done.entries.at(name)["mismatched"] == 1);
}

TEST_CASE("the last bit of a float is inside the norm elsewhere, and fails where the fingerprint matches") {
  const Copy copy("two_describe_fp32");
  change(copy, "llm.embed", true, lowest_bit);
  const auto elsewhere = run(copy.folder(), {from_pictures});
  CHECK(elsewhere.result.code == 0);
  CHECK(elsewhere.entries.at("llm.embed")["verdict"] == "pass");
  CHECK(elsewhere.entries.at("llm.embed")["ladder"] == "ulp");

  copy.recorded_here();
  const auto here = run(copy.folder(), {from_pictures});
  CHECK(here.step["fingerprint_matches"] == true);
  CHECK(here.result.code == 1);
  CHECK(here.entries.at("llm.embed")["name"] == "same_bits");
  CHECK(here.entries.at("llm.embed")["verdict"] == "fail");
  CHECK(here.entries.at("llm.embed")["mismatched"] == 1);
}

TEST_CASE("each part of the fingerprint counts, and the difference is named") {
  const auto [field, value] = GENERATE(table<std::string, Json>({{"torch", "2.12.1"},
                                                                 {"onednn", "Intel(R) MKL-DNN v3.0.0 (Git Hash 0)"},
                                                                 {"cpu", "NoSuchVendor family 1 model 1"},
                                                                 {"cpu_capability", "DEFAULT"}}));
  const Copy copy("batch_padded_bf16");
  copy.recorded_here();
  copy.keep({"tok.ids"});
  copy.edit([&, field = field, value = value](Json& document) { document["environment"][field] = value; });
  const auto done = run(copy.folder());
  CHECK(done.step["fingerprint_matches"] == false);
  REQUIRE(done.step["fingerprint_differences"].size() == 1);
  CHECK_THAT(done.step["fingerprint_differences"][0].get<std::string>(), contains_text(field + " is"));
  CHECK(done.result.code == 1);  // hashes judge nothing elsewhere
  CHECK(done.entries.empty());
}

TEST_CASE("the thread count is the recording's, so it never differs") {
  const Copy copy("batch_padded_bf16");
  copy.recorded_here();
  copy.keep({"tok.ids"});
  copy.edit([](Json& document) { document["environment"]["threads"] = 2; });
  CHECK(run(copy.folder()).step["fingerprint_matches"] == true);
}

TEST_CASE("another slice than the one that was kept fails, alone") {
  const Copy copy("two_describe_bf16");
  copy.edit([](Json& document) { document["notes"]["vis.L0.scores"] = "query rows 16..31 of 630"; });
  const auto done = run(copy.folder(), {from_pictures});
  CHECK(done.result.code == 1);
  CHECK(done.with("fail") == Names{"vis.L0.scores"});
}

TEST_CASE("without its note a part does not compare with the whole") {
  const Copy copy("two_describe_bf16");
  copy.edit([](Json& document) { document["notes"].erase("vis.L0.probs"); });
  const auto done = run(copy.folder(), {from_pictures});
  CHECK(done.with("fail") == Names{"vis.L0.probs"});
  CHECK(done.entries.at("vis.L0.probs")["ladder"] == "not_comparable");
}

TEST_CASE("what was taken as input is listed, not compared") {
  const auto dump = fs::temp_directory_path() / ("parity_dump_" + std::to_string(getpid()));
  const auto built =
      process::run({LOCKSTEP_BINARY_DIR "/bin/lockstep", "run", LOCKSTEP_SOURCE_DIR "/pipelines/gemma4.toml", "--to",
                    "build_static_inputs", "--dump", dump.string()});
  REQUIRE(built.code == 0);
  const Copy copy("two_describe_bf16");
  CHECK_THAT(run(copy.folder()).result.out, contains_text("no values of img.pixel_values") &&
                                                contains_text("set images to the folder with the recorded pictures"));
  {
    // The values themselves are too large for the repository; the hash in reference.json says that they are these.
    std::vector<std::pair<std::string, lockstep::Tensor>> tensors;
    const auto values = lockstep::SafetensorsFile::open(copy.values());
    for (const auto& name : values.names()) tensors.emplace_back(name, values.at(name));
    const auto batch = lockstep::SafetensorsFile::open(dump / "build_static_inputs.safetensors");
    tensors.emplace_back("img.pixel_values", batch.at("batch.pixel_values"));
    lockstep::write_safetensors(copy.values(), tensors);
  }
  fs::remove_all(dump);
  const auto taken = run(copy.folder());
  CHECK(taken.result.code == 0);
  const auto values = lockstep::SafetensorsFile::open(copy.values());
  Names inputs;
  for (const auto& name : taken.not_compared()) {
    CAPTURE(name);
    if (values.contains(name)) inputs.push_back(name);  // the others are known by their hash: of no use elsewhere
  }
  CHECK(inputs == Names{"img.num_soft_tokens", "img.pixel_values", "img.position_ids"});
  const auto from_files = run(copy.folder(), {from_pictures});
  CHECK(from_files.result.code == 0);
  CHECK(from_files.entries.contains("img.pixel_values"));
}

TEST_CASE("a folder of pictures that does not exist is found before anything runs") {
  const auto done = run(recordings / "two_describe_bf16", {"images=/no/such/folder"});
  CHECK(done.result.code == 2);
  CHECK_THAT(done.result.err, contains_text("/no/such/folder"));
}

TEST_CASE("a picture that was changed after the recording is an error with both hashes") {
  const auto folder = fs::temp_directory_path() / ("parity_pictures_" + std::to_string(getpid()));
  fs::create_directories(folder);
  fs::copy_file(pictures / "wide_odd.png", folder / "two_384.png", fs::copy_options::overwrite_existing);
  const auto done = run(recordings / "two_describe_bf16", {"images=" + folder.string()});
  fs::remove_all(folder);
  CHECK(done.result.code == 4);
  CHECK(done.entries.empty());
  CHECK_THAT(done.step["reason"].get<std::string>(),
             contains_text("two_384.png: sha256 is ") &&
                 contains_text("recorded with 5555aacaf28b77a5282a165c27dd22e2a8fcd3606c1dd68f303957c7d3f21bbb"));
}

TEST_CASE("another checkpoint is an error that names the file") {
  const auto file = GENERATE(as<std::string>{}, "config.json", "model.safetensors", "tokenizer.json");
  const Copy copy("two_describe_bf16");
  copy.edit([&](Json& document) { document["checkpoint"]["sha256"][file] = std::string(64, '0'); });
  const auto done = run(copy.folder(), {from_pictures});
  CHECK(done.result.code == 4);
  CHECK_THAT(done.step["reason"].get<std::string>(), contains_text(file + ": sha256 is "));
}

TEST_CASE("a file of the checkpoint that is not there any more is named") {
  const Copy copy("two_describe_bf16");
  copy.edit([](Json& document) { document["checkpoint"]["sha256"]["more.safetensors"] = std::string(64, '0'); });
  CHECK_THAT(run(copy.folder(), {from_pictures}).step["reason"].get<std::string>(),
             contains_text("more.safetensors: no such file"));
}
