#include "tensor/safetensors_header.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <lockstep/diagnostic.hpp>

#include "tensor/safetensors_dtype.hpp"

namespace lockstep::safetensors {
namespace {

/// Receives the header's JSON piece by piece, so that duplicate keys are seen and nothing but entries is stored.
class HeaderHandler {
 public:
  HeaderHandler(Header& header, std::string_view file) : header_(header), file_(file) {}

  bool null() { return unexpected("null"); }
  bool boolean(bool value) { return unexpected(value ? "true" : "false"); }
  bool number_integer(std::int64_t value) { return unexpected(fmt::format("{}", value)); }
  bool number_float(double /*value*/, const std::string& text) { return unexpected(text); }
  bool binary(std::vector<std::uint8_t>& /*value*/) { return unexpected("binary data"); }

  bool number_unsigned(std::uint64_t value) {
    if (state_ == State::shape) {
      if (value > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) return unexpected(fmt::format("{}", value));
      header_.entries.back().shape.push_back(static_cast<std::int64_t>(value));
      return true;
    }
    if (state_ != State::offsets) return unexpected(fmt::format("{}", value));
    if (offsets_seen_ == 2) fail(where() + ": data_offsets has more than 2 elements, expected [begin, end]");
    (offsets_seen_++ == 0 ? header_.entries.back().begin : header_.entries.back().end) = value;
    return true;
  }

  bool string(std::string& value) {
    if (state_ == State::metadata) {
      header_.metadata[key_] = std::move(value);
      return true;
    }
    if (state_ != State::entry || field_ != Field::dtype) return unexpected(in_quotes(value));
    const auto dtype = dtype_from_format(value);
    if (!dtype)
      fail(fmt::format("{}: dtype {} is unknown, expected one of {}", where(), in_quotes(value), format_names()));
    header_.entries.back().dtype = *dtype;
    return true;
  }

  bool start_object(std::size_t /*size*/) {
    if (state_ == State::outside) {
      state_ = State::header;
    } else if (state_ == State::header && key_ == "__metadata__") {
      state_ = State::metadata;
    } else if (state_ == State::header) {
      state_ = State::entry;
      header_.entries.push_back({.name = std::exchange(key_, {}), .shape = {}});
      has_dtype_ = has_shape_ = has_offsets_ = false;
    } else {
      return unexpected("an object");
    }
    return true;
  }

  bool key(std::string& key) {
    key_ = std::move(key);
    switch (state_) {
      case State::header:
        if (key_ == "__metadata__" && std::exchange(has_metadata_, true)) fail("__metadata__ appears twice");
        break;
      case State::metadata:
        if (header_.metadata.contains(key_)) fail(fmt::format("__metadata__ has the key {} twice", in_quotes(key_)));
        break;
      default:
        choose_field();
    }
    return true;
  }

  bool end_object() {
    if (state_ == State::entry) {
      for (const auto& [present, name] :
           {std::pair{has_dtype_, "dtype"}, {has_shape_, "shape"}, {has_offsets_, "data_offsets"}})
        if (!present) fail(fmt::format("{}: {} is missing", where(), name));
    }
    state_ = state_ == State::header ? State::outside : State::header;
    return true;
  }

  bool start_array(std::size_t /*size*/) {
    if (state_ != State::entry || field_ == Field::dtype) return unexpected("an array");
    state_ = field_ == Field::shape ? State::shape : State::offsets;
    offsets_seen_ = 0;
    return true;
  }

  bool end_array() {
    if (state_ == State::offsets && offsets_seen_ != 2)
      fail(fmt::format("{}: data_offsets has {} elements, expected [begin, end]", where(), offsets_seen_));
    state_ = State::entry;
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token, const nlohmann::json::exception& /*error*/) {
    fail(fmt::format("the header is not valid JSON at byte {}, near {}", position, in_quotes(token)));
  }

 private:
  enum class State { outside, header, metadata, entry, shape, offsets };
  enum class Field { dtype, shape, data_offsets };

