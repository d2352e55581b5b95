#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <lockstep/diagnostic.hpp>
#include <lockstep/safetensors.hpp>

#include "catch.hpp"
#include "checkpoint/checkpoint.hpp"
#include "recording/recorded_reference.hpp"
#include "recording/recording.hpp"

namespace gemma4::test {

namespace fs = std::filesystem;
using lockstep::Tensor;
using Tensors = std::map<std::string, Tensor>;

inline std::shared_ptr<const Checkpoint> shapes() {
  static const auto checkpoint = std::make_shared<const Checkpoint>(
      Checkpoint::open(std::string(LOCKSTEP_SOURCE_DIR) + "/pipelines/data/shapes-gemma4"));
  return checkpoint;
}
inline fs::path recording_folder(const std::string& name) { return fs::path(LOCKSTEP_TEST_DATA "/recordings") / name; }
/// The values as they lie in the file: what the answers are judged by.
inline Tensor recorded(const std::string& name, const std::string& recording = "two_describe_bf16") {
  return lockstep::SafetensorsFile::open(recording_folder(recording) / "reference.safetensors").at(name);
}
inline std::shared_ptr<const Reference> served(const fs::path& folder) {
  return make_recorded_reference(shapes(), Recording::open(folder));
}
inline std::shared_ptr<const Reference> served() { return served(recording_folder("two_describe_bf16")); }

inline bool same_bits(const Tensor& a, const Tensor& b) {
  const auto left = a.contiguous(), right = b.contiguous();
  return a.dtype() == b.dtype() && a.sizes() == b.sizes() && a.numel() > 0 &&
         std::memcmp(left.data(), right.data(), element_size(a.dtype()) * static_cast<std::size_t>(a.numel())) == 0;
}
inline std::vector<std::int64_t> ids_of(const Tensor& tensor) {
  const auto dense = tensor.contiguous();
  const auto values = dense.values<std::int64_t>();
  return {values.begin(), values.end()};
}
inline Tensor int64s(const std::vector<std::int64_t>& values, std::vector<std::int64_t> sizes) {
  return Tensor::copy_of(std::span<const std::int64_t>(values), std::move(sizes));
}
inline Tensor row(const std::vector<std::int64_t>& values) { return int64s(values, {1, std::ssize(values)}); }
/// Element `first` to `last` of axis 1, of one row.
inline Tensor slice(const Tensor& tensor, std::int64_t first, std::int64_t last) {
  auto sizes = tensor.sizes();
  sizes[1] = last - first;
  return {tensor.owner(),
          tensor.data() + first * tensor.strides()[1] * static_cast<std::int64_t>(element_size(tensor.dtype())),
          tensor.dtype(), sizes, tensor.strides()};
}
inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const lockstep::Error& error) {
    return error.what();
  }
  return "no error";
}

/// A copy of a recording that a test may change; gone with the object.
class Copy {
 public:
  explicit Copy(const std::string& name = "two_describe_bf16")
      : folder_(fs::temp_directory_path() / ("recording_test_" + std::to_string(getpid()) + "_" + name)) {
    fs::remove_all(folder_);
    fs::copy(recording_folder(name), folder_);
  }
  ~Copy() { fs::remove_all(folder_); }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  [[nodiscard]] const fs::path& folder() const { return folder_; }
  void edit(const std::function<void(nlohmann::json&)>& change) const {
    auto document = nlohmann::json::parse(std::ifstream(folder_ / "reference.json"));
    change(document);
    std::ofstream(folder_ / "reference.json") << document;
  }
  /// Changes values and, if `listed`, what reference.json says about them.
  void edit_tensors(const std::function<void(Tensors&)>& change, bool listed = true) const {
    Tensors tensors;
    const auto file = lockstep::SafetensorsFile::open(folder_ / "reference.safetensors");
    for (const auto& name : file.names()) tensors.emplace(name, file.at(name));
    change(tensors);
    if (listed) {
      edit([&](nlohmann::json& document) {
        for (const auto& [name, tensor] : tensors) {
          document["tensors"][name] = {
              {"dtype", name_of(tensor.dtype())}, {"shape", tensor.sizes()}, {"sha256", sha256_of(tensor)}};
        }
      });
    }
    lockstep::write_safetensors(folder_ / "reference.safetensors", {tensors.begin(), tensors.end()});
  }

 private:
  fs::path folder_;
};

/// With the lowest bit of one byte flipped.
inline Tensor flipped(const Tensor& tensor, std::size_t byte) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.numel()) * element_size(tensor.dtype()));
  std::memcpy(bytes.data(), tensor.contiguous().data(), bytes.size());
  bytes[byte] ^= std::byte{1};
  return Tensor::copy_of(bytes, tensor.dtype(), tensor.sizes());
}

}  // namespace gemma4::test
