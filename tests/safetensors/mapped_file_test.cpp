#include <type_traits>

#include <sys/stat.h>

#include "catch.hpp"
#include "safetensors/files.hpp"
#include "tensor/mapped_file.hpp"

using namespace lockstep;

static_assert(!std::is_copy_constructible_v<MappedFile>);

TEST_CASE("a mapped file shows the file's bytes, also after the file is unlinked") {
  const TemporaryFolder folder;
  save(folder / "a", "some bytes");
  const auto file = MappedFile::open(folder / "a");
  std::filesystem::remove(folder / "a");
  CHECK(file->bytes() == "some bytes");
}

TEST_CASE("an empty file maps as no bytes") {
  const TemporaryFolder folder;
  save(folder / "a", "");
  CHECK(MappedFile::open(folder / "a")->bytes().empty());
}

TEST_CASE("what cannot be mapped is an error that says why, without waiting") {
  const TemporaryFolder folder;
  const auto complaint = [](const std::filesystem::path& path) {
    return error_of([&] { (void)MappedFile::open(path); });
  };
  CHECK(complaint(folder / "a") == "cannot read " + (folder / "a").string() + ": No such file or directory");
  CHECK(complaint(folder.path()) == "cannot read " + folder.path().string() + ": it is a folder, expected a file");
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(complaint(folder / "pipe") == "cannot read " + (folder / "pipe").string() + ": it is not a regular file");
  CHECK(complaint("/dev/zero") == "cannot read /dev/zero: it is not a regular file");
}