  [[noreturn]] void fail(const std::string& message) const { throw Error{fmt::format("{}: {}", file_, message)}; }
  [[nodiscard]] std::string where() const { return "tensor " + in_quotes(header_.entries.back().name); }

  void choose_field() {
    const auto choose = [&](Field field, bool& seen) {
      if (std::exchange(seen, true)) fail(fmt::format("{}: {} appears twice", where(), key_));
      field_ = field;
    };
    if (key_ == "dtype")
      choose(Field::dtype, has_dtype_);
    else if (key_ == "shape")
      choose(Field::shape, has_shape_);
    else if (key_ == "data_offsets")
      choose(Field::data_offsets, has_offsets_);
    else
      fail(fmt::format("{}: unknown field {}, expected dtype, shape and data_offsets", where(), in_quotes(key_)));
  }

  bool unexpected(const std::string& found) const {
    switch (state_) {
      case State::outside:
        fail(fmt::format("the header is {}, expected an object", found));
      case State::header:
        if (key_ == "__metadata__") fail(fmt::format("__metadata__ is {}, expected an object of strings", found));
        fail(fmt::format("tensor {}: found {}, expected an object with dtype, shape and data_offsets", in_quotes(key_),
                         found));
      case State::metadata:
        fail(fmt::format("__metadata__ {}: found {}, expected a string", in_quotes(key_), found));
      case State::shape:
        fail(fmt::format("{}: shape contains {}, expected integers from 0 to 2^63-1", where(), found));
      case State::offsets:
        fail(fmt::format("{}: data_offsets contains {}, expected non-negative integers", where(), found));
      case State::entry:
        break;
    }
    fail(fmt::format("{}: {} is {}, expected {}", where(), key_, found,
                     field_ == Field::dtype ? "a string" : "an array"));
  }

