#include "runtime/processor_settings.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <lockstep/diagnostic.hpp>

namespace gemma4 {
namespace {

using nlohmann::json;

/// An empty object if there is no such file.
json read_object(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) return json::object();
  auto document = json::parse(stream, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) {
    throw lockstep::Error{fmt::format("{}: not a JSON object", file.string()), "restore the checkpoint's file"};
  }
  return document;
}

/// The value of `key`; none if it is absent or null.
template <class T>
std::optional<T> value_of(const json& object, const char* key, const std::filesystem::path& file) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::nullopt;
  constexpr bool boolean = std::is_same_v<T, bool>;
  if (boolean ? !found->is_boolean() : !found->is_number_integer()) {
    throw lockstep::Error{fmt::format("{}: {} is {}, expected {}", file.string(), key, found->dump(),
                                      boolean ? "true or false" : "an integer"),
                          "correct the checkpoint's file"};
  }
  return found->get<T>();
}

}  // namespace

std::optional<VisionGeometry> vision_geometry_of(const Checkpoint& checkpoint) {
  const auto& vision = checkpoint.config().vision;
  if (!vision) return std::nullopt;
  return VisionGeometry{.patch_size = vision->patch_size,
                        .pooling_kernel_size = vision->pooling_kernel_size,
                        .default_output_length = vision->default_output_length};
}

ProcessorSettings processor_settings_of(const Checkpoint& checkpoint) {
  ProcessorSettings settings;
  const auto tokenizer = checkpoint.tokenizer_config_file();
  settings.tokenizer_add_bos_token = value_of<bool>(read_object(tokenizer), "add_bos_token", tokenizer);
  if (const auto& images = checkpoint.image_processor()) {
    settings.image_processor = {.patch_size = images->patch_size,
                                .pooling_kernel_size = images->pooling_kernel_size,
                                .max_soft_tokens = images->max_soft_tokens};
  }
  const auto processor = checkpoint.folder() / "processor_config.json";
  settings.image_seq_length = value_of<std::int64_t>(read_object(processor), "image_seq_length", processor);
  return settings;
}

}  // namespace gemma4
