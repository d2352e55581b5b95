#include "process/scratch_folder.hpp"

#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

#include <lockstep/diagnostic.hpp>

#include "catch.hpp"
#include "temporary_folder.hpp"

namespace {

/// TMPDIR has another value as long as this lives.
class OtherTemporaryFolder {
 public:
  explicit OtherTemporaryFolder(const std::string& value) {
    if (const char* before = std::getenv("TMPDIR")) before_ = before;
    ::setenv("TMPDIR", value.c_str(), 1);
  }
  ~OtherTemporaryFolder() { before_ ? ::setenv("TMPDIR", before_->c_str(), 1) : ::unsetenv("TMPDIR"); }
  OtherTemporaryFolder(const OtherTemporaryFolder&) = delete;
  OtherTemporaryFolder& operator=(const OtherTemporaryFolder&) = delete;

 private:
  std::optional<std::string> before_;
};

}  // namespace

TEST_CASE("a scratch folder lies in TMPDIR, two never share one, and it is gone with all that is in it") {
  const TemporaryFolder outer;
  const OtherTemporaryFolder environment(outer.path().string());
  {
    const lockstep::ScratchFolder a("rows");
    const lockstep::ScratchFolder b("rows");
    CHECK(a.path() != b.path());
    CHECK(a.path().parent_path() == outer.path());
    CHECK(a.path().filename().string().starts_with("lockstep-rows-"));
    std::filesystem::create_directory(a.path() / "inner");
    std::ofstream(a.path() / "inner/file") << "x";
    CHECK(outer.entries() == 2);
  }
  CHECK(outer.entries() == 0);
}

TEST_CASE("a scratch folder that cannot be made is an error that names it and what to do") {
  const TemporaryFolder outer;
  const OtherTemporaryFolder environment(outer.file("missing"));
  try {
    const lockstep::ScratchFolder folder("rows");
    FAIL("made in a folder that is missing");
  } catch (const lockstep::Error& error) {
    CHECK_THAT(error.what(), contains_text(outer.file("missing/lockstep-rows-")));
    CHECK_THAT(error.diagnostic().help, contains_text("TMPDIR"));
  }
}
