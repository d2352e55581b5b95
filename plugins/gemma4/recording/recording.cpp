#include "recording/recording.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <lockstep/diagnostic.hpp>
#include <nlohmann/json.hpp>

#include "processor/json_file.hpp"

namespace gemma4 {
namespace {

using lockstep::Error;
using Json = nlohmann::json;

constexpr std::uintmax_t largest_document = 256 << 20;
constexpr std::int64_t most_steps = 1 << 20;

/// A member, or an Error that names its place.
template <class T>
T member(const Json& object, const std::string& file, std::string_view group, std::string_view key) {
  const auto place = group.empty() ? std::string(key) : fmt::format("{}.{}", group, key);
  const auto found = object.find(key);
  if (!object.is_object() || found == object.end()) {
    throw Error{fmt::format("{}: has no '{}'", file, place), "record again with tools/record_hf.py"};
  }
  try {
    return found->template get<T>();
  } catch (const Json::exception&) {
    throw Error{fmt::format("{}: '{}' is {}, expected another type", file, place, shown(*found)),
                "record again with tools/record_hf.py"};
  }
}

template <class T>
std::optional<T> optional_member(const Json& object, const std::string& file, std::string_view group,
                                 std::string_view key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::nullopt;
  return member<T>(object, file, group, key);
}

Fingerprint read_fingerprint(const Json& environment, const std::string& file) {
  const auto text = [&](std::string_view key) { return member<std::string>(environment, file, "environment", key); };
  const auto torch = text("torch");
  const auto threads = member<std::int64_t>(environment, file, "environment", "threads");
  if (threads < 1 || threads > 1024) {
    throw Error{fmt::format("{}: 'environment.threads' is {}, expected 1 to 1024", file, threads)};
  }
  return {.torch = torch.substr(0, torch.find('+')),
          .onednn = text("onednn"),
          .cpu = text("cpu"),
          .cpu_capability = text("cpu_capability"),
          .threads = threads};
}

lockstep::DType read_dtype(const Json& options, const std::string& file) {
  const auto name = member<std::string>(options, file, "options", "dtype");
  if (name == "bf16") return lockstep::DType::bfloat16;
  if (name == "fp32") return lockstep::DType::float32;
  throw Error{fmt::format("{}: 'options.dtype' is {}, expected \"bf16\" or \"fp32\"", file, in_quotes(name))};
}

std::int64_t read_steps(const Json& options, const std::string& file) {
  const auto steps = member<std::int64_t>(options, file, "options", "steps");
  if (steps < 0 || steps > most_steps) {
    throw Error{fmt::format("{}: 'options.steps' is {}, expected 0 to {}", file, steps, most_steps)};
  }
  return steps;
}

RecordedInputs read_inputs(const Json& inputs, const std::string& file) {
  using Texts = std::vector<std::string>;
  RecordedInputs read{.chat = member<std::string>(inputs, file, "inputs", "mode") == "chat",
                      .system = optional_member<std::string>(inputs, file, "inputs", "system"),
                      .messages = member<Texts>(inputs, file, "inputs", "messages"),
                      .texts = member<Texts>(inputs, file, "inputs", "texts"),
                      .images = {}};
  for (const auto& image : member<Json::array_t>(inputs, file, "inputs", "images")) {
    read.images.push_back({member<std::string>(image, file, "inputs.images", "name"),
                           member<std::string>(image, file, "inputs.images", "sha256")});
  }
  if (read.texts.empty() || read.messages.size() != read.texts.size()) {
    throw Error{fmt::format("{}: 'inputs' has {} messages and {} texts, expected as many, at least one", file,
                            read.messages.size(), read.texts.size())};
  }
  return read;
}

/// Rows first to last, both included, of the last axis but one.
lockstep::Tensor rows(const lockstep::Tensor& whole, std::int64_t first, std::int64_t last) {
  const auto axis = static_cast<std::size_t>(whole.dim() - 2);
  auto sizes = whole.sizes();
  sizes[axis] = last - first + 1;
  const auto offset = first * whole.strides()[axis] * static_cast<std::int64_t>(element_size(whole.dtype()));
  return {whole.owner(), whole.data() + offset, whole.dtype(), sizes, whole.strides()};
}

}  // namespace

Recording Recording::open(const std::filesystem::path& folder) {
  const auto path = folder / "reference.json";
  const auto file = path.string();
  if (!std::filesystem::exists(path)) {
    throw Error{fmt::format("{}: no such file", file), "a recording is a folder that tools/record_hf.py wrote"};
  }
  const auto document = read_json(path, largest_document);
  if (const auto format = member<std::int64_t>(document, file, "", "format"); format != 1) {
    throw Error{fmt::format("{}: 'format' is {}, expected 1", file, format)};
  }
  const auto group = [&](std::string_view key) { return member<Json::object_t>(document, file, "", key); };
  const Json options = group("options");

  Recording read;
  read.folder_ = folder;
  read.fingerprint_ = read_fingerprint(group("environment"), file);
  read.dtype_ = read_dtype(options, file);
  read.attention_ = member<std::string>(options, file, "options", "attn_implementation");
  read.cast_pixels_ = member<bool>(options, file, "options", "cast_pixels");
  read.soft_tokens_ = optional_member<std::int64_t>(options, file, "options", "soft_tokens");
  read.steps_ = read_steps(options, file);
  read.all_logits_ = member<bool>(options, file, "options", "all_logits");
  read.inputs_ = read_inputs(group("inputs"), file);
  read.checkpoint_files_ =
      member<std::map<std::string, std::string>>(group("checkpoint"), file, "checkpoint", "sha256");
  for (const auto& [name, note] : group("notes")) read.notes_[name] = note.is_string() ? note.get<std::string>() : "";
  for (const auto& [name, entry] : group("tensors")) {
    const auto where = "tensors." + name;
    read.tensors_[name] = {member<std::string>(entry, file, where, "dtype"),
                           member<std::vector<std::int64_t>>(entry, file, where, "shape"),
                           member<std::string>(entry, file, where, "sha256")};
  }
  if (const auto values = folder / "reference.safetensors"; std::filesystem::exists(values)) {
    read.file_ = lockstep::SafetensorsFile::open(values);
    for (const auto& name : read.file_->names()) {
      const auto& tensor = read.file_->at(name);
      read.tensors_.try_emplace(name, RecordedTensor{std::string(name_of(tensor.dtype())), tensor.sizes(), ""});
    }
  }
  return read;
}

std::optional<lockstep::Tensor> Recording::values(std::string_view name) const {
  if (!file_ || !file_->contains(name)) return std::nullopt;
  return file_->at(name);
}

std::optional<std::string> Recording::damage(std::string_view name) const {
  const auto found = values(name);
  const auto listed = tensors_.find(name);
  if (!found || listed == tensors_.end() || listed->second.sha256.empty()) return std::nullopt;
  const auto& entry = listed->second;
  if (name_of(found->dtype()) != entry.dtype || found->sizes() != entry.shape) {
    return fmt::format("the recording is damaged: reference.safetensors has {} as {}, reference.json as {} {}", name,
                       found->to_string(), entry.dtype, lockstep::shape_text(entry.shape));
  }
  if (const auto hash = sha256_of(*found); hash != entry.sha256) {
    return fmt::format("the recording is damaged: {} in reference.safetensors has sha256 {}, reference.json says {}",
                       name, hash, entry.sha256);
  }
  return std::nullopt;
}

lockstep::Tensor Recording::kept_part(std::string_view name, const lockstep::Tensor& whole) const {
  if (whole.dim() < 2) return whole;
  if (!all_logits_ && (name == "logits_raw" || name == "logits_capped"))
    return rows(whole, whole.size(-2) - 1, whole.size(-2) - 1);
  const auto note = notes_.find(name);
  if (note == notes_.end()) return whole;
  std::int64_t first = 0, last = 0;
  if (std::sscanf(note->second.c_str(), "query rows %ld..%ld of", &first, &last) != 2) {
    if (std::sscanf(note->second.c_str(), "query row %ld", &first) != 1) return whole;
    last = first;
  }
  last = std::min(last, whole.size(-2) - 1);  // fewer rows than the recorder would have kept
  return first < 0 || first > last ? whole : rows(whole, first, last);
}

std::string sha256_of(const lockstep::Tensor& tensor) {
  const auto dense = tensor.contiguous();
  return lockstep::sha256(
      std::span(dense.data(), static_cast<std::size_t>(dense.numel()) * element_size(dense.dtype())));
}

}  // namespace gemma4
