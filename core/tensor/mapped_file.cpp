#include "tensor/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

namespace lockstep {
namespace {

struct Descriptor {
  int value;
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
};

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::open(const std::filesystem::path& path) {
  const auto fail = [&](std::string_view why) { return Error{fmt::format("cannot read {}: {}", path.string(), why)}; };
  // O_NONBLOCK: opening a pipe without a writer must not wait for one.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.value < 0) throw fail(std::strerror(errno));
  struct stat status {};
  if (::fstat(file.value, &status) != 0) throw fail(std::strerror(errno));
  if (S_ISDIR(status.st_mode)) throw fail("it is a folder, expected a file");
  if (!S_ISREG(status.st_mode)) throw fail("it is not a regular file");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return std::shared_ptr<const MappedFile>(new MappedFile({}));
  void* const data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.value, 0);
  if (data == MAP_FAILED) throw fail(std::strerror(errno));
  return std::shared_ptr<const MappedFile>(new MappedFile({static_cast<const char*>(data), size}));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

}  // namespace lockstep
