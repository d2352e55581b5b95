#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>

#include <lockstep/torch.hpp>

#include "catch.hpp"
#include "gemma4/runtime/pictures.hpp"
#include "gemma4/runtime/tensors.hpp"
#include "runtime/known_profiles.hpp"
#include "runtime/static_runtime.hpp"

namespace gemma4::test {

// Across machines float32 results differ by the order of sums: norm-wise 1e-5 of the largest value.
inline constexpr double fp32_sums = 1e-5;

inline StaticRuntimeOptions text_options(std::int64_t max_seq, lockstep::DType dtype = lockstep::DType::float32,
                                         Fault fault = Fault::none) {
  return {.profile = find_profile("shapes_30x21_70"), .max_seq = max_seq, .dtype = dtype, .fault = fault};
}
/// Window 24, layers 0 to 3 with keys and values of their own, 4 to 6 without; no softcap.
inline std::shared_ptr<const Runtime> irregular_runtime(std::int64_t max_seq, Fault fault = Fault::none) {
  return make_static_runtime(irregular_vision_checkpoint(), text_options(max_seq, lockstep::DType::float32, fault));
}
/// Window 64, layers 0 to 4 with keys and values of their own, 5 to 9 without; softcap 30.
inline std::shared_ptr<const Runtime> shapes_runtime(std::int64_t max_seq,
                                                     lockstep::DType dtype = lockstep::DType::float32) {
  return make_static_runtime(shapes_vision_checkpoint(), text_options(max_seq, dtype));
}

/// `count` ids of ordinary tokens, always the same.
inline std::vector<std::int64_t> some_ids(std::int64_t count) {
  std::vector<std::int64_t> ids;
  for (std::uint64_t state = 7; std::ssize(ids) < count;) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    ids.push_back(static_cast<std::int64_t>(20 + (state >> 33) % 800));
  }
  return ids;
}

/// A prompt and what the stages before prefill make of it.
struct Prompt {
  StaticBatch batch;
  lockstep::Tensor embeds;
  AttentionMasks masks;
  RopeTables rope;
};

/// `ids` as the language model gets them; the embeddings are those of the ids, or `fused` [1, n, H] for the first rows.
inline Prompt prompt_of(const Runtime& runtime, const lockstep::Tensor& ids,
                        const std::optional<lockstep::Tensor>& fused = std::nullopt) {
  const auto count = ids.size(1);
  Prompt prompt;
  prompt.batch = runtime.build_static_inputs(
      {.input_ids = ids,
       .attention_mask = bools(std::vector<std::uint8_t>(static_cast<std::size_t>(count), 1), {1, count})});
  auto embeds = lockstep::to_torch(runtime.token_embedding(prompt.batch.input_ids)).clone();
  if (fused) embeds.slice(1, 0, count).copy_(lockstep::to_torch(*fused));
  prompt.embeds = embeds;
  prompt.masks = runtime.attention_masks(prompt.batch.attention_mask);
  prompt.rope = runtime.rope(prompt.batch.position_ids);
  return prompt;
}
inline Prompt prompt_of(const Runtime& runtime, const std::vector<std::int64_t>& ids) {
  return prompt_of(runtime, row(ids));
}

inline at::Tensor prefill(RuntimeSession& session, const Prompt& prompt, const lockstep::TensorVisitor& taps = {}) {
  return lockstep::to_torch(session.prefill(prompt.batch, prompt.embeds, prompt.masks, prompt.rope, taps));
}
inline at::Tensor decode(RuntimeSession& session, std::int64_t id, const lockstep::TensorVisitor& taps = {}) {
  return lockstep::to_torch(session.decode(row({id}), taps));
}

/// max|a - e| / max|e|
inline double norm_wise(const at::Tensor& expected, const at::Tensor& actual) {
  REQUIRE(expected.sizes() == actual.sizes());
  REQUIRE(expected.scalar_type() == actual.scalar_type());
  const auto wide = expected.to(at::kFloat);
  return ((actual.to(at::kFloat) - wide).abs().max() / wide.abs().max()).item<double>();
}
inline bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  return a.scalar_type() == b.scalar_type() && at::equal(a, b);
}

using Shown = std::map<std::string, at::Tensor, std::less<>>;
inline lockstep::TensorVisitor into(Shown& shown) {
  return [&shown](std::string_view name, const lockstep::Tensor& tensor) {
    shown.insert_or_assign(std::string(name), lockstep::to_torch(tensor).clone());
  };
}

}  // namespace gemma4::test
