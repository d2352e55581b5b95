#pragma once

#include <filesystem>

namespace common {

/// A new folder for the files that a command reads and writes; removed with all that is in it.
class ExchangeFolder {
 public:
  /// Throws lockstep::Error if it cannot be made.
  ExchangeFolder();
  ~ExchangeFolder();
  ExchangeFolder(const ExchangeFolder&) = delete;
  ExchangeFolder& operator=(const ExchangeFolder&) = delete;

  [[nodiscard]] std::filesystem::path inputs() const { return path_ / "inputs.safetensors"; }
  [[nodiscard]] std::filesystem::path outputs() const { return path_ / "outputs.safetensors"; }

 private:
  std::filesystem::path path_;
};

}  // namespace common
