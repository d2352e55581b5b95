#include "recording/recorded_checkpoint.hpp"

#include <filesystem>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>
#include <lockstep/safetensors.hpp>

namespace gemma4 {

using lockstep::Error;

void require_recorded_checkpoint(const Recording& recording, const Checkpoint& checkpoint) {
  for (const auto& [name, expected] : recording.checkpoint_files()) {
    const auto file = checkpoint.folder() / name;
    if (!std::filesystem::exists(file)) {
      throw Error{fmt::format("{}: no such file, but the recording was made with one", file.string()),
                  "set checkpoint to the one that was recorded"};
    }
    if (const auto found = lockstep::sha256_of_file(file); found != expected) {
      throw Error{fmt::format("{}: sha256 is {}, recorded with {}", file.string(), found, expected),
                  "set checkpoint to the one that was recorded, or record this one with tools/record_hf.py"};
    }
  }
}

}  // namespace gemma4
