#include "process/output_tail.hpp"

#include <string>

#include "catch.hpp"

using lockstep::OutputTail;

TEST_CASE("a text within the limit is kept whole") {
  OutputTail tail(8);
  tail.add("ab\n");
  tail.add("cdefg");
  CHECK(tail.text() == "ab\ncdefg");
  CHECK(tail.size() == 8);
}

TEST_CASE("of a longer text the last lines are kept, whole where a line starts within the limit") {
  OutputTail tail(8);
  tail.add("first line\nsecond\nx");
  CHECK(tail.text() == "second\nx");  // 8 bytes that start a line
  tail.add("y");
  CHECK(tail.text() == "xy");  // "econd\nxy" would start within a line
  tail.add("0123456789");
  CHECK(tail.text() == "23456789");  // no line starts there
  tail.add("\n");
  CHECK(tail.text() == "3456789\n");
}

TEST_CASE("the end is right however the text is cut into pieces, and memory is bounded") {
  const std::string text = "a line of text\nanother\n\nthe last one, without an end";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    OutputTail tail(40);
    for (std::size_t at = 0; at < text.size(); at += piece) tail.add(std::string_view(text).substr(at, piece));
    CHECK(tail.text() == "another\n\nthe last one, without an end");
    CHECK(tail.size() == static_cast<std::int64_t>(text.size()));
  }
}
