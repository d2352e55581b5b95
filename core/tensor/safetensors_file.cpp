#include <utility>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

#include "tensor/mapped_file.hpp"
#include "tensor/safetensors_contents.hpp"
#include "tensor/safetensors_header.hpp"

namespace lockstep {

bool SafetensorsFile::Contents::add(std::string name, Tensor tensor) {
  if (!index.emplace(name, names.size()).second) return false;
  names.push_back(std::move(name));
  tensors.push_back(std::move(tensor));
  return true;
}

SafetensorsFile::Contents SafetensorsFile::Contents::read(std::shared_ptr<const void> owner, std::string_view bytes,
                                                          std::filesystem::path path) {
  auto header = safetensors::read_header(bytes, path.string());
  Contents contents;
  contents.path = std::move(path);
  contents.metadata = std::move(header.metadata);
  contents.names.reserve(header.entries.size());
  contents.tensors.reserve(header.entries.size());
  contents.index.reserve(header.entries.size());
  for (auto& entry : header.entries) {
    if (entry.name.starts_with(safetensors::padding_prefix)) continue;
    const void* const data = bytes.data() + header.data_start + entry.begin;
    contents.add(std::move(entry.name), Tensor(owner, data, entry.dtype, std::move(entry.shape)));
  }
  return contents;
}

SafetensorsFile SafetensorsFile::open(const std::filesystem::path& path) {
  if (path.filename().string().ends_with(".index.json"))
    return SafetensorsFile(std::make_shared<const Contents>(Contents::read_sharded(path)));
  const auto file = MappedFile::open(path);
  return SafetensorsFile(std::make_shared<const Contents>(Contents::read(file, file->bytes(), path)));
}

SafetensorsFile SafetensorsFile::from_memory(std::shared_ptr<const void> owner, std::string_view bytes,
                                             std::string name) {
  return SafetensorsFile(std::make_shared<const Contents>(Contents::read(std::move(owner), bytes, std::move(name))));
}

SafetensorsFile::SafetensorsFile(std::shared_ptr<const Contents> contents) : contents_(std::move(contents)) {}

const std::filesystem::path& SafetensorsFile::path() const noexcept { return contents_->path; }
const std::vector<std::string>& SafetensorsFile::names() const noexcept { return contents_->names; }
const std::map<std::string, std::string>& SafetensorsFile::metadata() const noexcept { return contents_->metadata; }

bool SafetensorsFile::contains(std::string_view name) const noexcept {
  return contents_->index.contains(std::string(name));
}

const Tensor& SafetensorsFile::at(std::string_view name) const {
  const auto found = contents_->index.find(std::string(name));
  if (found != contents_->index.end()) return contents_->tensors[found->second];
  throw Error{
      Diagnostic{.message = fmt::format("{}: there is no tensor {}", path().string(), safetensors::in_quotes(name)),
                 .did_you_mean = did_you_mean(name, names())}};
}

}  // namespace lockstep
