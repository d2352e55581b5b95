#include "processor/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <lockstep/diagnostic.hpp>

#include "processor/json_file.hpp"
#include "processor/tokenizer_json.hpp"

namespace gemma4 {
namespace {

using lockstep::Error;
using nlohmann::json;

constexpr auto what_is_supported =
    "only byte-fallback BPE tokenizers as the Gemma family has them are supported; use the checkpoint's own file";

/// The fields of one JSON object, with errors that name file and field.
class Fields {
 public:
  Fields(const std::string& file, std::string name, const json& object)
      : file_(file), name_(std::move(name)), object_(object) {
    if (!object.is_object()) refuse("", object, "an object");
  }

  [[nodiscard]] const json& required(const char* key) const {
    if (const auto found = object_.find(key); found != object_.end()) return *found;
    throw Error{fmt::format("{}: {} is missing", file_, path(key))};
  }

  /// Null where the key is absent.
  [[nodiscard]] const json& optional(const char* key) const {
    static const json null;
    const auto found = object_.find(key);
    return found == object_.end() ? null : *found;
  }

  [[nodiscard]] bool flag(const char* key) const {
    const auto& value = required(key);
    if (!value.is_boolean()) refuse(key, value, "true or false");
    return value.get<bool>();
  }

  [[nodiscard]] bool flag_or_false(const char* key) const { return object_.contains(key) && flag(key); }

  [[nodiscard]] const std::string& text(const char* key) const {
    const auto& value = required(key);
    if (!value.is_string()) refuse(key, value, "a text");
    return value.get_ref<const std::string&>();
  }

  [[nodiscard]] std::uint32_t id(const char* key) const {
    const auto& value = required(key);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > largest_token_id) {
      refuse(key, value, fmt::format("an integer from 0 to {}", largest_token_id));
    }
    return value.get<std::uint32_t>();
  }

  void only(std::initializer_list<std::string_view> known) const {
    for (const auto& [key, value] : object_.items()) {
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        throw Error{fmt::format("{}: unknown key {}", file_, path(in_quotes(key))), what_is_supported};
      }
    }
  }

  [[noreturn]] void refuse(std::string_view key, const json& found, std::string_view expected) const {
    throw Error{fmt::format("{}: {} is {}, expected {}", file_, path(key), shown(found), expected), what_is_supported};
  }

 private:
  [[nodiscard]] std::string path(std::string_view key) const {
    if (key.empty()) return name_.empty() ? "the document" : name_;
    return name_.empty() ? std::string{key} : fmt::format("{}.{}", name_, key);
  }

  const std::string& file_;
  std::string name_;
  const json& object_;
};

void check_fixed_parts(const Fields& top) {
  static const auto normalizer = json::parse(R"({"type":"Replace","pattern":{"String":" "},"content":"▁"})");
  static const auto pre_tokenizer =
      json::parse(R"({"type":"Split","pattern":{"String":" "},"behavior":"MergedWithPrevious","invert":false})");
  static const auto decoder =
      json::parse(R"({"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"▁"},"content":" "},)"
                  R"({"type":"ByteFallback"},{"type":"Fuse"}]})");
  const auto check = [&](const char* key, const json& expected) {
    if (top.required(key) != expected) top.refuse(key, top.required(key), expected.dump());
  };
  if (const auto& version = top.optional("version"); !version.is_null() && version != "1.0") {
    top.refuse("version", version, "\"1.0\"");
  }
  check("normalizer", normalizer);
  check("decoder", decoder);
  // The normalizer has left no space, so that the pre-tokenizer of the family never splits: none does the same.
  if (!top.optional("pre_tokenizer").is_null()) check("pre_tokenizer", pre_tokenizer);
}

void read_merges(const MergeList& list, const std::string& file, BpeModel& model) {
  model.merges = MergeTable{list.size()};
  std::uint32_t rank = 0;
  list.for_each([&](std::string_view left, std::string_view right, std::string_view joined) {
    const auto id = [&](std::string_view piece) {
      if (const auto found = model.vocabulary.find(piece)) return *found;
      throw Error{fmt::format("{}: model.merges[{}] joins {} and {}, but {} is not in model.vocab", file, rank,
                              in_quotes(left), in_quotes(right), in_quotes(piece))};
    };
    const auto joined_id = id(joined);
    model.merges.set(id(left), id(right), {rank, joined_id});
    ++rank;
  });
}

BpeModel read_model(TokenizerJson& parts, const std::string& file) {
  const Fields fields{file, "model", parts.document.at("model")};
  if (fields.text("type") != "BPE") fields.refuse("type", fields.required("type"), "\"BPE\"");
  fields.only({"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk",
               "byte_fallback", "ignore_merges", "vocab", "merges"});
  if (!fields.required("vocab").is_object()) fields.refuse("vocab", fields.required("vocab"), "an object");
  if (!fields.required("merges").is_array()) fields.refuse("merges", fields.required("merges"), "a list");
  if (parts.vocabulary.size() == 0) fields.refuse("vocab", fields.required("vocab"), "at least one token");
  if (const auto& dropout = fields.optional("dropout"); !dropout.is_null() && dropout != 0.0) {
    fields.refuse("dropout", dropout, "null: with dropout the ids are random");
  }
  for (const auto* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (const auto& value = fields.optional(key); !value.is_null() && value != "") fields.refuse(key, value, "null");
  }

  BpeModel model;
  model.vocabulary = std::move(parts.vocabulary);
  model.fuse_unknown = fields.flag_or_false("fuse_unk");
  model.ignore_merges = fields.flag_or_false("ignore_merges");
  if (!fields.optional("unk_token").is_null()) {
    model.unknown_id = model.vocabulary.find(fields.text("unk_token"));
    if (!model.unknown_id) fields.refuse("unk_token", fields.required("unk_token"), "a token of model.vocab");
  }
  if (fields.flag_or_false("byte_fallback")) {
    for (unsigned byte = 0; byte < 256; ++byte)
      model.bytes.at(byte) = model.vocabulary.find(fmt::format("<0x{:02X}>", byte));
  }
  read_merges(parts.merges, file, model);
  return model;
}

