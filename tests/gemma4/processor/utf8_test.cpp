#include "processor/utf8.hpp"

#include <string>

#include "catch.hpp"

using gemma4::first_code_point;
using gemma4::first_invalid_utf8;

// Table 3-7 of the Unicode standard ("well-formed UTF-8 byte sequences") and what lies just outside of it.

TEST_CASE("every code point but the surrogates is valid UTF-8 and comes back") {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    std::string bytes;
    const auto put = [&](char32_t value) { bytes.push_back(static_cast<char>(value)); };
    if (c < 0x80) {
      put(c);
    } else if (c < 0x800) {
      put(0xC0 | c >> 6), put(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
      put(0xE0 | c >> 12), put(0x80 | (c >> 6 & 0x3F)), put(0x80 | (c & 0x3F));
    } else {
      put(0xF0 | c >> 18), put(0x80 | (c >> 12 & 0x3F)), put(0x80 | (c >> 6 & 0x3F)), put(0x80 | (c & 0x3F));
    }
    const auto read = first_code_point(bytes);
    const bool surrogate = c >= 0xD800 && c <= 0xDFFF;
    if (surrogate ? read.length != 0 : read.value != c || read.length != bytes.size()) {
      FAIL("code point " << static_cast<unsigned>(c));
    }
  }
}

TEST_CASE("ill-formed UTF-8 is found at its first byte") {
  CHECK(first_invalid_utf8("a\x80") == 1);             // continuation without lead
  CHECK(first_invalid_utf8("\xC0\xAF") == 0);          // overlong slash
  CHECK(first_invalid_utf8("\xC1\xBF") == 0);          // overlong
  CHECK(first_invalid_utf8("\xE0\x9F\xBF") == 0);      // overlong, three bytes
  CHECK(first_invalid_utf8("\xF0\x8F\xBF\xBF") == 0);  // overlong, four bytes
  CHECK(first_invalid_utf8("\xED\xA0\x80") == 0);      // surrogate
  CHECK(first_invalid_utf8("\xF4\x90\x80\x80") == 0);  // above U+10FFFF
  CHECK(first_invalid_utf8("\xF5\x80\x80\x80") == 0);  // lead byte that is never used
  CHECK(first_invalid_utf8("ok \xE2\x82") == 3);       // cut off
  CHECK(first_invalid_utf8("\xE2\x82\xAC \xC3"
                           "A") == 4);  // lead without continuation
  CHECK(first_invalid_utf8("\xFF") == 0);
  CHECK_FALSE(first_invalid_utf8(""));
  CHECK_FALSE(first_invalid_utf8(std::string_view{"\0 \xED\x9F\xBF\xEE\x80\x80\xF4\x8F\xBF\xBF", 12}));
}
