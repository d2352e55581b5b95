#include "process/temporary_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

namespace lockstep {
namespace {

constexpr int first_descriptor = 3;  // never in the place of a standard stream that this process has closed

Error failed(std::string_view what) {
  return Error{fmt::format("{}: {}", what, std::strerror(errno)),
               "free some space there, or set TMPDIR to a folder with room"};
}

}  // namespace

TemporaryFile::TemporaryFile() : descriptor_(-1) {
  const char* folder = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): nothing here sets the environment
  const bool is_set = folder != nullptr && *folder != '\0';
  auto name = (std::filesystem::path(is_set ? folder : "/tmp") / "lockstep-XXXXXX").string();
  const auto shown = std::filesystem::path(name).parent_path().string();
  const int made = ::mkostemp(name.data(), O_CLOEXEC);
  if (made < 0) throw failed(fmt::format("no temporary file can be made in '{}'", shown));
  ::unlink(name.c_str());
  descriptor_ = made < first_descriptor ? ::fcntl(made, F_DUPFD_CLOEXEC, first_descriptor) : made;
  if (descriptor_ != made) ::close(made);
  if (descriptor_ < 0) throw failed("no temporary file can be kept open");
}

TemporaryFile TemporaryFile::in_memory(std::size_t bytes) {
  const int made = ::memfd_create("lockstep", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (made < 0) throw Error{fmt::format("no memory can be shared: {}", std::strerror(errno))};
  const int kept = made < first_descriptor ? ::fcntl(made, F_DUPFD_CLOEXEC, first_descriptor) : made;
  if (kept != made) ::close(made);
  errno = ::posix_fallocate(kept, 0, static_cast<off_t>(bytes));
  if (errno != 0 || ::fcntl(kept, F_ADD_SEALS, F_SEAL_SHRINK) != 0) {
    ::close(kept);
    throw Error{fmt::format("no memory can be shared: {}", std::strerror(errno))};
  }
  return TemporaryFile(kept);
}

TemporaryFile::~TemporaryFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::filesystem::path TemporaryFile::path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

void TemporaryFile::write(std::string_view bytes, std::size_t offset) {
  while (!bytes.empty()) {
    const auto written = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw failed("a temporary file cannot be written");
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::size_t>(written);
  }
}

}  // namespace lockstep
