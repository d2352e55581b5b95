#include <array>
#include <charconv>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

#include "tensor/npy.hpp"
#include "tensor/safetensors_header.hpp"

// \x93NUMPY, version (two bytes), length of the text (two bytes, from version 2 on four, little-endian), and the text:
// {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } and blanks to a line end.

namespace lockstep {
namespace {

using safetensors::in_quotes;

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t most_axes = 64;  // of NumPy itself

/// Reads the text, a dictionary as Python writes it.
class HeaderText {
 public:
  HeaderText(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  NpyHeader read() {
    NpyHeader header;
    std::set<std::string> seen;
    expect('{');
    while (!accept('}')) {
      const auto key = quoted();
      if (!seen.insert(key).second) fail(fmt::format("the key {} appears twice", in_quotes(key)));
      expect(':');
      read_value(key, header);
      if (!accept(',') && peek() != '}') fail_expected("',' or '}'");
    }
    for (const auto* key : {"descr", "fortran_order", "shape"})
      if (!seen.contains(key)) fail(fmt::format("the key '{}' is missing", key));
    if (peek() != '\0') fail_expected("nothing after '}'");
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const { throw Error{fmt::format("{}: {}", name_, message)}; }
  [[noreturn]] void fail_expected(std::string_view what) {
    const char next = peek();
    const auto found = next == '\0' ? std::string("its end") : in_quotes(std::string_view(&next, 1));
    fail(fmt::format("byte {} of the header's text is {}, expected {}", at_, found, what));
  }

  void read_value(const std::string& key, NpyHeader& header) {
    if (key == "descr") {
      read_dtype(header);
    } else if (key == "fortran_order") {
      header.fortran_order = boolean();
    } else if (key == "shape") {
      header.shape = shape();
    } else {
      fail(fmt::format("the key {} is not known, expected 'descr', 'fortran_order' and 'shape'", in_quotes(key)));
    }
  }

  void read_dtype(NpyHeader& header) {
    if (peek() == '[') fail("the array has fields ('descr' is a list), expected one dtype");
    const auto descr = quoted();
    static constexpr std::array<std::pair<std::string_view, DType>, 12> known{{{"b1", DType::boolean},
                                                                               {"u1", DType::uint8},
                                                                               {"i1", DType::int8},
                                                                               {"u2", DType::uint16},
                                                                               {"i2", DType::int16},
                                                                               {"u4", DType::uint32},
                                                                               {"i4", DType::int32},
                                                                               {"u8", DType::uint64},
                                                                               {"i8", DType::int64},
                                                                               {"f2", DType::float16},
                                                                               {"f4", DType::float32},
                                                                               {"f8", DType::float64}}};
    for (const auto& [code, dtype] : known) {
      if (descr.size() != 3 || descr.substr(1) != code) continue;
      const char order = descr.front();
      if (order != '<' && order != '>' && !(order == '|' && element_size(dtype) == 1)) break;
      header.dtype = dtype;
      header.big_endian = order == '>';
      return;
    }
    throw Error{fmt::format("{}: the dtype is {}, expected one of booleans (b1), integers (i1 to i8, u1 to u8) and "
                            "floating-point numbers (f2, f4, f8), with '<' or '>' before it",
                            name_, in_quotes(descr)),
                "bfloat16 and float8 have no NumPy dtype: save such tensors as safetensors"};
  }

  std::string quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail_expected("a quoted text");
    const auto end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail(fmt::format("the text at byte {} of the header has no end", at_));
    const std::string text(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return text;
  }

  bool boolean() {
    peek();
    for (const auto& [word, value] : {std::pair{std::string_view("False"), false}, {std::string_view("True"), true}}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    fail_expected("True or False");
  }

  std::vector<std::int64_t> shape() {
    std::vector<std::int64_t> sizes;
    expect('(');
    while (!accept(')')) {
      peek();
      std::int64_t size = 0;
      const auto* begin = text_.data() + at_;
      const auto [rest, error] = std::from_chars(begin, text_.data() + text_.size(), size);
      if (error == std::errc::result_out_of_range) fail("a size of the shape is larger than 64 bits hold");
      if (error != std::errc() || size < 0) fail_expected("a size of the shape, an integer that is not negative");
      at_ += static_cast<std::size_t>(rest - begin);
      sizes.push_back(size);
      if (sizes.size() > most_axes) fail(fmt::format("the array has more than {} axes", most_axes));
      const bool comma = accept(',');
      if (!comma && (sizes.size() == 1 || peek() != ')')) fail_expected("','");
    }
    return sizes;
  }

  /// The next character that is not blank; '\0' at the end.
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) fail_expected(fmt::format("'{}'", wanted));
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
};

std::size_t little_endian(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

}  // namespace

NpyHeader read_npy_header(std::string_view bytes, const std::string& name) {
  const auto fail = [&](const std::string& message) { throw Error{fmt::format("{}: {}", name, message)}; };
  if (!bytes.starts_with(magic)) fail("the file does not begin as a .npy file does (\\x93NUMPY)");
  const std::size_t version_end = magic.size() + 2;
  if (bytes.size() < version_end) fail("the file ends within its version");
  const int major = bytes[magic.size()];
  const int minor = bytes[magic.size() + 1];
  if (major < 1 || major > 3 || minor != 0)
    fail(fmt::format("the format version is {}.{}, expected 1.0, 2.0 or 3.0", major, minor));
  const std::size_t length_size = major == 1 ? 2 : 4;
  const std::size_t text_start = version_end + length_size;
  if (bytes.size() < text_start) fail("the file ends within the length of its header");
  const auto length = little_endian(bytes.substr(version_end, length_size));
  if (length > bytes.size() - text_start)
    fail(fmt::format("the header is said to be {} bytes long, the file has {} after its start", length,
                     bytes.size() - text_start));
  auto header = HeaderText(bytes.substr(text_start, length), name).read();
  header.data_start = text_start + length;
  return header;
}

}  // namespace lockstep
