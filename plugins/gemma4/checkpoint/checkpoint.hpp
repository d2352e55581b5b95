#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <lockstep/export.hpp>
#include <lockstep/port.hpp>
#include <lockstep/tensor.hpp>
#include "checkpoint/config.hpp"

namespace gemma4 {

/// A Gemma 4 checkpoint folder in Hugging Face's layout: checked configuration and mapped weights.
///
/// Opening checks the presence, shape and dtype of every tensor against config.json and touches no weight.
/// ```cpp
/// const auto checkpoint = gemma4::Checkpoint::open("pipelines/data/shapes-gemma4");
/// const Tensor& table = checkpoint.weight("model.language_model.embed_tokens.weight");  // [vocab_size, hidden_size]
/// ```
/// Immutable; may be read by several threads.
class LOCKSTEP_API Checkpoint {
 public:
  /// Weights: model.safetensors, else the shards of model.safetensors.index.json. K/V weights of layers that share
  /// another layer's, and the audio tower, may be there and are ignored.
  /// Throws lockstep::Error; one error lists all missing, unexpected and wrong tensors.
  [[nodiscard]] static Checkpoint open(const std::filesystem::path& folder);

  /// The folder's last component: "shapes-gemma4".
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_; }
  [[nodiscard]] const Config& config() const noexcept { return config_; }
  [[nodiscard]] const GenerationConfig& generation() const noexcept { return generation_; }
  /// None for a text-only checkpoint.
  [[nodiscard]] const std::optional<ImageProcessorConfig>& image_processor() const noexcept { return image_processor_; }

  /// tokenizer.json exists; the other two may not.
  [[nodiscard]] std::filesystem::path tokenizer_file() const { return folder_ / "tokenizer.json"; }
  [[nodiscard]] std::filesystem::path tokenizer_config_file() const { return folder_ / "tokenizer_config.json"; }
  [[nodiscard]] std::filesystem::path chat_template_file() const { return folder_ / "chat_template.jinja"; }

  /// A view of the map, of dtype config().dtype, under its name in the file ("model.language_model.norm.weight"). May
  /// be unaligned. Throws lockstep::Error for a name that is not part of the model, ignored tensors included.
  [[nodiscard]] const lockstep::Tensor& weight(std::string_view name) const;

  /// Of the model: without ignored tensors.
  [[nodiscard]] std::int64_t tensor_count() const noexcept { return std::ssize(weights_); }
  [[nodiscard]] std::int64_t parameter_count() const noexcept { return parameter_count_; }
  [[nodiscard]] std::int64_t ignored_count() const noexcept { return ignored_count_; }

 private:
  Checkpoint() = default;

  std::filesystem::path folder_;
  std::string name_;
  Config config_;
  GenerationConfig generation_;
  std::optional<ImageProcessorConfig> image_processor_;
  std::map<std::string, lockstep::Tensor, std::less<>> weights_;
  std::int64_t parameter_count_ = 0;
  std::int64_t ignored_count_ = 0;
};

/// "286 tensors, 2.49 M parameters", with the number of ignored tensors if there are any.
[[nodiscard]] LOCKSTEP_API std::string summary_of(const Checkpoint& checkpoint);

}  // namespace gemma4

LOCKSTEP_PORT_TYPE(gemma4::Checkpoint, "gemma4.checkpoint/1");
