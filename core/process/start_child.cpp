#include "process/start_child.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

namespace lockstep {
namespace {

/// What the child was doing when it could not go on; sent to the parent through a pipe.
struct StartFailure {
  enum class At : int { redirect, folder, program } at;
  int error;
};

/// Where this process has a standard stream closed, a pipe could take its number, which the child's streams replace.
Descriptor above_standard_streams(Descriptor descriptor) {
  if (descriptor.get() > STDERR_FILENO) return descriptor;
  return Descriptor(fcntl(descriptor.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

std::pair<Descriptor, Descriptor> open_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw Error{fmt::format("no pipe can be opened: {}", std::strerror(errno))};
  return {above_standard_streams(Descriptor(ends[0])), above_standard_streams(Descriptor(ends[1]))};
}

std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& added) {
  std::map<std::string, std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    entries.emplace(text.substr(0, text.find('=')), text);
  }
  for (const auto& [name, value] : added) entries[name] = name + "=" + value;
  std::vector<std::string> result;
  result.reserve(entries.size());
  for (auto& [name, entry] : entries) result.push_back(std::move(entry));
  return result;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// What the child needs, made before the fork: after it, a process with threads may only make system calls.
struct Prepared {
  std::vector<std::string> words;
  std::vector<std::string> entries;
  std::vector<char*> argv = pointers_to(words);
  std::vector<char*> environment = pointers_to(entries);
  std::vector<int> inherited;
  std::string folder;
  pid_t parent = getpid();
};

[[noreturn]] void give_up(int failure_pipe, StartFailure::At at) {
  const StartFailure failure{at, errno};
  if (write(failure_pipe, &failure, sizeof failure) < 0) _exit(127);
  _exit(127);
}

/// The child's half; system calls only.
[[noreturn]] void become_program(const Prepared& prepared, int output, int failure_pipe) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != prepared.parent) _exit(127);  // it died before the line above
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);

  const int input = open("/dev/null", O_RDONLY);
  if (input < 0 || dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 || dup2(output, STDERR_FILENO) < 0)
    give_up(failure_pipe, StartFailure::At::redirect);
  for (const int descriptor : prepared.inherited) {
    if (fcntl(descriptor, F_SETFD, 0) != 0) give_up(failure_pipe, StartFailure::At::redirect);
  }
  if (!prepared.folder.empty() && chdir(prepared.folder.c_str()) != 0) give_up(failure_pipe, StartFailure::At::folder);
  execvpe(prepared.argv[0], prepared.argv.data(), prepared.environment.data());
  give_up(failure_pipe, StartFailure::At::program);
}

/// Waits until the child has become its program, which closes the pipe, or has told why not.
void require_started(const ChildRequest& request, pid_t pid, const Descriptor& failure_pipe) {
  StartFailure failure{};
  ssize_t size = 0;
  do size = read(failure_pipe.get(), &failure, sizeof failure);
  while (size < 0 && errno == EINTR);
  if (size != sizeof failure) return;
  waitpid(pid, nullptr, 0);
  const auto& program = request.argv.front();
  const auto* reason = std::strerror(failure.error);
  if (failure.at == StartFailure::At::folder)
    throw Error{fmt::format("'{}' cannot be started in the folder '{}': {}", program, request.folder.string(), reason)};
  throw Error{fmt::format("'{}' cannot be started: {}", program, reason),
              failure.error == ENOENT && program.find('/') == std::string::npos
                  ? "install it, or give its path: it is in no folder of PATH"
                  : "the first word of the command must be a program that can be run"};
}

}  // namespace

void Descriptor::reset() noexcept {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

StartedChild start_child(const ChildRequest& request) {
  if (request.argv.empty()) throw Error{"a command without a word cannot be started"};
  auto [output, output_end] = open_pipe();
  auto [failures, failures_end] = open_pipe();
  const Prepared prepared{.words = request.argv,
                          .entries = environment_with(request.environment),
                          .inherited = request.inherited,
                          .folder = request.folder.string()};
  const pid_t pid = fork();
  if (pid < 0) throw Error{fmt::format("'{}' cannot be started: {}", request.argv.front(), std::strerror(errno))};
  if (pid == 0) become_program(prepared, output_end.get(), failures_end.get());
  setpgid(pid, pid);  // in both: whoever comes first
  output_end.reset();
  failures_end.reset();
  require_started(request, pid, failures);
  return {pid, std::move(output)};
}

}  // namespace lockstep
