#include <string>

#include <lockstep/safetensors.hpp>

#include "catch.hpp"
#include "safetensors/files.hpp"

using namespace lockstep;

// Expected values: FIPS 180-4 examples of NIST ("abc", two blocks, a million times a) and the empty message.

TEST_CASE("sha256 gives the digests of the standard's examples") {
  CHECK(sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256(std::string(1'000'000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("sha256 of a file is that of its bytes, beyond one block too") {
  const TemporaryFolder folder;
  save(folder / "a", "abc");
  CHECK(sha256_of_file(folder / "a") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const std::string large = std::string(3'000'000, 'a');
  save(folder / "b", large);
  CHECK(sha256_of_file(folder / "b") == sha256(large));
}

TEST_CASE("sha256 of a file that cannot be read is an error") {
  const TemporaryFolder folder;
  CHECK(error_of([&] { (void)sha256_of_file(folder / "none"); }) ==
        "cannot read " + (folder / "none").string() + ": No such file or directory");
  CHECK(error_of([&] { (void)sha256_of_file(folder.path()); }) ==
        "cannot read " + folder.path().string() + ": Is a directory");
}
