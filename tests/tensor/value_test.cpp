#include <lockstep/value.hpp>

#include <limits>
#include <string>

#include "catch.hpp"

using namespace lockstep;

TEST_CASE("values read as they would stand in TOML") {
  CHECK(to_text(Value(true)) == "true");
  CHECK(to_text(Value(64)) == "64");
  CHECK(to_text(Value(0.02)) == "0.02");
  CHECK(to_text(Value(Value::Array{1, "a", 2.5})) == "[1, \"a\", 2.5]");
  CHECK(to_text(Value(Value::Table{{"max", 0.02}, {"level", "inform"}})) == "{ max = 0.02, level = \"inform\" }");
  CHECK(to_text(Value(Value::Array{})) == "[]");
  CHECK(to_text(Value(Value::Table{})) == "{}");
  CHECK(to_text(Value(Value::Table{{"a b", 1}})) == "{ \"a b\" = 1 }");
}

TEST_CASE("a real stays a real, and is the shortest text that reads back as itself") {
  CHECK(to_text(Value(1.0)) == "1.0");
  CHECK(to_text(Value(-0.0)) == "-0.0");
  CHECK(to_text(Value(1e300)) == "1e+300");
  CHECK(to_text(Value(1.6e-2)) == "0.016");
  CHECK(to_text(Value(0.1 + 0.2)) == "0.30000000000000004");
  CHECK(to_text(Value(std::numeric_limits<double>::infinity())) == "inf");
  CHECK(to_text(Value(-std::numeric_limits<double>::infinity())) == "-inf");
  CHECK(to_text(Value(std::numeric_limits<double>::quiet_NaN())) == "nan");
}

TEST_CASE("text is quoted and escaped") {
  CHECK(to_text(Value("say \"a\\b\"\n")) == "\"say \\\"a\\\\b\\\"\\n\"");
  CHECK(to_text(Value(std::string("\x01\t", 2))) == "\"\\u0001\\t\"");
  CHECK(to_text(Value("<|image|> ü")) == "\"<|image|> ü\"");
}