  Header& header_;
  std::string_view file_;
  State state_ = State::outside;
  Field field_ = Field::dtype;
  std::string key_;
  bool has_metadata_ = false;
  bool has_dtype_ = false;
  bool has_shape_ = false;
  bool has_offsets_ = false;
  int offsets_seen_ = 0;
};

#ifdef LOCKSTEP_FUZZ_SEEDED_BUG
constexpr bool range_is_checked = false;  // tools/fuzz.sh proves with it that fuzzing would notice
#else
constexpr bool range_is_checked = true;
#endif

/// None if the number of bytes, or an inner product of sizes (a stride), exceeds 63 bits.
std::optional<std::uint64_t> bytes_of(const Entry& entry) {
  std::int64_t product = static_cast<std::int64_t>(element_size(entry.dtype));
  bool empty = false;
  for (const std::int64_t size : entry.shape) {
    empty = empty || size == 0;
    if (size != 0 && __builtin_mul_overflow(product, size, &product)) return std::nullopt;
  }
  return empty ? 0 : static_cast<std::uint64_t>(product);
}

void check_sizes(const std::vector<Entry>& entries, std::uint64_t data_bytes, std::string_view file) {
  for (const Entry& entry : entries) {
    const auto fail = [&](const std::string& message) {
      throw Error{fmt::format("{}: tensor {}: data_offsets [{}, {}] {}", file, in_quotes(entry.name), entry.begin,
                              entry.end, message)};
    };
    if (entry.begin > entry.end) fail("are out of order, expected begin <= end");
    const auto bytes = bytes_of(entry);
    const auto type = [&] { return fmt::format("{} {}", format_name(entry.dtype), shape_text(entry.shape)); };
    if (!bytes) fail(fmt::format("cannot hold {}: its size exceeds 63 bits", type()));
    if (entry.end - entry.begin != *bytes)
      fail(fmt::format("cover {} bytes, expected {} for {}", entry.end - entry.begin, *bytes, type()));
    if (range_is_checked && entry.end > data_bytes)
      fail(fmt::format("reach beyond the file, which has {} bytes of data: it is cut off or damaged", data_bytes));
  }
}

/// Entries in the order of their data must follow each other without overlap or gap, up to the end of the file.
void check_coverage(const std::vector<Entry>& entries, std::uint64_t data_bytes, std::string_view file) {
  std::vector<const Entry*> order;
  order.reserve(entries.size());
  for (const Entry& entry : entries) order.push_back(&entry);
  std::ranges::sort(order, {}, [](const Entry* entry) { return std::pair{entry->begin, entry->end}; });
  std::uint64_t covered = 0;
  const Entry* before = nullptr;
  for (const Entry* entry : order) {
    const auto place = [](const Entry& e) { return fmt::format("{} at [{}, {}]", in_quotes(e.name), e.begin, e.end); };
    if (entry->begin < covered)
      throw Error{fmt::format("{}: tensor {} overlaps tensor {}", file, place(*entry), place(*before))};
    if (entry->begin > covered)
      throw Error{fmt::format("{}: tensor {} leaves a gap before it: {} bytes belong to no tensor", file, place(*entry),
                              entry->begin - covered)};
    covered = entry->end;
    before = entry;
  }
  if (covered < data_bytes)
    throw Error{fmt::format("{}: {} bytes after the last tensor belong to no tensor", file, data_bytes - covered)};
}

void check_names(const std::vector<Entry>& entries, std::string_view file) {
  std::unordered_set<std::string_view> names;
  names.reserve(entries.size());
  for (const Entry& entry : entries)
    if (!names.insert(entry.name).second)
      throw Error{fmt::format("{}: tensor {} appears twice in the header", file, in_quotes(entry.name))};
}

/// The header's JSON text.
std::string_view header_text(std::string_view bytes, std::string_view file) {
  const auto fail = [&](const std::string& message, std::string help = {}) {
    throw Error{fmt::format("{}: {}", file, message), std::move(help)};
  };
  if (bytes.starts_with("version https://git-lfs"))
    fail("this is a Git LFS pointer, expected a safetensors file", "fetch the file itself with `git lfs pull`");
  if (bytes.size() < 8)
    fail(fmt::format("the file has {} bytes, expected at least the 8 bytes of the header's length", bytes.size()));
  std::uint64_t length = 0;
  for (std::size_t i = 8; i-- > 0;) length = length << 8 | static_cast<unsigned char>(bytes[i]);
  if (length > max_header_bytes)
    fail(fmt::format("the header's length is {} bytes, expected at most {}", length, max_header_bytes),
         "is this a safetensors file?");
  if (length > bytes.size() - 8)
    fail(fmt::format("the header's length is {} bytes, but only {} follow: the file is cut off", length,
                     bytes.size() - 8));
  const auto text = bytes.substr(8, length);
  if (!text.starts_with('{'))
    fail(text.empty() ? "the header is empty, expected a JSON object"
                      : fmt::format("the header begins with {}, expected '{{'", in_quotes(text.substr(0, 1))));
  // A zero byte would end the text for the JSON parser and hide what follows.
  if (const auto zero = text.find('\0'); zero != std::string_view::npos)
    fail(fmt::format("the header is not valid JSON at byte {}: a zero byte", zero + 1));
  return text;
}

}  // namespace

Header read_header(std::string_view bytes, std::string_view file) {
  const auto text = header_text(bytes, file);
  Header header;
  header.data_start = 8 + text.size();
  HeaderHandler handler{header, file};
  nlohmann::json::sax_parse(text.begin(), text.end(), &handler);
  const std::uint64_t data_bytes = bytes.size() - header.data_start;
  check_names(header.entries, file);
  check_sizes(header.entries, data_bytes, file);
  check_coverage(header.entries, data_bytes, file);
  return header;
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t limit = 200;
  auto shown = std::string(text.substr(0, limit));
  if (text.size() > limit) shown += "…";
  return nlohmann::json(std::move(shown)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace lockstep::safetensors
