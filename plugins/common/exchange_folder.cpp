#include "exchange_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

namespace common {

ExchangeFolder::ExchangeFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "lockstep-command-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    throw lockstep::Error{
        fmt::format("no folder '{}' can be made for the command's files: {}", name, std::strerror(errno)),
        "TMPDIR names the folder of temporary files"};
  path_ = name;
}

ExchangeFolder::~ExchangeFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace common
