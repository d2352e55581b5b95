#include "checkpoint_folder.hpp"

#include <fstream>
#include <lockstep/diagnostic.hpp>
#include <lockstep/safetensors.hpp>

namespace fs = std::filesystem;

fs::path CheckpointFolder::shapes() { return fs::path(LOCKSTEP_SOURCE_DIR) / "pipelines/data/shapes-gemma4"; }
fs::path CheckpointFolder::irregular() { return fs::path(LOCKSTEP_TEST_DATA) / "irregular-gemma4"; }

CheckpointFolder::CheckpointFolder(const fs::path& original) {
  for (const auto& entry : fs::directory_iterator(original)) {
    fs::create_symlink(fs::absolute(entry.path()), folder_ / entry.path().filename());
  }
}

void CheckpointFolder::remove(const std::string& file) const { fs::remove(folder_ / file); }

void CheckpointFolder::write(const std::string& file, const std::string& text) const {
  fs::remove(folder_ / file);
  std::ofstream(folder_ / file, std::ios::binary) << text;
}

void CheckpointFolder::edit_json(const std::string& file, const std::function<void(nlohmann::json&)>& edit) const {
  std::ifstream stream(folder_ / file);
  auto json = nlohmann::json::parse(stream);
  edit(json);
  write(file, json.dump(1));
}

void CheckpointFolder::edit_tensors(const std::function<void(Tensors&)>& edit) const {
  const auto file = lockstep::SafetensorsFile::open(folder_ / "model.safetensors");
  Tensors tensors;
  for (const auto& name : file.names()) tensors.emplace_back(name, file.at(name));
  edit(tensors);
  fs::remove(folder_ / "model.safetensors");
  lockstep::write_safetensors(folder_ / "model.safetensors", tensors);
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const lockstep::Error& error) {
    return error.what();
  }
  return {};
}
