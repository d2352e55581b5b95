#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "reference/native_reference.hpp"

namespace gemma4::test {

inline std::filesystem::path checkpoint_folder(const std::string& name) {
  return name == "shapes-gemma4" ? std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "pipelines/data" / name
                                 : std::filesystem::path(LOCKSTEP_TEST_DATA) / name;
}
inline std::shared_ptr<const Reference> native_reference(const std::filesystem::path& folder, lockstep::DType dtype) {
  return make_native_reference(std::make_shared<const Checkpoint>(Checkpoint::open(folder)), dtype);
}

/// int64 [rows, values / rows]
inline lockstep::Tensor int64s(const std::vector<std::int64_t>& values, std::int64_t rows = 1) {
  return lockstep::Tensor::copy_of(std::span<const std::int64_t>(values), {rows, std::ssize(values) / rows});
}
/// A prompt without padding.
inline ModelInputs prompt(const std::vector<std::int64_t>& ids, std::int64_t rows = 1) {
  return {.input_ids = int64s(ids, rows),
          .attention_mask = int64s(std::vector<std::int64_t>(ids.size(), 1), rows),
          .pixel_values = std::nullopt,
          .image_position_ids = std::nullopt};
}

}  // namespace gemma4::test
