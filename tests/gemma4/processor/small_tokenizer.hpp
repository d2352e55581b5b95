#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "processor/tokenizer.hpp"

/// A tokenizer.json that a test builds in view; every part can be spoiled through json().
class SmallTokenizer {
 public:
  SmallTokenizer() {
    json_ = nlohmann::json::parse(R"({
      "version": "1.0", "truncation": null, "padding": null, "added_tokens": [],
      "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
      "pre_tokenizer": {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": false},
      "post_processor": null,
      "decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                                                   {"type": "ByteFallback"}, {"type": "Fuse"}]},
      "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}})");
  }
  SmallTokenizer(const SmallTokenizer&) = delete;
  SmallTokenizer& operator=(const SmallTokenizer&) = delete;
  ~SmallTokenizer() { std::filesystem::remove_all(folder_); }

  nlohmann::json& json() { return json_; }
  nlohmann::json& model() { return json_["model"]; }

  /// Ids count from 0.
  void vocabulary(const std::vector<std::string>& tokens) {
    model()["vocab"] = nlohmann::json::object();
    for (std::size_t id = 0; id < tokens.size(); ++id) model()["vocab"][tokens[id]] = id;
  }

  void merges(const std::vector<std::pair<std::string, std::string>>& pairs) {
    model()["merges"] = nlohmann::json::array();
    for (const auto& [left, right] : pairs) model()["merges"].push_back({left, right});
  }

  /// A token with the vocabulary's id; `changes` overrides its fields.
  SmallTokenizer& added(const std::string& content, const nlohmann::json& changes = nlohmann::json::object()) {
    nlohmann::json token = {{"id", model()["vocab"].value(content, 0)},
                            {"content", content},
                            {"single_word", false},
                            {"lstrip", false},
                            {"rstrip", false},
                            {"normalized", false},
                            {"special", true}};
    token.update(changes);
    json_["added_tokens"].push_back(token);
    return *this;
  }

  [[nodiscard]] gemma4::Tokenizer load() const { return load_text(json_.dump()); }

  /// The same for the bytes of a file.
  [[nodiscard]] gemma4::Tokenizer load_text(const std::string& bytes) const {
    return gemma4::Tokenizer::from_file(write("tokenizer.json", bytes));
  }

  /// With a tokenizer_config.json beside it.
  [[nodiscard]] gemma4::Tokenizer load_with(const nlohmann::json& config) const {
    return gemma4::Tokenizer::from_files(write("tokenizer.json", json_.dump()),
                                         write("tokenizer_config.json", config.dump()));
  }

 private:
  [[nodiscard]] std::filesystem::path write(const char* name, const std::string& bytes) const {
    std::filesystem::create_directories(folder_);
    std::ofstream{folder_ / name, std::ios::binary} << bytes;
    return folder_ / name;
  }

  nlohmann::json json_;
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("lockstep-tokenizer-" + std::to_string(::getpid()));
};
