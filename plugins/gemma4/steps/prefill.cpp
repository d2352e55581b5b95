#include <lockstep/step.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/logical_not.h>
#include <ATen/ops/nonzero.h>
#include <fmt/format.h>

#include <lockstep/torch.hpp>

#include "reference/reference.hpp"
#include "runtime/runtime.hpp"
#include "steps/ask_runtime.hpp"
#include "steps/cache_checks.hpp"
#include "steps/layer_types.hpp"
#include "steps/logits_checks.hpp"
#include "steps/own_error.hpp"
#include "steps/reference_feed.hpp"
#include "steps/reference_prompt.hpp"
#include "steps/tensor_rows.hpp"

namespace {
using namespace lockstep;

/// What a side shows of itself.
struct Inner {
  std::map<std::int64_t, Tensor> layers;  ///< "L<i>.out"
  std::map<std::int64_t, Tensor> keys;    ///< of every position, the reference's "L<i>.k_rope": [1, n, kv heads, D]
  std::map<std::int64_t, Tensor> values;  ///< "L<i>.v_norm"
  std::optional<Tensor> logits_raw;
};

/// 3 of "L3.out"
std::int64_t layer_of(std::string_view name) { return std::stoll(std::string(name.substr(1, name.find('.') - 1))); }

TensorVisitor collecting(Inner& inner) {
  return [&inner](std::string_view name, const Tensor& tensor) {
    if (name == "logits_raw") inner.logits_raw = tensor;
    if (!name.starts_with('L')) return;
    if (name.ends_with(".out")) inner.layers.emplace(layer_of(name), tensor);
    if (name.ends_with(".k_rope")) inner.keys.emplace(layer_of(name), tensor);
    if (name.ends_with(".v_norm")) inner.values.emplace(layer_of(name), tensor);
  };
}

/// The cache with every position of the prompt, also those that a sliding layer of the reference has dropped, where
/// the reference shows them.
gemma4::KvCache whole_cache(const Inner& inner, gemma4::KvCache kept) {
  const auto heads_first = [](const Tensor& t) { return Tensor(to_torch(t).transpose(1, 2)); };
  for (auto& layer : kept.layers) {
    if (!inner.keys.contains(layer.index) || !inner.values.contains(layer.index)) continue;
    layer.key = heads_first(inner.keys.at(layer.index));
    layer.value = heads_first(inner.values.at(layer.index));
  }
  return kept;
}

/// The first position of [1, n, H] whose largest error is above `bound`, NaN included.
std::optional<std::int64_t> first_position(const Tensor& expected, const Tensor& actual, double bound) {
  const auto error = (to_torch(expected).to(at::kDouble) - to_torch(actual).to(at::kDouble)).abs().amax(-1).flatten();
  const auto past = at::nonzero(at::logical_not(error <= bound));
  if (past.size(0) == 0) return std::nullopt;
  return past[0][0].item().toLong();
}

/// Compares one pass over the whole prompt: the padded, fixed-shape one of the runtime with that of the reference,
/// which starts from ids and pixels and goes its own way. Where the runtime shows the output of its layers, the first
/// layer and position past the bound are named.
struct Prefill final : Step {
  In<gemma4::StaticBatch> batch{*this, "batch", "padded inputs"};
  In<gemma4::Reference> reference{*this, "reference", "what is right"};
  In<gemma4::Runtime> runtime{*this, "runtime", "what is verified"};
  In<Tensor> fused_embeds{*this, "fused_embeds", "[1, max_seq, hidden]"};
  In<gemma4::AttentionMasks> masks{*this, "masks", "additive, [1, 1, max_seq, max_seq]"};
  In<gemma4::RopeTables> rope{*this, "rope", "[1, max_seq, head_dim]"};
  Out<Tensor> logits{*this, "logits", "[1, vocab] of the prompt's last token"};
  Out<gemma4::KvCache> kv_cache{*this, "kv_cache", "the runtime's cache after the prompt"};
  Out<gemma4::ReferencePrompt> reference_prompt{*this, "reference_prompt",
                                                "the reference's own pass over the prompt, to go on from", optional};

  Check fits{*this, "fits", expect(), "the prompt leaves one slot of max_seq for the next token"};
  gemma4::LogitsChecks logits_checks{*this};
  Check layer_mask{*this, "layer_mask", expect(), "each layer adds the mask of its own type"};
  Check activation{*this, "activation", close(), "GELU (tanh) of the runtime's own gate projection, layer by layer"};
  Check layer_output{*this, "layer_output", norm_wise(), "reference's output of the layer, positions of the prompt"};
  gemma4::CacheChecks cache_checks{*this};
  gemma4::OwnError own_error{*this};

