#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include <lockstep/tensor.hpp>

#include "temporary_folder.hpp"

/// A temporary copy of the shapes checkpoint that a test may damage. Files are links to the originals until replaced.
class CheckpointFolder {
 public:
  explicit CheckpointFolder(const std::filesystem::path& original = shapes());

  static std::filesystem::path shapes();
  static std::filesystem::path irregular();

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return folder_.path(); }
  void remove(const std::string& file) const;
  void write(const std::string& file, const std::string& text) const;
  void edit_json(const std::string& file, const std::function<void(nlohmann::json&)>& edit) const;

  using Tensors = std::vector<std::pair<std::string, lockstep::Tensor>>;
  void edit_tensors(const std::function<void(Tensors&)>& edit) const;

 private:
  TemporaryFolder folder_;
};

/// The message of the lockstep::Error that `action` throws; "" if it throws none. Other exceptions pass.
std::string error_of(const std::function<void()>& action);
