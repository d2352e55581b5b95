#include "tensor/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

namespace lockstep {
namespace {

Error cannot_write(const std::filesystem::path& path, int error) {
  std::string help;
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) help = "free some space or write to another place";
  if (error == ENOENT) help = "create the folder first";
  return Error{fmt::format("cannot write {}: {}", path.string(), std::strerror(error)), help};
}

/// The file that a symbolic link names, whether it exists or not. Throws Error if links name one another in a circle.
std::filesystem::path behind_links(const std::filesystem::path& target) {
  constexpr int most_links = 40;  // as many as Linux follows (path_resolution(7))
  std::error_code error;
  auto path = target;
  for (int links = 0; std::filesystem::is_symlink(path, error); ++links) {
    if (links == most_links) throw cannot_write(target, ELOOP);
    path = path.parent_path() / std::filesystem::read_symlink(path, error);
  }
  return path;
}

/// A write beyond the file size limit raises SIGXFSZ, which would end the program with a partial file left behind.
/// Held back and taken, the write fails with EFBIG like any other.
class HoldFileSizeSignal {
 public:
  HoldFileSizeSignal() {
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~HoldFileSizeSignal() {
    if (sigismember(&before_, SIGXFSZ) == 1) return;
    const int error = errno;
    const timespec now{};
    sigtimedwait(&signal_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  HoldFileSizeSignal(const HoldFileSizeSignal&) = delete;
  HoldFileSizeSignal& operator=(const HoldFileSizeSignal&) = delete;

 private:
  sigset_t signal_{};
  sigset_t before_{};
};

/// 0 or an errno.
int write_all(int descriptor, std::string_view bytes) {
  const HoldFileSizeSignal hold;
  while (!bytes.empty()) {
    const auto written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

AtomicFile::AtomicFile(const std::filesystem::path& target) : target_(behind_links(target)) {
  static std::atomic<unsigned> count{0};
  partial_ = target_;
  partial_ += fmt::format(".{}-{}.partial", ::getpid(), count++);
  descriptor_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw cannot_write(target_, errno);
  struct stat status {};
  if (::stat(target_.c_str(), &status) == 0) ::fchmod(descriptor_, status.st_mode & 07777);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!partial_.empty()) ::unlink(partial_.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  if (const int error = write_all(descriptor_, bytes); error != 0) throw cannot_write(target_, error);
}

void AtomicFile::commit() {
  // Some file systems report a full disk only here.
  const int closed = ::close(std::exchange(descriptor_, -1));
  if (closed != 0) throw cannot_write(target_, errno);
  if (::rename(partial_.c_str(), target_.c_str()) != 0) throw cannot_write(target_, errno);
  partial_.clear();
}

int write_error(const std::filesystem::path& target) noexcept try {
  struct stat status {};
  if (::stat(target.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    return S_ISDIR(status.st_mode) ? EISDIR : ::access(target.c_str(), W_OK) == 0 ? 0 : errno;
  const auto folder = behind_links(target).parent_path();
  return ::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) == 0 ? 0 : errno;
} catch (const std::exception&) {
  return 0;  // the write itself says it better
}

void write_file(const std::filesystem::path& target, std::string_view bytes) {
  struct stat status {};
  if (::stat(target.c_str(), &status) != 0 || S_ISREG(status.st_mode)) {
    AtomicFile file{target};
    file.write(bytes);
    file.commit();
    return;
  }
  const int descriptor = ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) throw cannot_write(target, errno);
  int error = write_all(descriptor, bytes);
  if (::close(descriptor) != 0 && error == 0) error = errno;
  if (error != 0) throw cannot_write(target, error);
}

}  // namespace lockstep
