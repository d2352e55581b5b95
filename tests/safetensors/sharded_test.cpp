#include <string>

#include <lockstep/safetensors.hpp>

#include "catch.hpp"
#include "safetensors/files.hpp"

using namespace lockstep;

namespace {

/// Two shards: one.safetensors holds a and b, two.safetensors holds c; each a byte.
struct Shards {
  TemporaryFolder folder;
  std::filesystem::path index = folder / "model.safetensors.index.json";

  Shards() {
    save(folder / "one.safetensors", safetensors_bytes(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},
                                                           "b":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
                                                       2));
    save(folder / "two.safetensors", safetensors_bytes(R"({"c":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1));
  }
  std::string complaint(const std::string& text) const {
    save(index, text);
    const auto message = error_of([&] { (void)SafetensorsFile::open(index); });
    const auto prefix = index.string() + ": ";
    if (message.empty()) return "accepted";
    return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
  }
  std::string with_map(const std::string& map) const {
    return complaint(R"({"metadata":{},"weight_map":)" + map + "}");
  }
};

}  // namespace

TEST_CASE("shards that agree with their index open; the metadata of the index may be missing") {
  const Shards shards;
  CHECK(shards.with_map(R"({"a":"one.safetensors","b":"one.safetensors","c":"two.safetensors"})") == "accepted");
  CHECK(shards.complaint(R"({"weight_map":{"c":"./two.safetensors"}})") == "accepted");
  CHECK(SafetensorsFile::open(shards.index).names() == std::vector<std::string>{"c"});
}

TEST_CASE("a missing shard is named") {
  const Shards shards;
  CHECK(shards.with_map(R"({"a":"one.safetensors","b":"one.safetensors","d":"three.safetensors"})") ==
        R"(the shard "three.safetensors" is missing)");
}

TEST_CASE("a shard whose name no file can have is missing") {
  const Shards shards;
  const auto message = shards.with_map("{\"a\":\"" + std::string(5000, 'x') + "\"}");
  CHECK_THAT(message, contains_text("the shard \"xxx"));
  CHECK_THAT(message, contains_text("is missing"));
}

TEST_CASE("a tensor in another shard than the index says is refused") {
  const Shards shards;
  CHECK(shards.with_map(R"({"a":"one.safetensors","b":"two.safetensors","c":"two.safetensors"})") ==
        R"(tensor "b" is in "one.safetensors", the index says "two.safetensors")");
}

TEST_CASE("a tensor in no shard is refused") {
  const Shards shards;
  CHECK(
      shards.with_map(R"({"a":"one.safetensors","b":"one.safetensors","d":"two.safetensors","c":"two.safetensors"})") ==
      R"(tensor "d" is in no shard, expected it in "two.safetensors")");
}

TEST_CASE("a tensor that the index does not list is refused") {
  const Shards shards;
  CHECK(shards.with_map(R"({"a":"one.safetensors"})") == R"(tensor "b" of "one.safetensors" is not in weight_map)");
}

TEST_CASE("a tensor in two shards is refused") {
  const Shards shards;
  save(shards.folder / "two.safetensors", load(shards.folder / "one.safetensors"));
  CHECK(shards.with_map(R"({"a":"one.safetensors","b":"two.safetensors"})") ==
        R"(tensor "a" is in two shards, "one.safetensors" and "two.safetensors")");
}

TEST_CASE("shards cannot lie outside the checkpoint's folder") {
  const Shards shards;
  for (const std::string path : {"../one.safetensors", "x/../../one.safetensors", "/etc/passwd", ".."})
    CHECK(shards.with_map("{\"a\":\"" + path + "\"}") == "weight_map \"a\": \"" + path +
                                                             "\" leads out of the checkpoint's folder, expected a "
                                                             "file beside the index");
  CHECK(shards.with_map(R"({"a":""})").ends_with("expected a file beside the index"));
}

TEST_CASE("a broken shard is reported with its own name") {
  const Shards shards;
  save(shards.folder / "two.safetensors", "short");
  CHECK(shards.with_map(R"({"c":"two.safetensors"})") ==
        (shards.folder / "two.safetensors").string() +
            ": the file has 5 bytes, expected at least the 8 bytes of the header's length");
}

TEST_CASE("a malformed index is refused") {
  const Shards shards;
  const std::string shape = R"(expected an object with an object "weight_map" of tensor names and their files)";
  CHECK(shards.complaint("{") == "the index is not valid JSON at byte 2");
  CHECK(shards.complaint("") == "the index is not valid JSON at byte 1");
  CHECK(shards.complaint(R"({"total_size":1e999})") == "the index holds a number that is too large");
  CHECK(shards.complaint("[]") == shape);
  CHECK(shards.complaint("{}") == shape);
  CHECK(shards.with_map("[]") == shape);
  CHECK(shards.with_map("{}") == "weight_map is empty, expected tensor names and their files");
  CHECK(shards.with_map(R"({"a":1})") == R"(weight_map "a": found a value of type number, expected a file name)");
  CHECK(shards.with_map(R"({"a":"one.safetensors","a":"two.safetensors"})") ==
        R"(the key "a" appears twice in one object)");
  CHECK(shards.complaint(R"({"weight_map":{},"weight_map":{}})") ==
        R"(the key "weight_map" appears twice in one object)");
}
