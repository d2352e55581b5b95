#include "runtime/runtime_dump.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>
#include <lockstep/safetensors.hpp>

#include "runtime/stages.hpp"

namespace gemma4 {

using lockstep::Error;
using lockstep::Tensor;

RuntimeDump RuntimeDump::open(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".safetensors") files.push_back(entry.path());
  }
  if (files.empty()) {
    throw Error{fmt::format("{}: has no safetensors file", folder.string()),
                "give the folder that 'lockstep run --dump' wrote, or one with tensors of your own"};
  }
  std::ranges::sort(files);
  RuntimeDump dump;
  dump.folder_ = folder;
  for (const auto& path : files) {
    const auto file = lockstep::SafetensorsFile::open(path);
    const auto stem = path.stem().string();
    const bool of_one_stage = std::ranges::find(stage_names, stem) != stage_names.end();
    for (const auto& name : file.names()) {
      const auto full = of_one_stage && !name.starts_with(stem + ".") ? stem + "." + name : name;
      if (!dump.tensors_.try_emplace(full, file.at(name)).second) {
        throw Error{fmt::format("{}: {} is in another file of the folder as well", path.string(), full),
                    "keep one of them"};
      }
    }
  }
  return dump;
}

std::optional<Tensor> RuntimeDump::find(std::string_view name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? std::nullopt : std::optional(found->second);
}

std::string RuntimeDump::nearest(std::string_view name) const {
  std::vector<std::string> names;
  for (const auto& [known, tensor] : tensors_) names.push_back(known);
  return lockstep::did_you_mean(name, names);
}

void RuntimeDump::show(std::string_view stage, const lockstep::TensorVisitor& visit) const {
  if (!visit) return;
  const auto prefix = std::string(stage) + ".";
  for (const auto& [name, tensor] : tensors_) {
    if (name.starts_with(prefix)) visit(std::string_view(name).substr(prefix.size()), tensor);
  }
}

}  // namespace gemma4
