#pragma once

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

namespace parity {

using Json = nlohmann::json;
namespace fs = std::filesystem;

inline const fs::path recordings = LOCKSTEP_TEST_DATA "/recordings";
inline const fs::path pictures = LOCKSTEP_SOURCE_DIR "/pipelines/data/images";

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

inline Run run(const fs::path& recording, const std::vector<std::string>& settings = {}) {
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

using Names = std::vector<std::string>;

/// Writes the values anew with the bytes of one tensor changed; `hash` says whether reference.json agrees.
inline void change(const Copy& copy, const std::string& name, bool hash,
                   const std::function<void(std::vector<std::byte>&)>& how) {
  std::vector<std::pair<std::string, lockstep::Tensor>> tensors;
  const auto file = lockstep::SafetensorsFile::open(copy.values());
  for (const auto& each : file.names()) {
    auto tensor = file.at(each);
    if (each == name) {
      std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.numel()) * element_size(tensor.dtype()));
      std::memcpy(bytes.data(), tensor.data(), bytes.size());
      how(bytes);
      tensor = lockstep::Tensor::copy_of(bytes, tensor.dtype(), tensor.sizes());
      if (hash) {
        copy.edit([&](Json& document) { document["tensors"][name]["sha256"] = gemma4::sha256_of(tensor); });
      }
    }
    tensors.emplace_back(each, tensor);
  }
  lockstep::write_safetensors(copy.values(), tensors);
}
/// A bit of the last element; of a float: of its exponent.
inline void flip_bit(std::vector<std::byte>& bytes) { bytes.back() ^= std::byte{0x40}; }

}  // namespace parity
