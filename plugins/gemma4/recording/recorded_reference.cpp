#include "recording/recorded_reference.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

#include "recording/recorded_checkpoint.hpp"
#include "recording/recorded_fusion.hpp"
#include "recording/recorded_session.hpp"
#include "recording/recorded_values.hpp"
#include "recording/row_table.hpp"

namespace gemma4 {
namespace {

using lockstep::DType;
using lockstep::Error;
using lockstep::Tensor;
using lockstep::TensorVisitor;

/// To nearest, ties to even. The values here are finite.
std::uint16_t bfloat16_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

Tensor widened(const Tensor& bfloat16s) {
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(bfloat16s.numel()));
  for (std::size_t i = 0; i < static_cast<std::size_t>(bfloat16s.numel()); ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, bfloat16s.data() + 2 * i, 2);
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16));
  }
  return Tensor::copy_of(std::span<const float>(values), bfloat16s.sizes());
}

void require_ids(const Tensor& input_ids) {
  if (input_ids.dtype() != DType::int64 || input_ids.dim() != 2) {
    throw Error{fmt::format("input_ids is {}, expected int64 [batch, sequence]", input_ids.to_string())};
  }
}

class RecordedReference final : public Reference {
 public:
  RecordedReference(std::shared_ptr<const Checkpoint> checkpoint, Recording recording)
      : checkpoint_(std::move(checkpoint)), recording_(std::make_shared<const Recording>(std::move(recording))) {
    require_recorded_checkpoint(*recording_, *checkpoint_);
  }

  DType dtype() const override { return recording_->dtype(); }
  const Checkpoint& checkpoint() const override { return *checkpoint_; }
  std::string identity() const override { return "recorded, " + recording_->folder().string(); }

  Tensor token_embedding(const Tensor& input_ids) const override {
    require_ids(input_ids);
    require_recorded_start(input_ids.contiguous());
    auto rows = recorded_rows(*recording_, "llm.ids", "llm.embed", "id");
    if (recording_->values("llm.pad_embed")) {
      const std::array pad{tokens().pad};
      rows.add(Tensor::copy_of(std::span<const std::int64_t>(pad), {1, 1}),
               recorded_values(*recording_, "llm.pad_embed"), "llm.pad_embed");
    }
    return rows.gather(input_ids, "input_ids");
  }

  Tensor unscaled_embedding(const Tensor& input_ids) const override {
    require_ids(input_ids);
    const auto& table = checkpoint_->weight("model.language_model.embed_tokens.weight");
    if (table.dtype() != dtype() && !(table.dtype() == DType::bfloat16 && dtype() == DType::float32)) {
      throw Error{fmt::format("the recording is of {}, the checkpoint of {}: no recording has the rows themselves",
                              lockstep::name_of(dtype()), lockstep::name_of(table.dtype())),
                  "use gemma4.reference"};
    }
    const auto bytes = static_cast<std::size_t>(table.size(1)) * lockstep::element_size(table.dtype());
    const auto dense = input_ids.contiguous();
    std::vector<std::byte> rows;
    for (const auto id : dense.values<std::int64_t>()) {
      if (id < 0 || id >= table.size(0)) {
        throw Error{fmt::format("input_ids has {}, expected 0 to {} (vocab_size)", id, table.size(0) - 1)};
      }
      const auto* row = table.data() + static_cast<std::size_t>(id) * bytes;
      rows.insert(rows.end(), row, row + bytes);
    }
    const auto gathered = Tensor::copy_of(rows, table.dtype(), {dense.size(0), dense.size(1), table.size(1)});
    return table.dtype() == dtype() ? gathered : widened(gathered);
  }

  Tensor embed_scale() const override {
    const std::array scale{static_cast<float>(std::sqrt(static_cast<double>(checkpoint_->config().text.hidden_size)))};
    if (dtype() == DType::float32) return Tensor::copy_of(std::span<const float>(scale), {});
    const std::array rounded{bfloat16_of(scale[0])};
    return Tensor::copy_of(std::as_bytes(std::span(rounded)), DType::bfloat16, {});
  }

  Tensor image_features(const Tensor& pixel_values, const Tensor& image_position_ids,
                        const TensorVisitor& taps) const override {
    require_recorded_pixels(*recording_, pixel_values, image_position_ids);
    show_recorded(*recording_, "vis.", taps);
    return recorded_values(*recording_, "vis.proj");
  }

