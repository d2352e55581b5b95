#include <memory>
#include <string>

#include <fmt/format.h>

#include <lockstep/safetensors.hpp>

#include "catch.hpp"
#include "safetensors/files.hpp"

using namespace lockstep;

namespace {

/// What opening says about these bytes, from memory and from a file alike, without the file's name.
std::string complaint(const std::string& bytes) {
  const auto owner = std::make_shared<const std::string>(bytes);
  const std::string from_memory = error_of([&] { (void)SafetensorsFile::from_memory(owner, *owner, "m.safetensors"); });
  const TemporaryFolder folder;
  const auto path = folder / "m.safetensors";
  save(path, bytes);
  const std::string from_file = error_of([&] { (void)SafetensorsFile::open(path); });
  const std::string prefix = "m.safetensors: ";
  if (from_memory.empty() || from_file.empty()) return "accepted";
  REQUIRE(from_memory.starts_with(prefix));
  REQUIRE(from_file == path.string() + from_memory.substr(prefix.size() - 2));
  return from_memory.substr(prefix.size());
}

std::string complaint(std::string_view header, std::size_t data_bytes) {
  return complaint(safetensors_bytes(header, data_bytes));
}

}  // namespace

TEST_CASE("the smallest good files open, so that the complaints below come from their one defect") {
  CHECK(complaint("{}", 0) == "accepted");
  CHECK(complaint(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8) == "accepted");
}

TEST_CASE("a file too short for the header's length is refused") {
  CHECK(complaint("") == "the file has 0 bytes, expected at least the 8 bytes of the header's length");
  CHECK(complaint(std::string("\x02\0\0", 3)) ==
        "the file has 3 bytes, expected at least the 8 bytes of the header's length");
  CHECK(complaint("1234567") == "the file has 7 bytes, expected at least the 8 bytes of the header's length");
}

TEST_CASE("a header's length beyond 100 MB or beyond the file is refused") {
  CHECK(complaint("PK\x03\x04 not this format") ==
        "the header's length is 8390045714599856976 bytes, expected at most 100000000");
  CHECK(complaint(std::string("\x01\xe1\xf5\x05\0\0\0\0{}", 10)) ==
        "the header's length is 100000001 bytes, expected at most 100000000");
  CHECK(complaint(std::string(8, '\xff')) ==
        "the header's length is 18446744073709551615 bytes, expected at most 100000000");
  CHECK(complaint(std::string("\x03\0\0\0\0\0\0\0{}", 10)) ==
        "the header's length is 3 bytes, but only 2 follow: the file is cut off");
  CHECK(complaint(std::string("\0\xe1\xf5\x05\0\0\0\0{}", 10)) ==
        "the header's length is 100000000 bytes, but only 2 follow: the file is cut off");
}

TEST_CASE("a Git LFS pointer is recognised") {
  CHECK(complaint("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n") ==
        "this is a Git LFS pointer, expected a safetensors file");
}

