#include <exception>
#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>
#include "scaffold/new_step.hpp"
#include "tensor/atomic_file.hpp"

namespace lockstep::scaffold {
namespace {

namespace fs = std::filesystem;

/// Undoes what was done, newest first, unless it is kept.
class Undo {
 public:
  Undo() = default;
  Undo(const Undo&) = delete;
  Undo& operator=(const Undo&) = delete;
  ~Undo() {
    for (; !done_.empty(); done_.pop_back()) {
      const auto& file = done_.back();
      try {
        if (file.original)
          write_file(file.path, *file.original);
        else
          fs::remove(file.path);
      } catch (const std::exception&) {  // the error that led here is the one to tell
        continue;
      }
    }
  }
  void add(NewFile file) { done_.push_back(std::move(file)); }
  void keep() { done_.clear(); }

 private:
  std::vector<NewFile> done_;
};

/// The folders that are missing above `path`, outermost first.
std::vector<fs::path> missing_folders(const fs::path& path) {
  std::vector<fs::path> missing;
  for (auto folder = path.parent_path(); !folder.empty() && !fs::exists(folder); folder = folder.parent_path())
    missing.insert(missing.begin(), folder);
  return missing;
}

}  // namespace

std::vector<fs::path> in_the_way(const std::vector<NewFile>& files) {
  std::vector<fs::path> found;
  for (const auto& file : files) {
    std::error_code ignored;
    if (!file.original && fs::exists(fs::symlink_status(file.path, ignored))) found.push_back(file.path);
  }
  return found;
}

void write_all(const std::vector<NewFile>& files) {
  Undo undo;
  for (const auto& file : files) {
    for (const auto& folder : missing_folders(file.path)) {
      std::error_code failed;
      if (!fs::create_directory(folder, failed))
        throw Error{fmt::format("folder '{}' cannot be made: {}", folder.string(), failed.message())};
      undo.add({.path = folder, .text = {}, .original = {}});
    }
    write_file(file.path, file.text);
    undo.add(file);
  }
  undo.keep();
}

}  // namespace lockstep::scaffold
