#include "runtime/text_session.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include <ATen/ops/argmax.h>
#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>
#include <lockstep/torch.hpp>

#include "runtime/fixed_cache.hpp"

namespace gemma4 {
namespace {

using lockstep::DType;
using lockstep::Error;
using lockstep::Tensor;
using lockstep::TensorVisitor;

void require(const Tensor& tensor, DType dtype, const std::vector<std::int64_t>& sizes, std::string_view what) {
  if (tensor.dtype() == dtype && tensor.sizes() == sizes) return;
  throw Error{fmt::format("{} is {}, expected {} {}", what, tensor.to_string(), lockstep::name_of(dtype),
                          lockstep::shape_text(sizes)),
              "pass what the stages before made for this runtime's max_seq and dtype"};
}

class TextSession final : public RuntimeSession {
 public:
  TextSession(std::shared_ptr<const TextModel> model, const KvCache* snapshot)
      : model_(std::move(model)), cache_(model_->config(), options().max_seq, model_->graph().dtype()) {
    if (!snapshot) return;
    cache_.restore(*snapshot);
    begin(snapshot->length);
  }

  Tensor prefill(const StaticBatch& batch, const Tensor& fused_embeds, const AttentionMasks& masks,
                 const RopeTables& rope, const TensorVisitor& taps) override {
    if (length_ > 0) {
      throw Error{fmt::format("prefill was called in a session that holds {} tokens", length_), "start a new session"};
    }
    require_prompt(batch);
    const auto slots = options().max_seq;
    require(fused_embeds, options().dtype, {1, slots, config().hidden_size}, "fused_embeds");

    const auto embeds = lockstep::to_torch(fused_embeds)[0];
    auto pass = pass_of(embeds, prefill_lookup(batch), masks, rope, taps);
    pass.attended = [&](std::size_t layer, const KeyValue& current) {
      cache_.fill(layer, current, batch.valid_length);
      return current;
    };
    const auto hidden = model_->graph().layers(pass, taps);
    const auto row = options().fault == Fault::logits_wrong_row ? slots - 1 : batch.valid_length - 1;
    auto logits = logits_of(hidden.slice(0, row, row + 1), taps);
    begin(batch.valid_length);
    return logits;
  }

  Tensor decode(const Tensor& input_ids, const TensorVisitor& taps) override {
    if (length_ == 0) throw Error{"decode was called before prefill", "prefill the session, or resume a snapshot"};
    require(input_ids, DType::int64, {1, 1}, "input_ids");
    if (is_full()) {
      throw Error{fmt::format("the cache is full: {} of {} slots are taken", length_, cache_.capacity()),
                  "raise max_seq, or generate fewer tokens"};
    }
    const auto ids = input_ids.contiguous();
    const auto id = model_->language_id(ids.values<std::int64_t>()[0]);
    const auto masks = model_->decode_masks(length_);
    const auto rope = model_->decode_rope(position());
    if (taps) {
      visit_tensors(masks, taps);
      visit_tensors(rope, taps);
    }
    auto pass = pass_of(model_->embed({&id, 1})[0], model_->per_layer_lookup({&id, 1}), masks, rope, taps);
    pass.attended = [this](std::size_t layer, const KeyValue& current) { return cache_.with_current(layer, current); };
    auto logits = logits_of(model_->graph().layers(pass, taps), taps);
    keep_current();
    return logits;
  }

  std::int64_t length() const override { return length_; }

  KvCache snapshot() const override { return cache_.snapshot(length_); }

  Generation generate(const Tensor& logits, std::int64_t max_new_tokens,
                      const std::function<void(std::int64_t, const Tensor&)>& each) override {
    if (length_ == 0) throw Error{"generate was called before prefill", "prefill the session, or resume a snapshot"};
    require(logits, options().dtype, {1, config().vocab_size}, "logits");
    Generation result{.tokens = {}, .stop = "length"};
    auto current = logits;
    for (std::int64_t step = 0; step < max_new_tokens; ++step) {
      if (each) each(step, current);
      const auto token = at::argmax(lockstep::to_torch(current).to(at::kFloat)).item<std::int64_t>();
      result.tokens.push_back(token);
      if (ends_text(token)) {
        result.stop = "eos";
        break;
      }
      if (step + 1 == max_new_tokens) break;
      if (is_full()) {
        result.stop = "cache_full";
        break;
      }
      current = decode(Tensor::copy_of(std::span(&token, 1), {1, 1}), {});
    }
    return result;
  }

