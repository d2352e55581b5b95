#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <lockstep/diagnostic.hpp>

#include "processor/json_file.hpp"
#include "processor/tables.hpp"

namespace gemma4 {
namespace {

using lockstep::Error;
using nlohmann::json;

constexpr std::uintmax_t largest_config = 64u << 20;

/// The content of a token that is written as a text or as a serialized AddedToken.
std::string content_of(const json& value, const std::string& file, std::string_view key) {
  const auto& content = value.is_object() && value.contains("content") ? value.at("content") : value;
  if (content.is_string() && content != "") return content.get<std::string>();
  throw Error{fmt::format("{}: {} is {}, expected a token", file, key, shown(value))};
}

/// Makes a token special; one that only the vocabulary knows becomes an added token.
void make_special(Tokenizer::Tables& tables, const std::string& content, const std::string& file,
                  std::string_view key) {
  const auto same = [&](const AddedToken& token) { return token.content == content; };
  if (const auto found = std::find_if(tables.added.begin(), tables.added.end(), same); found != tables.added.end()) {
    found->special = true;
    return;
  }
  const auto id = tables.find(content);
  if (!id) {
    throw Error{fmt::format("{}: {} is {}, which {} does not have", file, key, in_quotes(content),
                            tables.file.filename().string()),
                "use the tokenizer_config.json that came with this tokenizer.json"};
  }
  tables.added.push_back({.content = content, .id = *id, .special = true});
}

void read_named_tokens(const json& config, const std::string& file, Tokenizer::Tables& tables) {
  // transformers' GemmaTokenizer has these even where the file does not name them.
  constexpr std::array<std::pair<const char*, const char*>, 5> defaults{{{"unk_token", "<unk>"},
                                                                         {"bos_token", "<bos>"},
                                                                         {"eos_token", "<eos>"},
                                                                         {"pad_token", "<pad>"},
                                                                         {"mask_token", "<mask>"}}};
  for (const auto& [key, content] : defaults) {
    if (!config.contains(key) && tables.find(content)) make_special(tables, content, file, key);
  }
  for (const auto& [key, value] : config.items()) {
    if (key.ends_with("_token") && (value.is_string() || value.is_object())) {
      make_special(tables, content_of(value, file, key), file, key);
    }
    if (key != "extra_special_tokens" && key != "additional_special_tokens") continue;
    if (!value.is_array() && !value.is_object() && !value.is_null()) {
      throw Error{fmt::format("{}: {} is {}, expected a list of tokens or named tokens", file, key, shown(value))};
    }
    for (const auto& token : value) make_special(tables, content_of(token, file, key), file, key);
  }
}

/// Older files repeat the added tokens of tokenizer.json here, and transformers then takes these. They must agree.
void check_added_tokens(const json& config, const std::string& file, const Tokenizer::Tables& tables) {
  const auto found = config.find("added_tokens_decoder");
  if (found == config.end()) return;
  if (!found->is_object() || found->size() != tables.added.size()) {
    throw Error{fmt::format("{}: added_tokens_decoder has {} tokens, but {} has {}", file, found->size(),
                            tables.file.filename().string(), tables.added.size()),
                "the two files must come from the same checkpoint"};
  }
  for (const auto& token : tables.added) {
    const json expected = {{"content", token.content}, {"lstrip", token.lstrip}, {"normalized", token.normalized},
                           {"rstrip", token.rstrip},   {"single_word", false},   {"special", token.special}};
    const auto entry = found->find(std::to_string(token.id));
    if (entry != found->end() && *entry == expected) continue;
    throw Error{fmt::format("{}: added_tokens_decoder[\"{}\"] is {}, but {} has {}", file, token.id,
                            entry == found->end() ? "missing" : shown(*entry), tables.file.filename().string(),
                            shown(expected)),
                "the two files must come from the same checkpoint"};
  }
}

/// `add_bos_token` and `add_eos_token`, where given, replace the post-processor of tokenizer.json.
void read_template(const json& config, const std::string& file, Tokenizer::Tables& tables) {
  const auto wanted = [&](const char* key) {
    if (!config.contains(key)) return false;
    if (!config.at(key).is_boolean()) {
      throw Error{fmt::format("{}: {} is {}, expected true or false", file, key, shown(config.at(key)))};
    }
    return config.at(key).get<bool>();
  };
  if (!config.contains("add_bos_token") && !config.contains("add_eos_token")) return;
  const auto id = [&](const char* key, const char* standard) {
    const auto content = config.contains(key) ? content_of(config.at(key), file, key) : standard;
    if (const auto known = tables.find(content)) return std::vector<std::int64_t>{*known};
    throw Error{fmt::format("{}: add_{} is true, but there is no token {}", file, key, in_quotes(content))};
  };
  tables.before = wanted("add_bos_token") ? id("bos_token", "<bos>") : std::vector<std::int64_t>{};
  tables.after = wanted("add_eos_token") ? id("eos_token", "<eos>") : std::vector<std::int64_t>{};
}

}  // namespace

void apply_tokenizer_config(Tokenizer::Tables& tables, const std::filesystem::path& tokenizer_config_json) {
  const auto file = tokenizer_config_json.string();
  const auto config = read_json(tokenizer_config_json, largest_config);
  if (!config.is_object()) throw Error{fmt::format("{}: the document is {}, expected an object", file, shown(config))};
  if (const auto split = config.find("split_special_tokens"); split != config.end() && *split == true) {
    throw Error{fmt::format("{}: split_special_tokens is true, expected false", file)};
  }
  check_added_tokens(config, file, tables);
  read_named_tokens(config, file, tables);
  read_template(config, file, tables);
}

}  // namespace gemma4
