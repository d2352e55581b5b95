#include <lockstep/step.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/logical_and.h>
#include <ATen/ops/nonzero.h>
#include <fmt/format.h>

#include <lockstep/torch.hpp>

#include "reference/reference.hpp"
#include "runtime/runtime.hpp"
#include "steps/ask_runtime.hpp"
#include "steps/layer_types.hpp"
#include "steps/tensor_rows.hpp"

namespace {
using namespace lockstep;

/// Which pairs may attend, from the configuration alone: [S, S] bool, rows are queries. `window` 0: no window.
at::Tensor allowed_pairs(std::int64_t slots, std::int64_t valid_length, std::int64_t window) {
  const auto query = at::arange(slots).unsqueeze(1);
  const auto key = at::arange(slots).unsqueeze(0);
  const auto causal = at::logical_and(key <= query, key < valid_length);
  return window == 0 ? causal : at::logical_and(causal, key > query - window);
}

/// The first (query, key) of [1, 1, S, S] where `wrong` is true, as text; empty if there is none.
std::string first_pair(const at::Tensor& wrong) {
  const auto pairs = at::nonzero(wrong).contiguous();  // it comes column by column
  if (pairs.size(0) == 0) return {};
  const auto* indices = pairs[0].const_data_ptr<std::int64_t>();
  return fmt::format("query {}, key {}", indices[2], indices[3]);
}

/// Compares what the runtime adds to the scores and how it rotates queries and keys with the reference, and the masks
/// with the rule itself: a position attends to valid positions up to its own, in sliding layers to the last
/// sliding_window of them.
struct MasksAndRope final : Step {
  In<gemma4::StaticBatch> batch{*this, "batch", "padded inputs"};
  In<gemma4::Reference> reference{*this, "reference", "what is right"};
  In<gemma4::Runtime> runtime{*this, "runtime", "what is verified"};
  Out<gemma4::AttentionMasks> masks{*this, "masks", "additive, [1, 1, max_seq, max_seq] for each layer type"};
  Out<gemma4::RopeTables> rope{*this, "rope", "cos and sin, [1, max_seq, head_dim] for each layer type"};

  Check mask_shape{*this, "mask_shape", equal(), "[1, 1, max_seq, max_seq]"};
  Check mask_pattern{*this, "mask_pattern", bits(), "where the reference's mask is 0"};
  Check mask_rule{*this, "mask_rule", expect(), "0 exactly for key <= query, within the window and the prompt"};
  Check mask_values{*this, "mask_values", expect(), "0 where a pair may attend, else the runtime's fill"};
  Check rope_tables{*this, "rope_tables", close(), "reference's cos and sin"};

  void run(StepContext& context) override {
    const auto& config = reference->checkpoint().config().text;
    const auto answer = gemma4::ask_runtime(context, mask_shape, [&] {
      return std::pair(runtime->attention_masks(batch->attention_mask), runtime->rope(batch->position_ids));
    });
    if (!answer) return;
    const auto& [actual, actual_rope] = *answer;
    // A recording knows the positions of its prompt only; the rule judges the others.
    const auto slots = runtime->layout().max_seq;
    const auto known = std::min(reference->known_positions().value_or(slots), slots);
    const auto expected = reference->attention_masks(gemma4::narrow(batch->attention_mask, 1, 0, known));
    const auto expected_rope = reference->rope(gemma4::narrow(batch->position_ids, 1, 0, known));
    for (const auto type : gemma4::layer_types(config)) {
      const auto name = gemma4::name_of(type);
      compare_masks(name, expected[type], actual[type],
                    type == gemma4::LayerType::sliding_attention ? config.sliding_window : 0);
      compare_rope(name + ".cos", expected_rope[type].cos, actual_rope[type].cos);
      compare_rope(name + ".sin", expected_rope[type].sin, actual_rope[type].sin);
    }
    context.summary(fmt::format("window {}, fill {}, {} of {} slots valid", config.sliding_window, runtime->mask_fill(),
                                batch->valid_length, runtime->layout().max_seq));
    masks = actual;
    rope = actual_rope;
  }

 private:
  void compare_masks(const std::string& name, const Tensor& expected, const Tensor& actual, std::int64_t window) {
    const auto slots = runtime->layout().max_seq;
    const std::vector<std::int64_t> sizes{1, 1, slots, slots};
    if (!mask_shape.at(name).equal(Expected{sizes}, Actual{actual.sizes()})) return;
    const auto mask = to_torch(actual);
    const auto allowed = mask.eq(0);
    const auto known = expected.size(-1);
    mask_pattern.at(name).compare(Expected{to_torch(expected).eq(0)},
                                  Actual{allowed.slice(2, 0, known).slice(3, 0, known)});

    const auto rule = allowed_pairs(slots, batch->valid_length, window).expand(sizes);
    const auto broken = first_pair(allowed.ne(rule));
    mask_rule.at(name).expect(broken.empty(),
                              fmt::format("{} may {}attend", broken,
                                          first_pair(at::logical_and(rule, allowed.ne(rule))) == broken ? "not " : ""));
    // The fill as the mask's dtype holds it.
    const auto fill = at::full({}, runtime->mask_fill(), mask.options());
    const auto odd = first_pair(at::logical_and(mask.ne(0), mask.ne(fill)));
    mask_values.at(name).expect(odd.empty(),
                                fmt::format("{} has a value that is neither 0 nor {}", odd, runtime->mask_fill()));
  }

  void compare_rope(const std::string& name, const Tensor& expected, const Tensor& actual) {
    const bool longer = actual.dim() == 3 && actual.size(1) == runtime->layout().max_seq;
    rope_tables.at(name).compare(Expected{expected},
                                 Actual{longer ? gemma4::narrow(actual, 1, 0, expected.size(1)) : actual});
  }
};
}  // namespace

LOCKSTEP_STEP("gemma4.masks_and_rope", MasksAndRope, "verifies attention masks and rotary tables")
