#include "recording/recorded_session.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

#include "recording/recorded_cache.hpp"
#include "recording/recorded_values.hpp"

namespace gemma4 {
namespace {

using lockstep::DType;
using lockstep::Error;
using lockstep::Tensor;
using lockstep::TensorVisitor;

constexpr std::string_view run_the_recorded =
    "run the prompt and picture that were recorded, or record these with tools/record_hf.py";

/// The last `count` rows of axis 1.
Tensor last_rows(const Tensor& whole, std::int64_t count) {
  if (whole.dim() < 2 || whole.size(1) <= count) return whole;
  auto sizes = whole.sizes();
  const auto offset = (sizes[1] - count) * whole.strides()[1];
  sizes[1] = count;
  return {whole.owner(), whole.data() + offset * static_cast<std::int64_t>(lockstep::element_size(whole.dtype())),
          whole.dtype(), sizes, whole.strides()};
}

/// The first `count` columns of [B, K].
Tensor first_columns(const Tensor& mask, std::int64_t count) {
  return {mask.owner(), mask.data(), mask.dtype(), {mask.size(0), count}, mask.strides()};
}

/// Element `index` of axis 1 as [1, …].
Tensor element(const Tensor& whole, std::int64_t index) {
  const auto dense = whole.contiguous();
  std::vector<std::int64_t> sizes(dense.sizes().begin() + 1, dense.sizes().end());
  sizes[0] = 1;
  const auto offset = index * dense.strides()[1] * static_cast<std::int64_t>(lockstep::element_size(dense.dtype()));
  return {dense.owner(), dense.data() + offset, dense.dtype(), sizes};
}

/// A mask of bools or integers as the recorder has it.
Tensor as_int64(const Tensor& mask) {
  if (mask.dtype() != DType::boolean) return mask;
  const auto dense = mask.contiguous();
  std::vector<std::int64_t> values;
  for (const bool flag : dense.values<bool>()) values.push_back(flag);
  return Tensor::copy_of(std::span<const std::int64_t>(values), mask.sizes());
}

class RecordedSession final : public ReferenceSession {
 public:
  RecordedSession(std::shared_ptr<const Recording> recording, std::shared_ptr<const Checkpoint> checkpoint)
      : recording_(std::move(recording)), checkpoint_(std::move(checkpoint)) {}

  Tensor prefill(const ModelInputs& inputs, std::int64_t logits_to_keep, const TensorVisitor& taps) override {
    if (length_ > 0) throw Error{"prefill was called twice in one session", "start a session for each prompt"};
    require_recorded_inputs(*recording_, inputs);
    const auto slots = inputs.input_ids.size(1);
    auto logits = prompt_logits(logits_to_keep, slots);
    show_prompt(logits_to_keep == 0 ? slots : logits_to_keep, taps);
    length_ = slots;
    return logits;
  }

  ReferencePrompt prompt(const ModelInputs& inputs, const TensorVisitor& taps) {
    auto logits = prefill(inputs, 1, {});
    show_prompt(length_, taps);
    return {.made_by = {}, .inputs = inputs, .cache = snapshot(), .logits = std::move(logits)};
  }

  Tensor decode(const Tensor& input_ids, const TensorVisitor& taps) override {
    if (length_ == 0) throw Error{"decode was called before prefill", "call prefill first"};
    const auto fed = recorded_values(*recording_, "decode.tokens");
    if (step_ >= fed.size(1)) {
      throw Error{fmt::format("{}: the recording has {} decode steps, asked for one more",
                              recording_->folder().string(), fed.size(1)),
                  "decode fewer tokens, or record more with tools/record_hf.py --steps"};
    }
    const auto batch = fed.size(0);
    if (input_ids.dtype() != DType::int64 || input_ids.sizes() != std::vector<std::int64_t>{batch, 1}) {
      throw Error{fmt::format("input_ids is {}, expected int64 [{}, 1]", input_ids.to_string(), batch)};
    }
    const auto asked = input_ids.contiguous();
    for (std::int64_t row = 0; row < batch; ++row) {
      const auto token = asked.values<std::int64_t>()[static_cast<std::size_t>(row)];
      const auto known = fed.values<std::int64_t>()[static_cast<std::size_t>(row * fed.size(1) + step_)];
      if (token == known) continue;
      throw Error{fmt::format("step {} of row {} is fed token {}, the recording was made with {} (decode.tokens)",
                              step_, row, token, known),
                  "feed the recorded tokens: the recording has the answer to no others"};
    }
    const auto stem = fmt::format("decode.{}.", step_);
    auto logits = recorded_values(*recording_, stem + "logits_capped");
    if (taps) {
      show_recorded(*recording_, stem,
                    [&](std::string_view name, const Tensor& tensor) { taps(name.substr(stem.size()), tensor); });
    }
    ++step_;
    return logits;
  }

