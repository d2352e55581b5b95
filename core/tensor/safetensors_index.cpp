#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <lockstep/diagnostic.hpp>

#include "tensor/mapped_file.hpp"
#include "tensor/safetensors_contents.hpp"
#include "tensor/safetensors_header.hpp"

// The index of a sharded checkpoint, as transformers writes it:
// {"metadata": {…}, "weight_map": {"tensor name": "file beside the index", …}}

namespace lockstep {
namespace {

using nlohmann::json;
using safetensors::in_quotes;

/// Tensor name to shard file. nlohmann keeps the last of duplicate keys, so they are counted while parsing.
std::map<std::string, std::string> read_weight_map(std::string_view text, const std::string& file) {
  const auto fail = [&](const std::string& message) { throw Error{fmt::format("{}: {}", file, message)}; };
  std::vector<std::set<std::string>> open_objects;
  std::optional<std::string> twice;
  const auto watch = [&](int /*depth*/, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::object_start) open_objects.emplace_back();
    if (event == json::parse_event_t::object_end) open_objects.pop_back();
    if (event == json::parse_event_t::key && !open_objects.back().insert(value.get<std::string>()).second)
      twice = value.get<std::string>();
    return true;
  };
  json document;
  try {
    document = json::parse(text, watch);
  } catch (const json::parse_error& error) {
    fail(fmt::format("the index is not valid JSON at byte {}", error.byte));
  } catch (const json::out_of_range&) {
    fail("the index holds a number that is too large");
  }
  if (twice) fail(fmt::format("the key {} appears twice in one object", in_quotes(*twice)));
  if (!document.is_object() || !document.contains("weight_map") || !document["weight_map"].is_object())
    fail("expected an object with an object \"weight_map\" of tensor names and their files");
  std::map<std::string, std::string> map;
  for (const auto& [name, shard] : document["weight_map"].items()) {
    if (!shard.is_string())
      fail(fmt::format("weight_map {}: found a value of type {}, expected a file name", in_quotes(name),
                       shard.type_name()));
    map.emplace(name, shard.get<std::string>());
  }
  if (map.empty()) fail("weight_map is empty, expected tensor names and their files");
  return map;
}

/// Shards lie beside the index or below it.
bool stays_inside(const std::filesystem::path& shard) {
  if (shard.empty() || shard.is_absolute()) return false;
  for (const auto& part : shard)
    if (part == "..") return false;
  return true;
}

}  // namespace

SafetensorsFile::Contents SafetensorsFile::Contents::read_sharded(const std::filesystem::path& index) {
  const std::string file = index.string();
  auto map = read_weight_map(MappedFile::open(index)->bytes(), file);
  std::set<std::string> shards;
  for (auto& [name, shard] : map) {
    if (!stays_inside(shard))
      throw Error{
          fmt::format("{}: weight_map {}: {} leads out of the checkpoint's folder, expected a file beside the index",
                      file, in_quotes(name), in_quotes(shard))};
    shard = std::filesystem::path(shard).lexically_normal();
    shards.insert(shard);
  }

  Contents all;
  all.path = index;
  std::map<std::string, std::string> found_in;
  for (const auto& shard : shards) {
    const auto path = index.parent_path() / shard;
    std::error_code ignored;  // a name that no file can have: too long, for one
    if (!std::filesystem::exists(path, ignored))
      throw Error{fmt::format("{}: the shard {} is missing", file, in_quotes(shard)),
                  "fetch all files of the checkpoint"};
    const auto mapped = MappedFile::open(path);
    auto part = read(mapped, mapped->bytes(), path);
    for (std::size_t i = 0; i < part.names.size(); ++i) {
      const auto& name = part.names[i];
      const auto [place, is_new] = found_in.emplace(name, shard);
      if (!is_new)
        throw Error{fmt::format("{}: tensor {} is in two shards, {} and {}", file, in_quotes(name),
                                in_quotes(place->second), in_quotes(shard))};
      all.add(name, part.tensors[i]);
    }
    all.metadata.merge(part.metadata);
  }

  for (const auto& [name, shard] : map) {
    const auto found = found_in.find(name);
    if (found == found_in.end())
      throw Error{
          fmt::format("{}: tensor {} is in no shard, expected it in {}", file, in_quotes(name), in_quotes(shard))};
    if (found->second != shard)
      throw Error{fmt::format("{}: tensor {} is in {}, the index says {}", file, in_quotes(name),
                              in_quotes(found->second), in_quotes(shard))};
  }
  for (const auto& [name, shard] : found_in)
    if (!map.contains(name))
      throw Error{fmt::format("{}: tensor {} of {} is not in weight_map", file, in_quotes(name), in_quotes(shard))};
  return all;
}

}  // namespace lockstep
