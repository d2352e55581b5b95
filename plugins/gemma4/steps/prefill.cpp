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

using Layers = std::map<std::int64_t, Tensor>;

/// What the reference shows of itself.
struct Shown {
  Layers layers;  ///< "L<i>.out", if they are needed again
  Layers keys;    ///< of every position, "L<i>.k_rope": [1, n, kv heads, D]
  Layers values;  ///< "L<i>.v_norm"
};

/// 3 of "L3.out"
std::int64_t layer_of(std::string_view name) { return std::stoll(std::string(name.substr(1, name.find('.') - 1))); }

bool is_layer_output(std::string_view name) { return name.starts_with('L') && name.ends_with(".out"); }

/// [1, n, …] without the rows behind the prompt, which are padding; what has no such rows as it is.
Tensor prompt_rows(const Tensor& tensor, std::int64_t length) {
  return tensor.dim() == 3 && tensor.size(1) > length ? gemma4::narrow(tensor, 1, 0, length) : tensor;
}

/// The cache with every position of the prompt, also those that a sliding layer of the reference has dropped, where
/// the reference shows them.
gemma4::KvCache whole_cache(const Shown& shown, gemma4::KvCache kept) {
  const auto heads_first = [](const Tensor& t) { return Tensor(to_torch(t).transpose(1, 2)); };
  for (auto& layer : kept.layers) {
    if (!shown.keys.contains(layer.index) || !shown.values.contains(layer.index)) continue;
    layer.key = heads_first(shown.keys.at(layer.index));
    layer.value = heads_first(shown.values.at(layer.index));
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

    const auto answer = gemma4::ask_runtime(context, logits_checks.logits(), [&] {
      const auto session = runtime->start();
      auto row = session->prefill(*batch, *fused_embeds, *masks, *rope, looking_into_runtime(context));
      return std::pair(std::move(row), session->snapshot());
    });
    if (!answer) return;
    const auto& [actual, actual_cache] = *answer;
    const auto layers_shown = std::ssize(actual_layers_);
    // A runtime that shows no layer at all is judged by its logits and its cache.
    if (layers_shown == 0) layer_output.configure({.level = Level::off});
    for (auto* check : {&layer_mask, &activation}) {
      if (check->results().empty()) check->configure({.level = Level::off});  // the runtime does not show it
    }

    Shown shown;
    const auto right = reference->prompt(gemma4::model_inputs_of(*batch), looking_into_reference(context, shown, fed));
    if (!actual_layers_.empty()) {
      throw Error{fmt::format("the reference does not show the output of layer {}", actual_layers_.begin()->first)};
    }
    const auto expected = gemma4::last_row(right.logits);

    const auto outcome = logits_checks.compare(expected, actual, {});
    if (actual_logits_raw_ && config.final_logit_softcapping) {
      logits_checks.compare_softcap(*actual_logits_raw_, actual, *config.final_logit_softcapping, {});
    } else {
      logits_checks.leave_out_softcap();
    }
    const auto expected_cache = whole_cache(shown, right.cache);
    cache_checks.compare(expected_cache, actual_cache);
    if (fed) compare_fed(context, expected, shown.layers, expected_cache);

    context.record("layers_not_shown", config.num_hidden_layers - layers_shown);
    own_error.summarize(context,
                        (first_wrong_.empty() ? fmt::format("{} tokens, next {}", length,
                                                            gemma4::margin_text(outcome.expected, expected.dtype()))
                                              : "first past its bound: " + first_wrong_));
    logits = actual;
    kv_cache = actual_cache;
    reference_prompt = right;
  }

 private:
  /// Compares what can be judged alone, and keeps what the reference's pass is compared with: of each layer a copy of
  /// the prompt's rows, as those of padding are many.
  TensorVisitor looking_into_runtime(StepContext& context) {
    return [this, &context, gate = std::optional<Tensor>()](std::string_view name, const Tensor& tensor) mutable {
      if (name == "logits_raw") actual_logits_raw_ = tensor;
      if (is_layer_output(name)) {
        actual_layers_.emplace(layer_of(name), to_torch(prompt_rows(tensor, batch->valid_length)).clone());
        progress(context, name, "runtime layer");
      }
      if (name.ends_with(".mask")) compare_mask(layer_of(name), tensor);
      if (name.ends_with(".gate")) gate = tensor;
      if (!name.ends_with(".act") || !gate) return;
      const Tensor expected(at::gelu(to_torch(*std::exchange(gate, std::nullopt)), "tanh"));
      activation.at("layer", layer_of(name))
          .compare(Expected{prompt_rows(expected, batch->valid_length)},
                   Actual{prompt_rows(tensor, batch->valid_length)});
    };
  }

  /// Compares each layer of the reference with the runtime's as it comes, and drops the runtime's.
  TensorVisitor looking_into_reference(StepContext& context, Shown& shown, bool keeps_layers) {
    return [this, &context, &shown, keeps_layers](std::string_view name, const Tensor& tensor) {
      if (!name.starts_with('L')) return;
      if (name.ends_with(".k_rope")) shown.keys.emplace(layer_of(name), tensor);
      if (name.ends_with(".v_norm")) shown.values.emplace(layer_of(name), tensor);
      if (!is_layer_output(name)) return;
      if (keeps_layers) shown.layers.emplace(layer_of(name), tensor);
      if (auto actual = actual_layers_.extract(layer_of(name))) compare_layer(actual.key(), tensor, actual.mapped());
      progress(context, name, "reference layer");
    };
  }

  void progress(StepContext& context, std::string_view name, std::string_view unit) const {
    context.progress(layer_of(name) + 1, reference->checkpoint().config().text.num_hidden_layers, unit);
  }

  void compare_mask(std::int64_t layer, const Tensor& mask) {
    const auto type = reference->checkpoint().config().text.layers.at(static_cast<std::size_t>(layer)).type;
    layer_mask.at("layer", layer)
        .expect(at::equal(to_torch(mask), to_torch((*masks)[type])),
                fmt::format("the layer adds another mask than the {} one of masks_and_rope", gemma4::name_of(type)));
  }

  /// Remembers the first layer and position past the bound.
  void compare_layer(std::int64_t layer, const Tensor& expected, const Tensor& actual) {
    if (layer_output.at("layer", layer).compare(Expected{expected}, Actual{actual}) || !first_wrong_.empty()) return;
    first_wrong_ = fmt::format("layer {}", layer);
    const auto bound =
        layer_output.results().back().bound.k.value_or(0) * to_torch(expected).abs().max().item().toDouble();
    if (const auto position = first_position(expected, actual, bound)) {
      first_wrong_ += fmt::format(", position {}", *position);
    }
  }

  /// The same pass from the reference's inputs. `right`: the reference's layers.
  void compare_fed(StepContext& context, const Tensor& expected, const Layers& right, const gemma4::KvCache& cache) {
    own_error.run([&] {
      const auto feed = gemma4::prompt_feed(*reference, *runtime, *batch);
      const auto session = runtime->start();
      const auto look = [&](std::string_view name, const Tensor& tensor) {
        if (!is_layer_output(name)) return;
        const auto found = right.find(layer_of(name));
        if (found != right.end()) {
          own_error.tensor(found->second, prompt_rows(tensor, found->second.size(1)),
                           fmt::format("layer {}", found->first));
        }
        progress(context, name, "runtime layer, fed");
      };
      const auto row = session->prefill(feed.batch, feed.fused_embeds, feed.masks, feed.rope, look);
      own_error.logits(expected, row, {});
      own_error.cache(cache, session->snapshot(), {});
    });
  }

  Layers actual_layers_;  // that the reference's pass has not come to
  std::optional<Tensor> actual_logits_raw_;
  std::string first_wrong_;
};
}  // namespace

LOCKSTEP_STEP("gemma4.prefill", Prefill, "verifies the pass over the prompt: layers, cache and logits")
