#pragma once

// Runs a program as a user would: arguments, working folder, environment, signals; standard output and error apart.

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace process {

struct Options {
  std::filesystem::path folder = ".";
  std::vector<std::string> environment = {};  ///< "NAME=value", added to what this process has
  bool output_is_closed = false;              ///< nobody reads standard output, as after `| head -0`
  std::string output_file = {};               ///< standard output goes there instead of to Result::out
};

struct Result {
  int code = -1;   ///< exit code; -1 if a signal ended it
  int signal = 0;  ///< that signal
  std::string out;
  std::string err;
};

/// A running program. Not copyable; `wait` must be called once.
class Process {
 public:
  explicit Process(const std::vector<std::string>& words, const Options& options = {}) {
    if (pipe2(out_.data(), O_CLOEXEC) != 0 || pipe2(err_.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, options.folder.c_str());
    posix_spawn_file_actions_adddup2(&actions, out_[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err_[1], STDERR_FILENO);
    if (!options.output_file.empty())
      posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, options.output_file.c_str(), O_WRONLY | O_CREAT, 0644);

    std::vector<char*> arguments;
    for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    auto entries = environment_with(options.environment);
    std::vector<char*> environment;
    for (auto& entry : entries) environment.push_back(entry.data());
    environment.push_back(nullptr);

    if (options.output_is_closed) close(std::exchange(out_[0], -1));
    const int error = posix_spawnp(&pid_, arguments[0], &actions, nullptr, arguments.data(), environment.data());
    posix_spawn_file_actions_destroy(&actions);
    close(out_[1]);
    close(err_[1]);
    if (error != 0) throw std::runtime_error("cannot start " + words.front());
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void send(int signal) const { kill(pid_, signal); }

  Result wait() {
    Result result;
    read_both(result);
    int status = 0;
    waitpid(pid_, &status, 0);
    if (WIFEXITED(status)) result.code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
    return result;
  }

 private:
  /// This process's environment; later entries replace earlier ones of their name.
  static std::vector<std::string> environment_with(const std::vector<std::string>& added) {
    std::map<std::string, std::string> entries;
    const auto add = [&entries](const std::string& entry) { entries[entry.substr(0, entry.find('='))] = entry; };
    for (char** entry = environ; *entry != nullptr; ++entry) add(*entry);
    for (const auto& entry : added) add(entry);
    std::vector<std::string> result;
    for (auto& [name, entry] : entries) result.push_back(std::move(entry));
    return result;
  }

  void read_both(Result& result) {
    std::array<pollfd, 2> streams{pollfd{out_[0], POLLIN, 0}, pollfd{err_[0], POLLIN, 0}};
    const std::array<std::string*, 2> texts{&result.out, &result.err};
    while (streams[0].fd >= 0 || streams[1].fd >= 0) {
      poll(streams.data(), streams.size(), -1);
      for (std::size_t i = 0; i < streams.size(); ++i) {
        if (streams[i].fd < 0 || streams[i].revents == 0) continue;
        std::array<char, 4096> buffer;
        const auto size = read(streams[i].fd, buffer.data(), buffer.size());
        if (size > 0)
          texts[i]->append(buffer.data(), static_cast<std::size_t>(size));
        else
          close(std::exchange(streams[i].fd, -1));
      }
    }
  }

  pid_t pid_ = -1;
  std::array<int, 2> out_{-1, -1};
  std::array<int, 2> err_{-1, -1};
};

inline Result run(const std::vector<std::string>& words, const Options& options = {}) {
  return Process(words, options).wait();
}

}  // namespace process