TEST_CASE("a header that is not one JSON object is refused") {
  CHECK(complaint("", 0) == "the header is empty, expected a JSON object");
  CHECK(complaint("[]", 0) == R"(the header begins with "[", expected '{')");
  CHECK(complaint(" {}", 0) == R"(the header begins with " ", expected '{')");
  CHECK(complaint("\xef\xbb\xbf{}", 0).starts_with("the header begins with "));
  CHECK(complaint("{", 0) == R"(the header is not valid JSON at byte 2, near "{")");
  CHECK(complaint("{}x", 0) == R"(the header is not valid JSON at byte 3, near "{}x")");
  CHECK(complaint("{}{}", 0).starts_with("the header is not valid JSON at byte 3"));
  CHECK(complaint("{'a':1}", 0).starts_with("the header is not valid JSON at byte 2"));
  CHECK(complaint("{\"a\":1,}", 0) == R"(tensor "a": found 1, expected an object with dtype, shape and data_offsets)");
  CHECK(complaint("{\"__metadata__\":{},}", 0).starts_with("the header is not valid JSON at byte 20"));
  CHECK(complaint("{\"a\xff\":{}}", 0).starts_with("the header is not valid JSON at byte 4"));
  CHECK(complaint("{}/**/", 0).starts_with("the header is not valid JSON at byte 3"));
}

TEST_CASE("a zero byte does not hide what follows it in the header") {
  CHECK(complaint({"{}\0garbage", 10}, 0) == "the header is not valid JSON at byte 3: a zero byte");
}

TEST_CASE("spaces after the header's object are allowed") { CHECK(complaint("{}      ", 0) == "accepted"); }

TEST_CASE("duplicate keys are refused at every level") {
  const std::string a = R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  const std::string later = R"("a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]})";
  CHECK(complaint("{" + a + "," + later + "}", 2) == R"(tensor "a" appears twice in the header)");
  CHECK(complaint(R"({"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1) ==
        R"(tensor "a": dtype appears twice)");
  CHECK(complaint(R"({"a":{"dtype":"U8","shape":[1],"shape":[1],"data_offsets":[0,1]}})", 1) ==
        R"(tensor "a": shape appears twice)");
  CHECK(complaint(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"data_offsets":[0,1]}})", 1) ==
        R"(tensor "a": data_offsets appears twice)");
  CHECK(complaint(R"({"__metadata__":{},"__metadata__":{}})", 0) == "__metadata__ appears twice");
  CHECK(complaint(R"({"__metadata__":{"k":"1","k":"2"}})", 0) == R"(__metadata__ has the key "k" twice)");
}

TEST_CASE("metadata other than strings is refused") {
  CHECK(complaint(R"({"__metadata__":null})", 0) == "__metadata__ is null, expected an object of strings");
  CHECK(complaint(R"({"__metadata__":"text"})", 0) == R"(__metadata__ is "text", expected an object of strings)");
  CHECK(complaint(R"({"__metadata__":[]})", 0) == "__metadata__ is an array, expected an object of strings");
  CHECK(complaint(R"({"__metadata__":{"k":1}})", 0) == R"(__metadata__ "k": found 1, expected a string)");
  CHECK(complaint(R"({"__metadata__":{"k":null}})", 0) == R"(__metadata__ "k": found null, expected a string)");
  CHECK(complaint(R"({"__metadata__":{"k":{"a":"b"}}})", 0) ==
        R"(__metadata__ "k": found an object, expected a string)");
}

TEST_CASE("a tensor entry has exactly dtype, shape and data_offsets") {
  CHECK(complaint(R"({"a":{"shape":[1],"data_offsets":[0,1]}})", 1) == R"(tensor "a": dtype is missing)");
  CHECK(complaint(R"({"a":{"dtype":"U8","data_offsets":[0,1]}})", 1) == R"(tensor "a": shape is missing)");
  CHECK(complaint(R"({"a":{"dtype":"U8","shape":[1]}})", 1) == R"(tensor "a": data_offsets is missing)");
  CHECK(complaint(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"extra":1}})", 1) ==
        R"(tensor "a": unknown field "extra", expected dtype, shape and data_offsets)");
  CHECK(complaint(R"({"a":[]})", 0) ==
        R"(tensor "a": found an array, expected an object with dtype, shape and data_offsets)");
  CHECK(complaint(R"({"a":true})", 0) ==
        R"(tensor "a": found true, expected an object with dtype, shape and data_offsets)");
}

