#include "checkpoint/checkpoint.hpp"

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>
#include <lockstep/safetensors.hpp>

#include "checkpoint/inventory.hpp"

namespace gemma4 {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& file) {
  std::error_code error;
  return fs::exists(file, error);
}

fs::path weights_file(const fs::path& folder) {
  for (const auto* name : {"model.safetensors", "model.safetensors.index.json"}) {
    if (is_there(folder / name)) return folder / name;
  }
  throw lockstep::Error{
      fmt::format("{} has no weights, expected model.safetensors or model.safetensors.index.json", folder.string()),
      "download the checkpoint's safetensors files into the folder"};
}

void require_file(const fs::path& file, std::string_view what) {
  if (is_there(file)) return;
  throw lockstep::Error{fmt::format("{} does not exist, expected {}", file.string(), what),
                        "download all files of the checkpoint into one folder"};
}

/// Newer repositories have it inside processor_config.json.
fs::path image_processor_file(const fs::path& folder) {
  const auto older = folder / "preprocessor_config.json";
  auto file = folder / "processor_config.json";
  if (!is_there(file) && is_there(older)) return older;
  require_file(file, "the processor's settings");
  return file;
}

/// "2.49 M": three digits that count.
std::string short_number(std::int64_t value) {
  struct Unit {
    double size;
    std::string_view name;
  };
  for (const auto& unit : {Unit{1e9, "B"}, Unit{1e6, "M"}, Unit{1e3, "K"}}) {
    const auto scaled = static_cast<double>(value) / unit.size;
    // The largest unit in which rounding to three digits does not give "1000".
    if (scaled < 0.9995) continue;
    const int decimals = scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0;
    return fmt::format("{:.{}f} {}", scaled, decimals, unit.name);
  }
  return std::to_string(value);
}

}  // namespace

Checkpoint Checkpoint::open(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    throw lockstep::Error{fmt::format("{} is not a folder", folder.string()),
                          "give the folder that holds the checkpoint's config.json and weights"};
  }
  Checkpoint result;
  result.folder_ = folder;
  const auto canonical = fs::weakly_canonical(folder, error);
  result.name_ = (canonical.empty() ? folder : canonical).filename().string();
  result.config_ = read_config(folder / "config.json");
  result.generation_ = read_generation_config(folder / "generation_config.json", result.config_);
  require_file(result.tokenizer_file(), "the tokenizer");
  if (const auto& vision = result.config_.vision) {
    result.image_processor_ = read_image_processor_config(image_processor_file(folder), *vision);
  }

  const auto file = lockstep::SafetensorsFile::open(weights_file(folder));
  const auto expected = expected_tensors(result.config_);
  check_tensors(file, expected, result.config_);
  for (const auto& [name, shape] : expected) {
    const auto& tensor = file.at(name);
    result.parameter_count_ += tensor.numel();
    result.weights_.emplace(name, tensor);
  }
  result.ignored_count_ = std::ssize(file.names()) - std::ssize(expected);
  return result;
}

const lockstep::Tensor& Checkpoint::weight(std::string_view name) const {
  const auto it = weights_.find(name);
  if (it == weights_.end()) throw lockstep::Error{fmt::format("{}: the model has no weight '{}'", name_, name)};
  return it->second;
}

std::string summary_of(const Checkpoint& checkpoint) {
  auto text =
      fmt::format("{} tensors, {} parameters", checkpoint.tensor_count(), short_number(checkpoint.parameter_count()));
  if (checkpoint.ignored_count() > 0) text += fmt::format(", {} tensors ignored", checkpoint.ignored_count());
  return text;
}

}  // namespace gemma4