  Tensor fuse(const Tensor& text_embeds, const Tensor& image_mask, const Tensor& image_features) const override {
    return RecordedFusion(*recording_, tokens().image).place(text_embeds, image_mask, image_features);
  }

  Tensor per_layer_inputs(const Tensor& llm_input_ids, const Tensor& fused_embeds,
                          const TensorVisitor& taps) const override {
    require_recorded(*recording_, "llm.ids", llm_input_ids, "llm_input_ids");
    require_recorded(*recording_, "llm.fused", fused_embeds, "fused_embeds");
    show_recorded(*recording_, "ple.", taps);
    return recorded_values(*recording_, "ple.combined");
  }

  std::optional<std::int64_t> known_positions() const override {
    return recorded_values(*recording_, "tok.ids").size(1);
  }

  AttentionMasks attention_masks(const Tensor& attention_mask, std::int64_t past_length) const override {
    return recorded_masks(*recording_, attention_mask, past_length);
  }

  RopeTables rope(const Tensor& position_ids) const override {
    const auto table = [&](const std::string& name) {
      if (!recording_->tensors().contains(name)) return Tensor();
      return recorded_rows(*recording_, "llm.position_ids", name, "position").gather(position_ids, "position_ids");
    };
    RopeTables tables;
    tables.sliding = {table("rope.sliding.cos"), table("rope.sliding.sin")};
    tables.full = {table("rope.full.cos"), table("rope.full.sin")};
    return tables;
  }

  std::unique_ptr<ReferenceSession> start() const override { return make_recorded_session(recording_, checkpoint_); }

  ReferencePrompt prompt(const ModelInputs& inputs, const TensorVisitor& taps) const override {
    auto prompt = recorded_prompt(recording_, checkpoint_, inputs, taps);
    prompt.made_by = identity();
    return prompt;
  }
  std::unique_ptr<ReferenceSession> resume(const ReferencePrompt& prompt) const override {
    return resume_recorded_session(recording_, checkpoint_, prompt);
  }
  Generation generate(const ReferencePrompt& prompt, std::int64_t max_new_tokens,
                      const std::function<void(std::int64_t, const Tensor&)>& each) const override {
    return recorded_generation(*recording_, *checkpoint_, prompt.inputs, max_new_tokens, each);
  }

 private:
  [[nodiscard]] const SpecialTokenIds& tokens() const { return checkpoint_->config().tokens; }

  /// Ids that are at least as many as were recorded are a prompt: the recorded one, then padding.
  void require_recorded_start(const Tensor& input_ids) const {
    const auto recorded = recorded_values(*recording_, "llm.ids");
    const auto length = recorded.size(1);
    if (input_ids.size(1) < length) return;
    if (input_ids.size(0) != recorded.size(0)) {
      throw Error{
          fmt::format("input_ids is {}, the recorded prompt {} (llm.ids)", input_ids.to_string(), recorded.to_string()),
          "run the prompt that was recorded"};
    }
    const auto asked = input_ids.values<std::int64_t>(), known = recorded.values<std::int64_t>();
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const auto row = static_cast<std::int64_t>(i) / input_ids.size(1);
      const auto slot = static_cast<std::int64_t>(i) % input_ids.size(1);
      const auto expected = slot < length ? known[static_cast<std::size_t>(row * length + slot)] : tokens().pad;
      if (asked[i] == expected) continue;
      throw Error{slot < length ? fmt::format("input_ids[{}, {}] is {}, the recording was made with {} (llm.ids)", row,
                                              slot, asked[i], expected)
                                : fmt::format("input_ids[{}, {}] is {}, behind the {} recorded tokens only the pad id "
                                              "{} is expected",
                                              row, slot, asked[i], length, expected),
                  "run the prompt that was recorded, or record this one with tools/record_hf.py"};
    }
  }

  std::shared_ptr<const Checkpoint> checkpoint_;
  std::shared_ptr<const Recording> recording_;
};

}  // namespace

std::shared_ptr<const Reference> make_recorded_reference(std::shared_ptr<const Checkpoint> checkpoint,
                                                         Recording recording) {
  return std::make_shared<const RecordedReference>(std::move(checkpoint), std::move(recording));
}

}  // namespace gemma4