  void run(StepContext& context) override {
    const bool fed = own_error.begin();
    const auto length = batch->valid_length;
    const auto slots = runtime->layout().max_seq;
    if (!fits.expect(length < slots, fmt::format("the prompt has {} tokens, expected at most {}: raise max_seq or "
                                                 "shorten the prompt",
                                                 length, slots - 1))) {
      return;
    }
    const auto& config = reference->checkpoint().config().text;
    const auto layers = config.num_hidden_layers;

    Inner actual_inner;
    const auto answer = gemma4::ask_runtime(context, logits_checks.logits(), [&] {
      const auto session = runtime->start();
      auto row = session->prefill(*batch, *fused_embeds, *masks, *rope, looking_into(actual_inner));
      return std::pair(std::move(row), session->snapshot());
    });
    if (!answer) return;
    const auto& [actual, actual_cache] = *answer;

    Inner expected_inner;
    const auto right = reference->prompt(gemma4::model_inputs_of(*batch), collecting(expected_inner));
    const auto expected = gemma4::last_row(right.logits);

    for (auto* check : {&layer_mask, &activation}) {
      if (check->results().empty()) check->configure({.level = Level::off});  // the runtime does not show it
    }
    const auto place = compare_layers(expected_inner.layers, actual_inner.layers, layers);
    const auto outcome = logits_checks.compare(expected, actual, {});
    if (actual_inner.logits_raw && config.final_logit_softcapping) {
      logits_checks.compare_softcap(*actual_inner.logits_raw, actual, *config.final_logit_softcapping, {});
    } else {
      logits_checks.leave_out_softcap();
    }
    const auto expected_cache = whole_cache(expected_inner, right.cache);
    cache_checks.compare(expected_cache, actual_cache);
    if (fed) compare_fed(expected, expected_inner, expected_cache);

    context.record("layers_not_shown", layers - static_cast<std::int64_t>(actual_inner.layers.size()));
    own_error.summarize(context, (place.empty() ? fmt::format("{} tokens, next {}", length,
                                                              gemma4::margin_text(outcome.expected, expected.dtype()))
                                                : "first past its bound: " + place));
    logits = actual;
    kv_cache = actual_cache;
    reference_prompt = right;
  }

 private:
  /// Keeps what is compared later. Gates and activations of all layers would be large: they are compared at once.
  TensorVisitor looking_into(Inner& inner) {
    return [this, keep = collecting(inner), gate = std::optional<Tensor>()](std::string_view name,
                                                                            const Tensor& tensor) mutable {
      keep(name, tensor);
      if (name.ends_with(".mask")) compare_mask(layer_of(name), tensor);
      if (name.ends_with(".gate")) gate = tensor;
      if (!name.ends_with(".act") || !gate) return;
      const auto rows = [&](const Tensor& all) { return gemma4::narrow(all, 1, 0, batch->valid_length); };
      const Tensor expected(at::gelu(to_torch(*std::exchange(gate, std::nullopt)), "tanh"));
      activation.at("layer", layer_of(name)).compare(Expected{rows(expected)}, Actual{rows(tensor)});
    };
  }

  void compare_mask(std::int64_t layer, const Tensor& mask) {
    const auto type = reference->checkpoint().config().text.layers.at(static_cast<std::size_t>(layer)).type;
    layer_mask.at("layer", layer)
        .expect(at::equal(to_torch(mask), to_torch((*masks)[type])),
                fmt::format("the layer adds another mask than the {} one of masks_and_rope", gemma4::name_of(type)));
  }

  /// The same pass from the reference's inputs.
  void compare_fed(const Tensor& expected, const Inner& right, const gemma4::KvCache& cache) {
    own_error.run([&] {
      const auto feed = gemma4::prompt_feed(*reference, *runtime, *batch);
      Inner inner;
      const auto session = runtime->start();
      const auto row = session->prefill(feed.batch, feed.fused_embeds, feed.masks, feed.rope, collecting(inner));
      own_error.logits(expected, row, {});
      for (const auto& [layer, values] : right.layers) {
        const auto found = inner.layers.find(layer);
        if (found == inner.layers.end()) continue;
        const auto positions = gemma4::narrow(found->second, 1, 0, values.size(1));
        own_error.tensor(values, positions, fmt::format("layer {}", layer));
      }
      own_error.cache(cache, session->snapshot(), {});
    });
  }

  /// The first layer and position past the bound as text; empty if there is none.
  std::string compare_layers(const std::map<std::int64_t, Tensor>& expected,
                             const std::map<std::int64_t, Tensor>& actual, std::int64_t layers) {
    std::string first;
    // A runtime that shows no layer at all is judged by its logits and its cache.
    if (actual.empty()) layer_output.configure({.level = Level::off});
    for (std::int64_t layer = 0; layer < layers && !actual.empty(); ++layer) {
      const auto& right = expected.at(layer);
      const auto found = actual.find(layer);
      if (found == actual.end()) continue;
      const auto positions = gemma4::narrow(found->second, 1, 0, right.size(1));
      auto entry = layer_output.at("layer", layer);
      if (entry.compare(Expected{right}, Actual{positions}) || !first.empty()) continue;
      first = fmt::format("layer {}", layer);
      const auto bound =
          layer_output.results().back().bound.k.value_or(0) * to_torch(right).abs().max().item().toDouble();
      if (const auto position = first_position(right, positions, bound)) {
        first += fmt::format(", position {}", *position);
      }
    }
    return first;
  }
};
}  // namespace

LOCKSTEP_STEP("gemma4.prefill", Prefill, "verifies the pass over the prompt: layers, cache and logits")