TEST_CASE("fields of a wrong type are refused") {
  CHECK(complaint(R"({"a":{"dtype":5,"shape":[1],"data_offsets":[0,1]}})", 1) ==
        R"(tensor "a": dtype is 5, expected a string)");
  CHECK(complaint(R"({"a":{"dtype":["U8"],"shape":[1],"data_offsets":[0,1]}})", 1) ==
        R"(tensor "a": dtype is an array, expected a string)");
  CHECK(complaint(R"({"a":{"dtype":"U8","shape":1,"data_offsets":[0,1]}})", 1) ==
        R"(tensor "a": shape is 1, expected an array)");
  CHECK(complaint(R"({"a":{"dtype":"U8","shape":{},"data_offsets":[0,1]}})", 1) ==
        R"(tensor "a": shape is an object, expected an array)");
  CHECK(complaint(R"({"a":{"dtype":"U8","shape":["1"],"data_offsets":[0,1]}})", 1) ==
        R"(tensor "a": shape contains "1", expected integers from 0 to 2^63-1)");
  CHECK(complaint(R"({"a":{"dtype":"U8","shape":[[1]],"data_offsets":[0,1]}})", 1) ==
        R"(tensor "a": shape contains an array, expected integers from 0 to 2^63-1)");
  CHECK(complaint(R"({"a":{"dtype":"U8","shape":[1.0],"data_offsets":[0,1]}})", 1) ==
        R"(tensor "a": shape contains 1.0, expected integers from 0 to 2^63-1)");
  CHECK(complaint(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":"0,1"}})", 1) ==
        R"(tensor "a": data_offsets is "0,1", expected an array)");
  CHECK(complaint(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1e0]}})", 1) ==
        R"(tensor "a": data_offsets contains 1e0, expected non-negative integers)");
  CHECK(complaint(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[null,1]}})", 1) ==
        R"(tensor "a": data_offsets contains null, expected non-negative integers)");
}

TEST_CASE("data_offsets are exactly two") {
  CHECK(complaint(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[]}})", 0) ==
        R"(tensor "a": data_offsets has 0 elements, expected [begin, end])");
  CHECK(complaint(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0]}})", 0) ==
        R"(tensor "a": data_offsets has 1 elements, expected [begin, end])");
  CHECK(complaint(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1,2]}})", 1) ==
        R"(tensor "a": data_offsets has more than 2 elements, expected [begin, end])");
}

TEST_CASE("an unknown dtype is refused with the list of known ones") {
  const std::string known =
      "BOOL, U8, I8, U16, I16, U32, I32, U64, I64, F8_E4M3, F8_E5M2, F8_E4M3FNUZ, F8_E5M2FNUZ, F8_E8M0, F16, BF16, "
      "F32, "
      "F64";
  for (const std::string dtype : {"f32", "F128", "C64", "F4", ""})
    CHECK(complaint(fmt::format(R"({{"a":{{"dtype":"{}","shape":[2],"data_offsets":[0,8]}}}})", dtype), 8) ==
          fmt::format(R"(tensor "a": dtype "{}" is unknown, expected one of {})", dtype, known));
}

TEST_CASE("negative and oversized numbers are refused") {
  CHECK(complaint(R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}})", 1) ==
        R"(tensor "a": shape contains -1, expected integers from 0 to 2^63-1)");
  CHECK(complaint(R"({"a":{"dtype":"U8","shape":[9223372036854775808],"data_offsets":[0,1]}})", 1) ==
        R"(tensor "a": shape contains 9223372036854775808, expected integers from 0 to 2^63-1)");
  CHECK(complaint(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[-1,0]}})", 1) ==
        R"(tensor "a": data_offsets contains -1, expected non-negative integers)");
  CHECK(complaint(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,18446744073709551616]}})", 1) ==
        R"(tensor "a": data_offsets contains 18446744073709551616, expected non-negative integers)");
}

TEST_CASE("a shape whose size overflows is refused, also where the overflow would give the right size") {
  CHECK(complaint(R"({"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0) ==
        R"(tensor "a": data_offsets [0, 0] cannot hold U8 [4294967296, 4294967296]: its size exceeds 63 bits)");
  CHECK(complaint(R"({"a":{"dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,0]}})", 0) ==
        R"(tensor "a": data_offsets [0, 0] cannot hold F64 [2305843009213693952]: its size exceeds 63 bits)");
  CHECK(complaint(R"({"a":{"dtype":"U8","shape":[0,4294967296,4294967296],"data_offsets":[0,0]}})", 0) ==
        R"(tensor "a": data_offsets [0, 0] cannot hold U8 [0, 4294967296, 4294967296]: its size exceeds 63 bits)");
}