  KvCache snapshot() const override { return recorded_cache(*recording_, checkpoint_->config().text, length_, step_); }

 private:
  [[nodiscard]] Tensor prompt_logits(std::int64_t logits_to_keep, std::int64_t slots) const {
    if (logits_to_keep == 1) return recorded_values(*recording_, "prefill_last.logits_capped");
    auto logits = recorded_values(*recording_, "logits_capped");
    if (logits_to_keep > logits.size(1) && logits.size(1) < slots) {
      throw Error{fmt::format("{}: the recording has the logits of the last position only (logits_capped {})",
                              recording_->folder().string(), logits.to_string()),
                  "record with tools/record_hf.py --all-logits"};
    }
    return logits_to_keep == 0 ? logits : last_rows(logits, logits_to_keep);
  }

  void show_prompt(std::int64_t kept, const TensorVisitor& taps) const {
    if (!taps) return;
    const auto& layers = checkpoint_->config().text.layers;
    const auto first_shared = std::ranges::find_if(layers, &TextLayerConfig::shares_kv) - layers.begin();
    const auto is_layer = [](std::string_view name) { return name.size() > 1 && name[0] == 'L' && name[1] <= '9'; };
    const auto show = [&](std::string_view name, const Tensor& tensor) {
      if (!is_layer(name)) return taps(name, name == "final_norm" ? last_rows(tensor, kept) : tensor);
      std::int64_t layer = 0;
      std::from_chars(name.data() + 1, name.data() + name.size(), layer);
      if (layer < first_shared || kept == recorded_slots()) return taps(name, tensor);
      if (name.ends_with(".out")) taps(name, last_rows(tensor, kept));
    };
    for (const auto* stage : {"vis.", "llm.", "ple.", "rope.", "mask.", "L", "final_norm", "logits_raw"}) {
      show_recorded(*recording_, stage, show);
    }
  }
  [[nodiscard]] std::int64_t recorded_slots() const { return recorded_values(*recording_, "tok.ids").size(1); }

