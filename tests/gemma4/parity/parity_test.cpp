#include <ATen/Context.h>
#include <ATen/Version.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.hpp"
#include "lockstep/safetensors.hpp"
#include "process.hpp"
#include "recording/recording.hpp"

namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

const fs::path recordings = LOCKSTEP_TEST_DATA "/recordings";
const fs::path pictures = LOCKSTEP_SOURCE_DIR "/pipelines/data/images";

/// A copy of a recording that a test may change; gone with the object.
class Copy {
 public:
  explicit Copy(const std::string& name)
      : folder_(fs::temp_directory_path() / ("parity_test_" + std::to_string(getpid()) + "_" + name)) {
    fs::remove_all(folder_);
    fs::copy(recordings / name, folder_);
  }
  ~Copy() { fs::remove_all(folder_); }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  [[nodiscard]] const fs::path& folder() const { return folder_; }
  [[nodiscard]] fs::path values() const { return folder_ / "reference.safetensors"; }
  void edit(const std::function<void(Json&)>& change) const {
    auto document = Json::parse(std::ifstream(folder_ / "reference.json"));
    change(document);
    std::ofstream(folder_ / "reference.json") << document;
  }
  /// Says that it was recorded on this machine.
  void recorded_here() const {
    const std::string onednn = at::get_mkldnn_version();
    edit([&](Json& document) {
      auto& environment = document["environment"];
      environment["torch"] = LOCKSTEP_LIBTORCH_VERSION;
      environment["onednn"] = onednn.substr(0, onednn.find(')', onednn.find("Git Hash")) + 1);
      environment["cpu"] = gemma4::cpu_of_this_machine();
      environment["cpu_capability"] = at::get_cpu_capability();
    });
  }
  /// Of all tensors, keeps those named; machines do not differ in them.
  void keep(const std::vector<std::string>& names) const {
    edit([&](Json& document) {
      Json kept = Json::object();
      for (const auto& name : names) kept[name] = document["tensors"].at(name);
      document["tensors"] = kept;
    });
  }

 private:
  fs::path folder_;
};

/// One run of the shipped pipeline.
struct Run {
  process::Result result;
  Json step;
  std::map<std::string, Json> entries;  ///< by subject

  [[nodiscard]] std::vector<std::string> with(const std::string& verdict) const {
    std::vector<std::string> names;
    for (const auto& [subject, entry] : entries) {
      if (entry["verdict"] == verdict) names.push_back(subject);
    }
    return names;
  }
  [[nodiscard]] std::vector<std::string> not_compared() const { return step.at("not_compared"); }
};

Run run(const fs::path& recording, const std::vector<std::string>& settings = {}) {
  const auto record = fs::temp_directory_path() / ("parity_test_" + std::to_string(getpid()) + ".json");
  std::vector<std::string> words{LOCKSTEP_BINARY_DIR "/bin/lockstep",
                                 "run",
                                 LOCKSTEP_SOURCE_DIR "/pipelines/reference_parity.toml",
                                 "--set",
                                 "recording=" + recording.string(),
                                 "--json",
                                 record.string()};
  for (const auto& setting : settings) words.insert(words.end(), {"--set", setting});
  Run done{process::run(words), {}, {}};
  INFO(done.result.out << done.result.err);
  const auto document = Json::parse(std::ifstream(record));
  fs::remove(record);
  for (const auto& step : document["steps"]) {
    if (step["id"] == "parity") done.step = step;
  }
  if (done.step.contains("checks")) {
    for (const auto& check : done.step["checks"]) {
      if (check.contains("subject") && check["subject"].is_string()) done.entries[check["subject"]] = check;
    }
  }
  return done;
}

bool belongs_to_stages(const std::string& name) {
  return std::ranges::any_of(std::vector<std::string>{"tok.", "img.", "vis.", "llm.", "ple."},
                             [&](const std::string& stage) { return name.starts_with(stage); });
}

using Names = std::vector<std::string>;
const Names exact_everywhere{"llm.embed", "llm.ids", "llm.position_ids", "tok.attention_mask", "tok.ids"};

TEST_CASE("the reference computes recorded values, from pictures up to per-layer inputs") {
  const auto name = GENERATE(std::string("two_describe_bf16"), std::string("two_describe_fp32"));
  const auto done = run(recordings / name, {"images=" + pictures.string()});
  INFO(done.result.out);
  CHECK(done.result.code == 0);
  CHECK(done.with("fail").empty());
  const auto values = lockstep::SafetensorsFile::open(recordings / name / "reference.safetensors");
  std::size_t count = 0;
  for (const auto& tensor : values.names()) {
    if (!belongs_to_stages(tensor)) continue;
    ++count;
    CAPTURE(tensor);
    REQUIRE(done.entries.contains(tensor));
    if (!is_floating_point(values.at(tensor).dtype())) CHECK(done.entries.at(tensor)["ladder"] == "bits_equal");
  }
  CHECK(count >= 25);
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

/// Writes the values anew with one tensor's last element changed; `hash` says whether reference.json agrees.
void change(const Copy& copy, const std::string& name, bool hash) {
  std::vector<std::pair<std::string, lockstep::Tensor>> tensors;
  const auto file = lockstep::SafetensorsFile::open(copy.values());
  for (const auto& each : file.names()) {
    auto tensor = file.at(each);
    if (each == name) {
      std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.numel()) * element_size(tensor.dtype()));
      std::memcpy(bytes.data(), tensor.data(), bytes.size());
      bytes.back() ^= std::byte{0x40};  // of a float: its exponent
      tensor = lockstep::Tensor::copy_of(bytes, tensor.dtype(), tensor.sizes());
      if (hash) {
        copy.edit([&](Json& document) { document["tensors"][name]["sha256"] = gemma4::sha256_of(tensor); });
      }
    }
    tensors.emplace_back(each, tensor);
  }
  lockstep::write_safetensors(copy.values(), tensors);
}

TEST_CASE("a tensor that differs in one element fails and is named, alone") {
  const auto name = GENERATE(as<std::string>{}, "ple.combined", "vis.proj", "llm.ids", "vis.L0.scores");
  const Copy copy("two_describe_bf16");
  change(copy, name, true);
  const auto done = run(copy.folder(), {"images=" + pictures.string()});
  CHECK(done.result.code == 1);
  CHECK(done.with("fail") == Names{name});
  CHECK(done.entries.at(name)["mismatched"] >= 1);
}

TEST_CASE("a damaged tensor fails and says so") {
  const Copy copy("two_describe_fp32");
  change(copy, "llm.embed", false);
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

}  // namespace
