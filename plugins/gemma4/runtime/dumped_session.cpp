#include "runtime/dumped_session.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

namespace gemma4 {
namespace {

using lockstep::DType;
using lockstep::Error;
using lockstep::Tensor;

/// Row `index` of [n, V] as [1, V].
Tensor row_of(const Tensor& rows, std::int64_t index) {
  const auto offset = index * rows.strides()[0] * static_cast<std::int64_t>(lockstep::element_size(rows.dtype()));
  return {rows.owner(), rows.data() + offset, rows.dtype(), {1, rows.size(1)}, rows.strides()};
}

bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.sizes() != b.sizes()) return false;
  const auto bytes = static_cast<std::size_t>(a.numel()) * lockstep::element_size(a.dtype());
  const auto left = a.contiguous(), right = b.contiguous();
  return std::equal(left.data(), left.data() + bytes, right.data());
}

class DumpedSession final : public RuntimeSession {
 public:
  DumpedSession(std::shared_ptr<const DumpedStages> stages, DumpedModel model, const KvCache* snapshot)
      : stages_(std::move(stages)), model_(std::move(model)) {
    if (!snapshot) return;
    visit_tensors(*snapshot, [this](std::string_view name, const Tensor& given) {
      require_own("decode", fmt::format("prefill.kv_cache.{}", name), given);
    });
    prompt_ = snapshot->length;
  }

  Tensor prefill(const StaticBatch& batch, const Tensor& fused_embeds, const AttentionMasks& masks,
                 const RopeTables& rope, const lockstep::TensorVisitor& taps) override {
    if (prompt_ > 0) throw Error{"prefill was called after the prompt", "start a session for each prompt"};
    require_own("prefill", "mm_fusion.fused_embeds", fused_embeds);
    const auto require_table = [this](std::string_view port) {
      return [this, port](std::string_view name, const Tensor& given) {
        require_own("prefill", fmt::format("masks_and_rope.{}.{}", port, name), given);
      };
    };
    visit_tensors(masks, require_table("masks"));
    visit_tensors(rope, require_table("rope"));
    auto logits = stages_->at("prefill", "logits");
    stages_->dump().show("prefill", taps);
    prompt_ = batch.valid_length;
    return logits;
  }

  Tensor decode(const Tensor& input_ids, const lockstep::TensorVisitor& taps) override {
    require_prompt("decode");
    const auto tokens = list_of("decode", "decode_tokens");
    const auto rows = rows_of("decode", "decode_logits", std::ssize(tokens));
    if (input_ids.dtype() != DType::int64 || input_ids.numel() != 1) {
      throw Error{fmt::format("input_ids is {}, decode takes int64 [1, 1]", input_ids.to_string())};
    }
    const auto asked = input_ids.contiguous().values<std::int64_t>().front();
    if (step_ >= std::ssize(tokens)) {
      stages_->refuse("decode",
                      fmt::format("the dump has {} steps of decode.decode_logits, asked for one more", tokens.size()));
    }
    if (const auto dumped = tokens[static_cast<std::size_t>(step_)]; dumped != asked) {
      stages_->refuse("decode", fmt::format("step {} of decode.decode_logits was computed for token {}, asked for {}",
                                            step_, dumped, asked));
    }
    stages_->dump().show(fmt::format("decode.{}", step_), taps);
    return row_of(rows, step_++);
  }

  std::int64_t length() const override { return prompt_ > 0 ? prompt_ + step_ : 0; }

  KvCache snapshot() const override {
    const auto* stage = step_ == 0 ? "prefill" : "decode";
    const auto* output = step_ == 0 ? "kv_cache" : "decode_cache";
    KvCache cache{.length = length(), .layers = {}};
    for (const auto layer : model_.cache_layers) {
      const auto part = [&](char kind) {
        return stages_->at(stage, fmt::format("{}.cache.L{}.{}", output, layer, kind));
      };
      cache.layers.push_back({layer, part('k'), part('v')});
    }
    return cache;
  }

  Generation generate(const Tensor&, std::int64_t max_new_tokens,
                      const std::function<void(std::int64_t, const Tensor&)>& each) override {
    require_prompt("generate");
    const auto tokens = list_of("generation", "generated_tokens");
    const auto rows = rows_of("generation", "generated_logits", std::ssize(tokens));
    const auto count = std::min<std::int64_t>(std::ssize(tokens) - step_, max_new_tokens);
    Generation generation;
    for (std::int64_t step = 0; step < count; ++step) {
      if (const auto token = tokens[static_cast<std::size_t>(step_ + step)]; token < 0 || token >= rows.size(1)) {
        stages_->refuse("generation", fmt::format("generation.generated_tokens has {}, the vocabulary ids 0 to {}",
                                                  token, rows.size(1) - 1));
      }
      generation.tokens.push_back(tokens[static_cast<std::size_t>(step_ + step)]);
      if (each) each(step, row_of(rows, step_ + step));
    }
    const auto& eos = model_.eos_token_ids;
    const bool ended = !generation.tokens.empty() && std::ranges::find(eos, generation.tokens.back()) != eos.end();
    generation.stop = ended ? "eos" : count == max_new_tokens ? "length" : "end of the dump";
    return generation;
  }

 private:
  /// A dump has the answer to its own inputs only, as far as it knows them.
  void require_own(std::string_view stage, std::string_view name, const Tensor& given) const {
    if (const auto own = stages_->dump().find(name); own && !same_bits(*own, given)) {
      stages_->refuse(stage, fmt::format("the dump was computed from its own {}, asked for others", name));
    }
  }
  void require_prompt(std::string_view call) const {
    if (prompt_ == 0) throw Error{fmt::format("{} was called before prefill", call), "call prefill first"};
  }

  /// int64 [1, n] or [n]
  [[nodiscard]] std::vector<std::int64_t> list_of(std::string_view stage, std::string_view output) const {
    const auto dense = stages_->at(stage, output).contiguous();
    if (dense.dtype() != DType::int64) {
      stages_->refuse(stage, fmt::format("{}.{} is {}, expected int64 [1, n]", stage, output, dense.to_string()));
    }
    const auto values = dense.values<std::int64_t>();
    return {values.begin(), values.end()};
  }

  /// [count, V]
  [[nodiscard]] Tensor rows_of(std::string_view stage, std::string_view output, std::int64_t count) const {
    auto rows = stages_->at(stage, output);
    if (rows.dim() != 2 || rows.size(0) != count) {
      stages_->refuse(stage, fmt::format("{}.{} is {}, expected [{}, vocabulary]: a row for each token", stage, output,
                                         rows.to_string(), count));
    }
    return rows;
  }

  std::shared_ptr<const DumpedStages> stages_;
  DumpedModel model_;
  std::int64_t prompt_ = 0;  // its tokens; 0: not seen yet
  std::int64_t step_ = 0;    // tokens decoded
};

}  // namespace

std::unique_ptr<RuntimeSession> make_dumped_session(std::shared_ptr<const DumpedStages> stages, DumpedModel model,
                                                    const KvCache* snapshot) {
  return std::make_unique<DumpedSession>(std::move(stages), std::move(model), snapshot);
}

}  // namespace gemma4
