#include <fmt/format.h>

#include <fstream>
#include <map>

#include "recording/recording.hpp"

namespace gemma4 {

std::vector<std::string> differences(const Fingerprint& recorded, const Fingerprint& here) {
  std::vector<std::string> found;
  const auto compare = [&](std::string_view field, const auto& before, const auto& now) {
    if (before != now) found.push_back(fmt::format("{} is {}, recorded with {}", field, now, before));
  };
  compare("torch", recorded.torch, here.torch);
  compare("onednn", recorded.onednn, here.onednn);
  compare("cpu", recorded.cpu, here.cpu);
  compare("cpu_capability", recorded.cpu_capability, here.cpu_capability);
  compare("threads", recorded.threads, here.threads);
  return found;
}

std::string cpu_of_this_machine() {
  const auto stripped = [](const std::string& text) {
    const auto first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
    return first == std::string::npos ? std::string() : text.substr(first, last - first + 1);
  };
  std::map<std::string, std::string> fields{{"vendor_id", "?"}, {"cpu family", "?"}, {"model", "?"}};
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line) && !line.empty();) {
    const auto colon = line.find(':');
    if (colon != std::string::npos) fields[stripped(line.substr(0, colon))] = stripped(line.substr(colon + 1));
  }
  return fmt::format("{} family {} model {}", fields["vendor_id"], fields["cpu family"], fields["model"]);
}

}  // namespace gemma4