void read_added_tokens(const json& list, Tokenizer::Tables& tables) {
  const auto file = tables.file.string();
  if (!list.is_array()) throw Error{fmt::format("{}: added_tokens is {}, expected a list", file, shown(list))};
  std::set<std::string_view> contents;
  // `tokenizers` counts on for tokens that the vocabulary lacks: a file that says otherwise means other ids there.
  auto next_id = static_cast<std::uint32_t>(tables.model.vocabulary.size());
  tables.added.reserve(list.size());
  for (const auto& entry : list) {
    const Fields fields{file, fmt::format("added_tokens[{}]", tables.added.size()), entry};
    fields.only({"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
    const auto& content = fields.text("content");
    const auto id = fields.id("id");
    if (content.empty()) fields.refuse("content", entry.at("content"), "at least one character");
    if (!contents.insert(content).second) {
      fields.refuse("content", entry.at("content"), "a token that the list does not have yet");
    }
    if (fields.flag("single_word")) fields.refuse("single_word", true, "false");
    const auto expected = tables.model.vocabulary.find(content).value_or(next_id);
    if (id != expected) fields.refuse("id", id, fmt::format("{}, the id of {}", expected, in_quotes(content)));
    if (!tables.model.vocabulary.find(content) &&
        (tables.model.vocabulary.token(id) || tables.outside.add(content, id) != Vocabulary::Added::yes)) {
      fields.refuse("id", id, fmt::format("an id of its own: {} has it", in_quotes(*tables.token(id))));
    }
    next_id = std::max(next_id, id + 1);
    tables.added.push_back(
        {content, id, fields.flag("special"), fields.flag("normalized"), fields.flag("lstrip"), fields.flag("rstrip")});
  }
}

void read_post_processor(const json& value, Tokenizer::Tables& tables) {
  if (value.is_null()) return;
  const auto file = tables.file.string();
  const Fields fields{file, "post_processor", value};
  if (fields.text("type") != "TemplateProcessing") {
    fields.refuse("type", value.at("type"), "\"TemplateProcessing\" (or no post_processor)");
  }
  const auto& single = fields.required("single");
  const auto& tokens = fields.required("special_tokens");
  if (!single.is_array()) fields.refuse("single", single, "a list");
  std::size_t texts = 0;
  for (const auto& item : single) {
    if (item.is_object() && item.size() == 1 && item.contains("Sequence")) {
      const Fields sequence{file, "post_processor.single.Sequence", item.at("Sequence")};
      if (sequence.text("id") != "A") sequence.refuse("id", item.at("Sequence").at("id"), "\"A\"");
      ++texts;
      continue;
    }
    if (!item.is_object() || item.size() != 1 || !item.contains("SpecialToken")) {
      fields.refuse("single", single, "a list of Sequence and SpecialToken");
    }
    const Fields token{file, "post_processor.single.SpecialToken", item.at("SpecialToken")};
    const Fields known{file, "post_processor.special_tokens", tokens};
    const Fields entry{file, "post_processor.special_tokens." + token.text("id"),
                       known.required(token.text("id").c_str())};
    const auto& ids = entry.required("ids");
    if (!ids.is_array()) entry.refuse("ids", ids, "a list of token ids");
    for (const auto& id : ids) {
      if (!id.is_number_unsigned() || id.get<std::uint64_t>() > largest_token_id ||
          !tables.token(id.get<std::uint32_t>())) {
        entry.refuse("ids", ids, "a list of token ids");
      }
      (texts == 0 ? tables.before : tables.after).push_back(id.get<std::int64_t>());
    }
  }
  if (texts != 1) fields.refuse("single", single, "the text (Sequence A) exactly once");
}

}  // namespace

std::optional<std::uint32_t> Tokenizer::Tables::find(std::string_view token) const noexcept {
  const auto found = model.vocabulary.find(token);
  return found ? found : outside.find(token);
}

std::optional<std::string_view> Tokenizer::Tables::token(std::uint32_t id) const noexcept {
  const auto found = model.vocabulary.token(id);
  return found ? found : outside.token(id);
}

Tokenizer::Tables read_tables(const std::filesystem::path& tokenizer_json) {
  auto parts = read_tokenizer_json(tokenizer_json);
  const auto file = tokenizer_json.string();
  const Fields top{file, "", parts.document};
  // Truncation and padding belong to a call, not to the model; transformers sets both anew each time.
  top.only({"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor",
            "decoder", "model"});
  static_cast<void>(top.required("model"));
  check_fixed_parts(top);

  Tokenizer::Tables tables;
  tables.file = tokenizer_json;
  tables.model = read_model(parts, file);
  read_added_tokens(top.required("added_tokens"), tables);
  read_post_processor(top.optional("post_processor"), tables);
  return tables;
}

void finish(Tokenizer::Tables& tables) {
  for (const bool special : {true, false}) {  // `tokenizers` prefers special tokens where two contents are equal
    for (const auto& token : tables.added) {
      if (token.special != special) continue;
      if (special) tables.special.insert(token.id);
      if (token.normalized) {
        tables.normalized.add(normalize(token.content), token);
      } else {
        tables.raw.add(token.content, token);
      }
    }
  }
}

}  // namespace gemma4