TEST_CASE("data_offsets that do not fit dtype and shape are refused") {
  CHECK(complaint(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8) ==
        R"(tensor "a": data_offsets [0, 8] cover 8 bytes, expected 12 for F32 [3])");
  CHECK(complaint(R"({"a":{"dtype":"BF16","shape":[],"data_offsets":[0,4]}})", 4) ==
        R"(tensor "a": data_offsets [0, 4] cover 4 bytes, expected 2 for BF16 [])");
  CHECK(complaint(R"({"a":{"dtype":"F32","shape":[0],"data_offsets":[0,4]}})", 4) ==
        R"(tensor "a": data_offsets [0, 4] cover 4 bytes, expected 0 for F32 [0])");
  CHECK(complaint(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,0]}})", 1) ==
        R"(tensor "a": data_offsets [1, 0] are out of order, expected begin <= end)");
}

TEST_CASE("data beyond the file is refused: a truncated file") {
  CHECK(
      complaint(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 3) ==
      R"(tensor "a": data_offsets [0, 4] reach beyond the file, which has 3 bytes of data: it is cut off or damaged)");
  CHECK(
      complaint(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[18446744073709551614,18446744073709551615]}})", 1) ==
      R"(tensor "a": data_offsets [18446744073709551614, 18446744073709551615] reach beyond the file, which has 1 bytes )"
      "of data: it is cut off or damaged");
}

TEST_CASE("every truncation of a good file is refused") {
  const auto good = safetensors_bytes(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8);
  for (std::size_t size = 0; size < good.size(); ++size) {
    CAPTURE(size);
    CHECK(complaint(good.substr(0, size)) != "accepted");
  }
}

TEST_CASE("bytes after the last tensor are refused") {
  CHECK(complaint(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 6) ==
        "2 bytes after the last tensor belong to no tensor");
  CHECK(complaint("{}", 1) == "1 bytes after the last tensor belong to no tensor");
}

TEST_CASE("overlapping tensors are refused, whatever their order in the header") {
  const std::string a = R"("a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]})";
  const std::string b = R"("b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]})";
  const std::string same = R"("c":{"dtype":"U8","shape":[4],"data_offsets":[0,4]})";
  const std::string message = R"(tensor "b" at [2, 6] overlaps tensor "a" at [0, 4])";
  CHECK(complaint("{" + a + "," + b + "}", 6) == message);
  CHECK(complaint("{" + b + "," + a + "}", 6) == message);
  CHECK(complaint("{" + a + "," + same + "}", 4) == R"(tensor "c" at [0, 4] overlaps tensor "a" at [0, 4])");
  CHECK(complaint("{" + a + R"(,"e":{"dtype":"U8","shape":[0],"data_offsets":[2,2]}})", 4) ==
        R"(tensor "e" at [2, 2] overlaps tensor "a" at [0, 4])");
}

TEST_CASE("gaps between tensors are refused") {
  CHECK(complaint(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},
                      "b":{"dtype":"U8","shape":[1],"data_offsets":[3,4]}})",
                  4) == R"(tensor "b" at [3, 4] leaves a gap before it: 2 bytes belong to no tensor)");
  CHECK(complaint(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", 2) ==
        R"(tensor "a" at [1, 2] leaves a gap before it: 1 bytes belong to no tensor)");
}

TEST_CASE("deeply nested JSON is refused without deep recursion") {
  CHECK(complaint("{\"a\":" + std::string(1'000'000, '['), 0) ==
        R"(tensor "a": found an array, expected an object with dtype, shape and data_offsets)");
}

TEST_CASE("names in messages are escaped and cut") {
  CHECK(complaint("{\"\\u001b[31m\\n\":1}", 0) ==
        R"(tensor "\u001b[31m\n": found 1, expected an object with dtype, shape and data_offsets)");
  CHECK(complaint("{\"" + std::string(5000, 'x') + "\":1}", 0).size() < 400);
}
