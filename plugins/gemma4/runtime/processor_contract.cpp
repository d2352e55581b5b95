#include "runtime/processor_contract.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lockstep/diagnostic.hpp>
#include <lockstep/safetensors.hpp>

namespace gemma4 {
namespace {

using lockstep::DType;
using lockstep::Error;
using lockstep::Tensor;

constexpr auto resize_help =
    "resize the picture to the profile's image_width x image_height, or choose the profile that fits it";

/// Patches that are not padding, for messages.
std::int64_t count_valid(std::span<const std::int64_t> ids) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i + 1 < ids.size(); i += 2) count += ids[i] >= 0 && ids[i + 1] >= 0;
  return count;
}

/// "1-64, 70": the runs of a sorted list, at most eight of them.
std::string runs_text(std::span<const std::int64_t> positions) {
  if (positions.empty()) return "none";
  std::vector<std::string> runs;
  for (std::size_t first = 0; first < positions.size();) {
    std::size_t last = first;
    while (last + 1 < positions.size() && positions[last + 1] == positions[last] + 1) ++last;
    if (runs.size() == 8) {
      runs.emplace_back("…");
      break;
    }
    runs.push_back(first == last ? fmt::format("{}", positions[first])
                                 : fmt::format("{}-{}", positions[first], positions[last]));
    first = last + 1;
  }
  return fmt::format("{}", fmt::join(runs, ", "));
}

}  // namespace

Tensor build_image_position_ids(const VisionProfile& profile) {
  const auto valid = profile.num_valid_patches();
  std::vector<std::int64_t> ids(static_cast<std::size_t>(profile.num_patches()) * 2, -1);
  for (std::int64_t i = 0; i < valid; ++i) {
    ids[static_cast<std::size_t>(2 * i)] = i % profile.patch_grid_width;
    ids[static_cast<std::size_t>(2 * i + 1)] = i / profile.patch_grid_width;
  }
  return Tensor::copy_of(std::span<const std::int64_t>(ids), {1, profile.num_patches(), 2});
}

std::string image_position_ids_sha256(const Tensor& ids) {
  static_assert(std::endian::native == std::endian::little, "the digest is defined over little-endian bytes");
  const auto contiguous = ids.contiguous();
  return lockstep::sha256(std::span(contiguous.data(), static_cast<std::size_t>(contiguous.numel()) * 8));
}

void validate_image_position_ids(const VisionProfile& profile, const Tensor& ids) {
  const auto expected = build_image_position_ids(profile);
  if (ids.dtype() != DType::int64 || ids.sizes() != expected.sizes()) {
    throw Error{fmt::format("image_position_ids is {}, profile '{}' expects {}", ids.to_string(), profile.name,
                            expected.to_string()),
                resize_help};
  }
  const auto contiguous = ids.contiguous();
  const auto actual_values = contiguous.values<std::int64_t>();
  const auto expected_values = expected.values<std::int64_t>();
  if (std::ranges::equal(actual_values, expected_values)) return;
  throw Error{fmt::format("image_position_ids differ from profile '{}': {} valid patches, expected {}; sha256 {}, "
                          "expected {}",
                          profile.name, count_valid(actual_values), count_valid(expected_values),
                          image_position_ids_sha256(contiguous), image_position_ids_sha256(expected)),
              resize_help};
}

void validate_text_input_ids(const VisionProfile& profile, const Tensor& ids, std::int64_t image_token_id) {
  const bool one_row = ids.dim() == 1 || (ids.dim() == 2 && ids.size(0) == 1);
  if (ids.dtype() != DType::int64 || !one_row) {
    throw Error{fmt::format("input_ids is {}, expected one row of int64 ids", ids.to_string()),
                "pass a single prompt, shape [S] or [1, S]"};
  }
  const auto contiguous = ids.contiguous();
  const auto values = contiguous.values<std::int64_t>();
  std::vector<std::int64_t> positions;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == image_token_id) positions.push_back(static_cast<std::int64_t>(i));
  }
  const bool count_fits = static_cast<std::int64_t>(positions.size()) == profile.num_visual_tokens;
  if (count_fits && positions.front() == profile.visual_start_idx && positions.back() == profile.visual_end_idx() - 1) {
    return;
  }
  throw Error{fmt::format("profile '{}' expects image tokens (id {}) in slots {}-{} ({} of them) and nowhere else; "
                          "the prompt has {}: {}",
                          profile.name, image_token_id, profile.visual_start_idx, profile.visual_end_idx() - 1,
                          profile.num_visual_tokens, positions.size(), runs_text(positions)),
              "change the prompt so that the picture starts at the profile's visual_start_idx, or choose the profile "
              "that fits the prompt's format and the picture's size"};
}

void validate_processor_outputs(const VisionProfile& profile, const ProcessorOutputs& outputs,
                                std::int64_t image_token_id) {
  validate_text_input_ids(profile, outputs.input_ids, image_token_id);
  if (!outputs.image_position_ids)
    throw Error{"the prompt has a picture but image_position_ids are missing",
                "pass the image processor's image_position_ids"};
  validate_image_position_ids(profile, *outputs.image_position_ids);
  if (!outputs.pixel_values)
    throw Error{"the prompt has a picture but pixel_values are missing", "pass the image processor's pixel_values"};
  const std::vector<std::int64_t> pixels{1, profile.num_patches(), profile.patch_vector_size()};
  if (outputs.pixel_values->sizes() != pixels) {
    throw Error{fmt::format("pixel_values is {}, profile '{}' expects shape {}", outputs.pixel_values->to_string(),
                            profile.name, lockstep::shape_text(pixels)),
                "set max_soft_tokens and patch_size of the profile to the image processor's"};
  }
  if (!outputs.num_soft_tokens_per_image) return;
  const auto counts = outputs.num_soft_tokens_per_image->contiguous();
  if (counts.dtype() != DType::int64 || counts.numel() != 1 ||
      counts.values<std::int64_t>().front() != profile.num_visual_tokens) {
    const auto found = counts.dtype() == DType::int64
                           ? fmt::format("[{}]", fmt::join(counts.values<std::int64_t>(), ", "))
                           : counts.to_string();
    throw Error{fmt::format("num_soft_tokens_per_image is {}, profile '{}' expects [{}]", found, profile.name,
                            profile.num_visual_tokens),
                resize_help};
  }
}

}  // namespace gemma4
