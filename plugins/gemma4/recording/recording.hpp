#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <lockstep/export.hpp>
#include <lockstep/safetensors.hpp>
#include <lockstep/tensor.hpp>

namespace gemma4 {

/// What decides about last bits: where all of it is the same, transformers computes the same bits again.
struct Fingerprint {
  std::string torch;           ///< version, without a local part: "2.13.0"
  std::string onednn;          ///< with its git hash
  std::string cpu;             ///< "AuthenticAMD family 25 model 17"
  std::string cpu_capability;  ///< of LibTorch: "AVX512"
  std::int64_t threads = 0;
};
/// One text per field that differs: "cpu_capability is AVX2, recorded with AVX512".
[[nodiscard]] LOCKSTEP_API std::vector<std::string> differences(const Fingerprint& recorded, const Fingerprint& here);
/// Vendor, family and model of this machine's CPU, in the words of recordings.
[[nodiscard]] LOCKSTEP_API std::string cpu_of_this_machine();

/// What transformers was asked.
struct RecordedInputs {
  struct Image {
    std::string name;
    std::string sha256;  ///< of the file
  };
  bool chat = false;  ///< messages were put through the chat template, else used as they are
  std::optional<std::string> system;
  std::vector<std::string> messages;  ///< one per row of the batch
  std::vector<std::string> texts;     ///< as the processor got them
  std::vector<Image> images;          ///< one row: all of them belong to it; several rows: one per row
};

/// One entry of "tensors" in reference.json.
struct RecordedTensor {
  std::string dtype;  ///< PyTorch's spelling
  std::vector<std::int64_t> shape;
  std::string sha256;  ///< of the contiguous bytes
};

/// A folder that tools/record_hf.py wrote: reference.json and, unless it was left out, reference.safetensors. A file
/// that holds only some of the tensors is fine; the others are known by their hash.
class LOCKSTEP_API Recording {
 public:
  /// Throws lockstep::Error that names file and field when reference.json is missing or malformed, or the other file
  /// is.
  [[nodiscard]] static Recording open(const std::filesystem::path& folder);

  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_; }
  [[nodiscard]] const Fingerprint& fingerprint() const noexcept { return fingerprint_; }
  /// bfloat16 or float32.
  [[nodiscard]] lockstep::DType dtype() const noexcept { return dtype_; }
  [[nodiscard]] const std::string& attention() const noexcept { return attention_; }
  /// Pixel values were cast to dtype() before the model saw them.
  [[nodiscard]] bool cast_pixels() const noexcept { return cast_pixels_; }
  [[nodiscard]] const std::optional<std::int64_t>& soft_tokens() const noexcept { return soft_tokens_; }
  /// Decode steps; generation was allowed one token more.
  [[nodiscard]] std::int64_t steps() const noexcept { return steps_; }
  [[nodiscard]] const RecordedInputs& inputs() const noexcept { return inputs_; }
  /// File name -> sha256.
  [[nodiscard]] const std::map<std::string, std::string>& checkpoint_files() const noexcept {
    return checkpoint_files_;
  }
  /// By name; of both files together.
  [[nodiscard]] const std::map<std::string, RecordedTensor, std::less<>>& tensors() const noexcept { return tensors_; }
  /// False when there is no reference.safetensors.
  [[nodiscard]] bool has_file() const noexcept { return file_.has_value(); }
  /// The values of a tensor, if reference.safetensors has them.
  [[nodiscard]] std::optional<lockstep::Tensor> values(std::string_view name) const;
  /// What is wrong with these values by reference.json; none if dtype, shape and hash agree, or it has no such entry.
  [[nodiscard]] std::optional<std::string> damage(std::string_view name) const;
  /// What the recorder kept of `whole`: the rows that a note names ("query rows 0..15 of 630" is [0, 16) of the last
  /// axis but one), of the prefill's logits the last position unless it was told to keep all.
  [[nodiscard]] lockstep::Tensor kept_part(std::string_view name, const lockstep::Tensor& whole) const;

 private:
  Recording() = default;

  std::filesystem::path folder_;
  Fingerprint fingerprint_;
  lockstep::DType dtype_ = lockstep::DType::bfloat16;
  std::string attention_;
  bool cast_pixels_ = false;
  std::optional<std::int64_t> soft_tokens_;
  std::int64_t steps_ = 0;
  bool all_logits_ = false;
  RecordedInputs inputs_;
  std::map<std::string, std::string> checkpoint_files_;
  std::map<std::string, std::string, std::less<>> notes_;
  std::map<std::string, RecordedTensor, std::less<>> tensors_;
  std::optional<lockstep::SafetensorsFile> file_;
};

/// SHA-256 of a tensor's contiguous bytes, as recordings have it.
[[nodiscard]] LOCKSTEP_API std::string sha256_of(const lockstep::Tensor& tensor);

}  // namespace gemma4
