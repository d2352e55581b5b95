#include "process/process_tree.hpp"

#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string>

#include <fmt/format.h>

namespace lockstep {
namespace {

struct Found {
  ProcessId id;
  pid_t parent = 0;
};

/// From /proc/PID/stat, proc(5).
std::optional<Found> look_at(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto name_end = text.rfind(')');  // the name may hold anything, also spaces
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  constexpr int fields_between = 17;  // the parent is field 4, the start field 22
  std::string skipped;
  Found found{.id = {.pid = pid}};
  fields >> skipped >> found.parent;
  for (int i = 0; i < fields_between; ++i) fields >> skipped;
  if (!(fields >> found.id.started)) return std::nullopt;
  return found;
}

}  // namespace

std::vector<ProcessId> descendants_of(pid_t root) {
  std::multimap<pid_t, ProcessId> children;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", failed)) {
    const auto name = entry.path().filename().string();
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc() || end != name.data() + name.size()) continue;
    if (const auto found = look_at(pid)) children.emplace(found->parent, found->id);
  }
  std::vector<ProcessId> result;
  const auto add_children_of = [&](pid_t parent) {
    const auto [first, last] = children.equal_range(parent);
    for (auto child = first; child != last; ++child) result.push_back(child->second);
  };
  add_children_of(root);
  for (std::size_t i = 0; i < result.size(); ++i) add_children_of(result[i].pid);
  return result;
}

void signal_all(const std::vector<ProcessId>& processes, int signal) {
  for (const auto& process : processes) {
    const auto now = look_at(process.pid);
    if (now && now->id.started == process.started) kill(process.pid, signal);
  }
}

}  // namespace lockstep