  std::shared_ptr<const Recording> recording_;
  std::shared_ptr<const Checkpoint> checkpoint_;
  std::int64_t length_ = 0;
  std::int64_t step_ = 0;
};

}  // namespace

void require_recorded_inputs(const Recording& recording, const ModelInputs& inputs) {
  require_recorded(recording, "tok.ids", inputs.input_ids, "input_ids");
  require_recorded(recording, "tok.attention_mask", as_int64(inputs.attention_mask), "attention_mask");
  const bool pictures = !recording.inputs().images.empty();
  if (inputs.pixel_values.has_value() != pictures || inputs.image_position_ids.has_value() != pictures) {
    throw Error{fmt::format("the recording was made with {} pictures, this prompt has {}",
                            recording.inputs().images.size(), pictures ? "none" : "some"),
                std::string(run_the_recorded)};
  }
  if (!pictures) return;
  require_recorded_pixels(recording, *inputs.pixel_values, *inputs.image_position_ids);
}

std::unique_ptr<ReferenceSession> make_recorded_session(std::shared_ptr<const Recording> recording,
                                                        std::shared_ptr<const Checkpoint> checkpoint) {
  return std::make_unique<RecordedSession>(std::move(recording), std::move(checkpoint));
}

ReferencePrompt recorded_prompt(std::shared_ptr<const Recording> recording,
                                std::shared_ptr<const Checkpoint> checkpoint, const ModelInputs& inputs,
                                const TensorVisitor& taps) {
  return RecordedSession(std::move(recording), std::move(checkpoint)).prompt(inputs, taps);
}

std::unique_ptr<ReferenceSession> resume_recorded_session(std::shared_ptr<const Recording> recording,
                                                          std::shared_ptr<const Checkpoint> checkpoint,
                                                          const ReferencePrompt& prompt) {
  require_recorded(*recording, "prefill_last.logits_capped", prompt.logits, "logits");
  auto session = make_recorded_session(std::move(recording), std::move(checkpoint));
  static_cast<void>(session->prefill(prompt.inputs, 1));
  return session;
}

Generation recorded_generation(const Recording& recording, const Checkpoint& checkpoint, const ModelInputs& inputs,
                               std::int64_t max_new_tokens,
                               const std::function<void(std::int64_t, const Tensor&)>& each) {
  require_recorded_inputs(recording, inputs);
  const auto ids = recorded_values(recording, "gen.ids");
  const auto logits = recorded_values(recording, "gen.logits");
  if (ids.dtype() != DType::int64 || ids.dim() != 2 || ids.size(0) != 1 || ids.size(1) == 0 || logits.dim() != 3 ||
      logits.size(0) != 1 || logits.size(1) != ids.size(1)) {
    throw Error{fmt::format("{}: gen.ids is {} and gen.logits {}, expected one row of as many tokens",
                            recording.folder().string(), ids.to_string(), logits.to_string()),
                "record one prompt with tools/record_hf.py"};
  }
  const auto tokens = ids.values<std::int64_t>();
  const auto& eos = checkpoint.generation().eos_token_ids;
  const bool ended = std::ranges::find(eos, tokens.back()) != eos.end();
  if (max_new_tokens > std::ssize(tokens) && !ended) {
    throw Error{fmt::format("{}: the recording generated {} tokens and no end, asked for {}",
                            recording.folder().string(), tokens.size(), max_new_tokens),
                "generate fewer tokens, or record more with tools/record_hf.py --steps"};
  }
  const auto count = std::min<std::int64_t>(std::ssize(tokens), max_new_tokens);
  for (std::int64_t step = 0; each && step < count; ++step) each(step, element(logits, step));
  return {.tokens = {tokens.begin(), tokens.begin() + count},
          .stop = ended && count == std::ssize(tokens) ? "eos" : "length"};
}

AttentionMasks recorded_masks(const Recording& recording, const Tensor& attention_mask, std::int64_t past_length) {
  const auto prompt = recorded_values(recording, "tok.attention_mask");
  const auto mask = as_int64(attention_mask).contiguous();
  const auto slots = prompt.size(1);
  std::string stem;
  if (past_length == 0 && mask.sizes() == prompt.sizes()) {
    require_recorded(recording, "tok.attention_mask", mask, "attention_mask");
  } else if (mask.dim() == 2 && mask.size(0) == prompt.size(0) && past_length >= slots &&
             mask.size(1) == past_length + 1 && past_length - slots < recording.steps()) {
    require_recorded(recording, "tok.attention_mask", first_columns(mask, slots), "attention_mask");
    stem = fmt::format("decode.{}.", past_length - slots);
  } else {
    throw Error{
        fmt::format("attention_mask is {} with {} positions before, the recorded prompt {}, and {} decode steps "
                    "of one position each",
                    attention_mask.to_string(), past_length, prompt.to_string(), recording.steps()),
        "ask for the recorded prompt without padding behind it, or for one of its decode steps"};
  }
  AttentionMasks masks;
  const auto take = [&](const std::string& name) {
    return recording.tensors().contains(name) ? recorded_values(recording, name) : Tensor();
  };
  masks.sliding = take(stem + "mask.sliding");
  masks.full = take(stem + "mask.full");
  return masks;
}

}  // namespace gemma4
