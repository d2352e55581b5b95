#include <csignal>
#include <stdexcept>
#include <string>

#include <sys/resource.h>
#include <sys/stat.h>

#include "catch.hpp"
#include "safetensors/files.hpp"
#include "tensor/atomic_file.hpp"

using namespace lockstep;

namespace {

struct FileSizeLimit {
  explicit FileSizeLimit(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small{.rlim_cur = bytes, .rlim_max = before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before); }
  rlimit before{};
};

}  // namespace

TEST_CASE("the target is untouched until commit and whole after it") {
  const TemporaryFolder folder;
  save(folder / "a", "old");
  AtomicFile file{folder / "a"};
  file.write("new ");
  file.write("text");
  CHECK(load(folder / "a") == "old");
  file.commit();
  CHECK(load(folder / "a") == "new text");
  CHECK(folder.entries() == 1);
}

TEST_CASE("an exception before commit leaves nothing behind") {
  const TemporaryFolder folder;
  const auto interrupted = [&] {
    AtomicFile file{folder / "a"};
    file.write("half");
    throw std::runtime_error("interrupted");
  };
  CHECK_THROWS_AS(interrupted(), std::runtime_error);
  CHECK(folder.entries() == 0);
}

TEST_CASE("two writers of one target do not meet in one file") {
  const TemporaryFolder folder;
  AtomicFile first{folder / "a"};
  AtomicFile second{folder / "a"};
  first.write("first");
  second.write("second");
  first.commit();
  CHECK(load(folder / "a") == "first");
  second.commit();
  CHECK(load(folder / "a") == "second");
}

TEST_CASE("beyond the file size limit writing fails as on a full disk: no signal, no partial file, the old file kept") {
  const TemporaryFolder folder;
  save(folder / "a", "old");
  const FileSizeLimit limit{1000};
  const std::string big(100'000, 'x');
  CHECK(error_of([&] { write_file(folder / "a", big); }) ==
        "cannot write " + (folder / "a").string() + ": File too large");
  CHECK(load(folder / "a") == "old");
  CHECK(folder.entries() == 1);
  sigset_t pending;
  sigpending(&pending);
  CHECK(sigismember(&pending, SIGXFSZ) == 0);
}

TEST_CASE("a full device is an error that says so") {
  CHECK(error_of([] { write_file("/dev/full", "text"); }) == "cannot write /dev/full: No space left on device");
}

TEST_CASE("a missing folder is an error that names the target") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "none" / "a";
  CHECK(error_of([&] { write_file(path, "text"); }) == "cannot write " + path.string() + ": No such file or directory");
}

TEST_CASE("a folder as target is an error") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "a");
  CHECK(error_of([&] { write_file(folder / "a", "x"); }).starts_with("cannot write "));
  CHECK(error_of([&] {
          AtomicFile file{folder / "a"};
          file.commit();
        }).starts_with("cannot write "));
  CHECK(folder.entries() == 1);
}

TEST_CASE("a symbolic link stays one; the file that it names is replaced") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "real");
  save(folder.path() / "real" / "a", "old");
  std::filesystem::create_symlink("real/a", folder / "link");
  write_file(folder / "link", "new");
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(load(folder.path() / "real" / "a") == "new");
  std::filesystem::create_symlink("real/b", folder / "dangling");
  write_file(folder / "dangling", "made");
  CHECK(load(folder.path() / "real" / "b") == "made");
}

TEST_CASE("links that name one another are an error, and stay") {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("b", folder / "a");
  std::filesystem::create_symlink("a", folder / "b");
  CHECK(error_of([&] { write_file(folder / "a", "x"); }) ==
        "cannot write " + (folder / "a").string() + ": Too many levels of symbolic links");
  CHECK(std::filesystem::is_symlink(folder / "a"));
  CHECK(folder.entries() == 2);
}

TEST_CASE("permissions of a replaced file are kept") {
  const TemporaryFolder folder;
  save(folder / "a", "old");
  std::filesystem::permissions(folder / "a", std::filesystem::perms{0640});
  write_file(folder / "a", "new");
  CHECK(std::filesystem::status(folder / "a").permissions() == std::filesystem::perms{0640});
}

TEST_CASE("a device is written to, not replaced") {
  write_file("/dev/null", "text");
  CHECK(std::filesystem::is_character_file("/dev/null"));
}
