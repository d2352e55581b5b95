#pragma once

#include <cstdint>
#include <filesystem>
#include <lockstep/safetensors.hpp>
#include <map>
#include <string>
#include <vector>

#include "checkpoint/config.hpp"

namespace gemma4 {

/// Name in the file -> shape, of every weight that the model of this configuration reads.
using Inventory = std::map<std::string, std::vector<std::int64_t>, std::less<>>;

[[nodiscard]] LOCKSTEP_API Inventory expected_tensors(const Config& config);

/// K/V weights of sharing layers, which Google's files have and nobody may use, and the audio tower.
[[nodiscard]] bool is_ignored(const std::string& name, const Config& config);

/// Throws lockstep::Error that lists missing, unexpected and wrong tensors together.
void check_tensors(const lockstep::SafetensorsFile& file, const Inventory& expected, const Config& config);

}  // namespace gemma4