 private:
  [[nodiscard]] const TextModelOptions& options() const { return model_->options(); }
  [[nodiscard]] const TextConfig& config() const { return model_->config(); }
  [[nodiscard]] bool is_full() const { return length_ >= cache_.capacity(); }

  void begin(std::int64_t length) { first_decoded_ = length_ = length; }

  void require_prompt(const StaticBatch& batch) const {
    require(batch.input_ids, DType::int64, {1, options().max_seq}, "input_ids");
    if (batch.valid_length < 1 || batch.valid_length > cache_.capacity()) {
      throw Error{fmt::format("the prompt has {} tokens, prefill takes 1 to {}: max_seq is {}, and one slot stays free "
                              "for the token that is decoded",
                              batch.valid_length, cache_.capacity(), options().max_seq),
                  "raise max_seq or shorten the prompt"};
    }
  }

  /// T [1, S, layers * P]
  [[nodiscard]] at::Tensor prefill_lookup(const StaticBatch& batch) const {
    const auto padded = batch.input_ids.contiguous();
    const auto ids = padded.values<std::int64_t>();
    if (options().fault != Fault::per_layer_lookup_with_image_id) return model_->per_layer_lookup(ids);
    std::vector<std::int64_t> raw(ids.begin(), ids.end());
    const auto prompt = batch.raw_input_ids.contiguous();
    std::ranges::copy(prompt.values<std::int64_t>(), raw.begin());
    return model_->per_layer_lookup(raw);
  }

  /// `embeds` T [n, H] and `lookup` T [1, n, layers * P]; masks and tables are checked against n.
  [[nodiscard]] TextPass pass_of(const at::Tensor& embeds, const at::Tensor& lookup, const AttentionMasks& masks,
                                 const RopeTables& rope, const TensorVisitor& taps) const {
    const auto rows = embeds.size(0);
    TextPass pass{.hidden = embeds,
                  .per_layer_inputs = model_->graph().per_layer_projection(lookup[0], embeds),
                  .mask = {},
                  .rotation = {},
                  .attended = {}};
    if (taps) {
      taps("ple.token", Tensor(lookup.view(pass.per_layer_inputs.unsqueeze(0).sizes())));
      taps("ple.combined", Tensor(pass.per_layer_inputs.unsqueeze(0)));
    }
    for (const auto& layer : config().layers) {
      const auto type = layer.type;
      if (pass.mask[type].defined()) continue;
      const auto name = type == LayerType::full_attention ? "full" : "sliding";
      require(masks[type], options().dtype, {1, 1, rows, options().max_seq}, fmt::format("mask.{}", name));
      require(rope[type].cos, options().dtype, {1, rows, layer.head_dim}, fmt::format("rope.{}.cos", name));
      require(rope[type].sin, options().dtype, {1, rows, layer.head_dim}, fmt::format("rope.{}.sin", name));
      pass.mask[type] = lockstep::to_torch(masks[type])[0][0];
      pass.rotation[type] = rotation_of(lockstep::to_torch(rope[type].cos)[0], lockstep::to_torch(rope[type].sin)[0]);
    }
    return pass;
  }

  [[nodiscard]] Tensor logits_of(const at::Tensor& row, const TensorVisitor& taps) const {
    const auto raw = model_->graph().lm_head(row);
    if (taps) taps("logits_raw", Tensor(raw));
    auto logits = model_->softcapped(raw);
    if (options().fault == Fault::nan_logits) logits[0][-1] = std::numeric_limits<double>::quiet_NaN();
    return logits;
  }

  /// Of the token that is decoded.
  [[nodiscard]] std::int64_t position() const {
    if (options().fault == Fault::decode_position_frozen) return first_decoded_;
    return length_ + (options().fault == Fault::decode_position_shifted ? 1 : 0);
  }

  void keep_current() {
    const bool lost = options().fault == Fault::stale_slot && length_ == first_decoded_;
    if (!lost) cache_.store_current(length_ + (options().fault == Fault::cache_slot_off_by_one ? 1 : 0));
    ++length_;
  }

  [[nodiscard]] bool ends_text(std::int64_t token) const {
    return options().fault != Fault::eos_ignored && std::ranges::find(model_->eos(), token) != model_->eos().end();
  }

  std::shared_ptr<const TextModel> model_;
  FixedCache cache_;
  std::int64_t length_ = 0;
  std::int64_t first_decoded_ = 0;  // position of the first decoded token
};

}  // namespace

std::unique_ptr<RuntimeSession> make_text_session(std::shared_ptr<const TextModel> model, const KvCache* snapshot) {
  return std::make_unique<TextSession>(std::move(model), snapshot);
}

}  // namespace gemma4
