#include "runtime/dumped_stages.hpp"

#include <utility>

#include <fmt/format.h>

#include "runtime/not_served.hpp"

namespace gemma4 {

DumpedStages::DumpedStages(RuntimeDump dump, std::set<std::string, std::less<>> required)
    : dump_(std::move(dump)), required_(std::move(required)) {}

lockstep::Tensor DumpedStages::at(std::string_view stage, std::string_view output) const {
  const auto name = fmt::format("{}.{}", stage, output);
  if (auto found = dump_.find(name)) return *found;
  const auto near = dump_.nearest(name);
  throw NotServed(fmt::format("{}: the dump has no {}", dump_.folder().string(), name),
                  fmt::format("dump it{}, or name in the runtime's require only the stages that it has",
                              near.empty() ? "" : fmt::format(" (the nearest name there is {})", near)),
                  required_.contains(stage));
}

void DumpedStages::refuse(std::string_view stage, const std::string& why) const {
  throw NotServed(fmt::format("{}: {}", dump_.folder().string(), why), "dump the run that the pipeline makes",
                  required_.contains(stage));
}

}  // namespace gemma4
