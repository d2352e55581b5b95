#include "processor/tokenizer_json.hpp"

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

#include "processor/json_file.hpp"

namespace gemma4 {
namespace {

constexpr std::uintmax_t largest_file = 512u << 20;  // the files of the Gemma family have some 33 MB

class Reader final : public JsonBuilder {
 public:
  Reader(std::string file, TokenizerJson& result) : JsonBuilder(std::move(file)), result_(result) {}

  bool null() override { return list_ == List::none ? JsonBuilder::null() : refuse("null"); }
  bool boolean(bool value) override {
    return list_ == List::none ? JsonBuilder::boolean(value) : refuse(value ? "true" : "false");
  }
  bool number_integer(number_integer_t value) override {
    return list_ == List::none ? JsonBuilder::number_integer(value) : refuse(std::to_string(value));
  }
  bool number_float(number_float_t value, const string_t& text) override {
    return list_ == List::none ? JsonBuilder::number_float(value, text) : refuse(text);
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (list_ == List::none) return JsonBuilder::number_unsigned(value);
    if (list_ == List::merges || value > largest_token_id) return refuse(std::to_string(value));
    switch (result_.vocabulary.add(token_, static_cast<std::uint32_t>(value))) {
      case Vocabulary::Added::yes:
        return true;
      case Vocabulary::Added::token_exists:
        throw lockstep::Error{fmt::format("{}: model.vocab: {} occurs twice", file(), in_quotes(token_))};
      case Vocabulary::Added::id_exists:
        break;
    }
    const auto other = result_.vocabulary.token(static_cast<std::uint32_t>(value));
    throw lockstep::Error{fmt::format("{}: model.vocab: {} and {} have the same id {}", file(),
                                      in_quotes(other.value_or("")), in_quotes(token_), value)};
  }

  bool string(string_t& value) override {
    if (list_ == List::none) return JsonBuilder::string(value);
    if (list_ == List::vocabulary) return refuse(in_quotes(value));
    if (!in_pair_) return add_spaced(value);
    if (pieces_ == 2) return refuse("a list of more than two pieces");
    pair_.at(pieces_++) = std::move(value);
    return true;
  }

  bool key(string_t& value) override {
    if (list_ == List::none) return JsonBuilder::key(value);
    token_ = std::move(value);
    return true;
  }

  bool start_object(std::size_t size) override {
    if (list_ != List::none) return refuse("an object");
    if (at("model", "vocab")) list_ = List::vocabulary;
    return JsonBuilder::start_object(size);
  }

  bool end_object() override {
    list_ = List::none;
    return JsonBuilder::end_object();
  }

  bool start_array(std::size_t size) override {
    if (list_ == List::vocabulary || in_pair_) return refuse("a list");
    if (list_ == List::merges) {
      in_pair_ = true;
      pieces_ = 0;
      return true;
    }
    if (at("model", "merges")) list_ = List::merges;
    return JsonBuilder::start_array(size);
  }

  bool end_array() override {
    if (in_pair_) {
      if (pieces_ != 2) return refuse(fmt::format("a list of {} pieces", pieces_));
      result_.merges.add(pair_[0], pair_[1]);
      in_pair_ = false;
      return true;
    }
    list_ = List::none;
    return JsonBuilder::end_array();
  }

 private:
  enum class List { none, vocabulary, merges };

  /// The older form of a merge: both pieces in one text.
  bool add_spaced(std::string_view text) {
    const auto space = text.find(' ');
    if (space == std::string_view::npos || text.find(' ', space + 1) != std::string_view::npos) {
      return refuse(in_quotes(text));
    }
    result_.merges.add(text.substr(0, space), text.substr(space + 1));
    return true;
  }

  [[noreturn]] bool refuse(const std::string& found) const {
    if (list_ == List::vocabulary) {
      throw lockstep::Error{fmt::format("{}: model.vocab: the id of {} is {}, expected an integer from 0 to {}", file(),
                                        in_quotes(token_), found, largest_token_id)};
    }
    throw lockstep::Error{fmt::format(R"({}: model.merges[{}] is {}, expected ["left", "right"] or "left right")",
                                      file(), result_.merges.size(), found)};
  }

  TokenizerJson& result_;
  List list_ = List::none;
  std::string token_;  // the last key of the vocabulary
  bool in_pair_ = false;
  std::size_t pieces_ = 0;
  std::array<std::string, 2> pair_;
};

}  // namespace

void MergeList::add(std::string_view left, std::string_view right) {
  bytes_.append(left).append(right);
  lengths_.push_back({static_cast<std::uint32_t>(left.size()), static_cast<std::uint32_t>(right.size())});
}

TokenizerJson read_tokenizer_json(const std::filesystem::path& file) {
  TokenizerJson result;
  Reader reader{file.string(), result};
  nlohmann::json::sax_parse(read_file(file, largest_file), &reader);
  result.document = std::move(reader.document());
  return result;
}

}  // namespace gemma4
