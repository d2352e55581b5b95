#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <lockstep/tensor.hpp>

namespace lockstep::test {

inline Tensor floats(const std::vector<float>& values) {
  return Tensor::copy_of(std::span<const float>(values), {static_cast<std::int64_t>(values.size())});
}
inline std::vector<float> values_of(const Tensor& tensor) {
  const auto dense = tensor.contiguous();
  const auto values = dense.values<float>();
  return {values.begin(), values.end()};
}

inline std::shared_ptr<const NamedTensors> set_of(NamedTensors::Entries entries) {
  return std::make_shared<const NamedTensors>(std::move(entries));
}

/// A folder of its own for one test.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "lockstep-common-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace lockstep::test
