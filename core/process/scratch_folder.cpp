#include "process/scratch_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

namespace lockstep {

ScratchFolder::ScratchFolder(std::string_view what) {
  const char* folder = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): nothing here sets the environment
  const bool is_set = folder != nullptr && *folder != '\0';
  auto name = (std::filesystem::path(is_set ? folder : "/tmp") / fmt::format("lockstep-{}-XXXXXX", what)).string();
  if (::mkdtemp(name.data()) == nullptr)
    throw Error{fmt::format("no folder '{}' can be made: {}", name, std::strerror(errno)),
                "TMPDIR names the folder of temporary files"};
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  if (is_kept_) return;
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace lockstep
