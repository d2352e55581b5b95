#include "engine/worker.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "cli/terminal_io.hpp"
#include "cli/verbs.hpp"
#include "loader/loader.hpp"
#include "pipeline/exit_code.hpp"

namespace lockstep::cli {

int worker(const CommandLine& line) {
  std::array<int, worker_files> descriptors{};
  bool understood = line.words.size() == 1 + worker_files;
  for (std::size_t i = 0; understood && i < worker_files; ++i) {
    const auto& word = line.words[i + 1];
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), descriptors.at(i));
    understood = error == std::errc() && end == word.data() + word.size();
  }
  if (!understood) return exit_code::invalid;
  PluginLoader loader({});  // the request names the file of every plugin
  run_worker(descriptors, loader);
  // The answer is written. What the plugins do when the process ends is no part of the step any more.
  std::fflush(nullptr);
  _exit(exit_code::passed);
}

}  // namespace lockstep::cli
