#include "steps/decode_inner.hpp"

#include <algorithm>
#include <span>
#include <string_view>

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

#include <lockstep/torch.hpp>

#include "steps/layer_types.hpp"
#include "steps/tensor_rows.hpp"

namespace gemma4 {
namespace {

using namespace lockstep;

/// Empty if `mask` is right, else what is wrong with it. `window` 0: none.
std::string wrong_slot(const Tensor& mask, std::int64_t slots, std::int64_t length, std::int64_t window) {
  const auto first = window == 0 ? 0 : std::max<std::int64_t>(0, length - window + 1);
  const auto values = to_torch(mask).to(at::kDouble).contiguous();
  if (values.numel() != slots) return fmt::format("the mask is {}, expected {} slots", mask.to_string(), slots);
  const std::span<const double> row(values.const_data_ptr<double>(), static_cast<std::size_t>(slots));
  std::int64_t slot = 0;
  const auto right = [&](double value) {
    const bool allowed = (slot >= first && slot < length) || slot == slots - 1;
    ++slot;
    return allowed ? value == 0 : value < 0;
  };
  const auto wrong = std::ranges::find_if_not(row, right);
  if (wrong == row.end()) return {};
  return fmt::format("slot {} has {}, expected 0 for slots {} to {} and {}, less for the others", wrong - row.begin(),
                     *wrong, first, length - 1, slots - 1);
}

}  // namespace

TensorVisitor collecting(DecodeInner& inner) {
  return [&inner](std::string_view name, const Tensor& tensor) {
    if (name == "logits_raw") inner.logits_raw = tensor;
    if (name == "mask.sliding") inner.masks.sliding = tensor;
    if (name == "mask.full") inner.masks.full = tensor;
    if (name == "rope.sliding.cos") inner.rope.sliding.cos = tensor;
    if (name == "rope.sliding.sin") inner.rope.sliding.sin = tensor;
    if (name == "rope.full.cos") inner.rope.full.cos = tensor;
    if (name == "rope.full.sin") inner.rope.full.sin = tensor;
  };
}

StepInputChecks::StepInputChecks(Step& step)
    : mask_(step, "step_mask", expect(), "0 for the last valid slots within the window and for the token itself"),
      rope_(step, "step_rope", close(), "reference's cos and sin of the token's position") {}

void StepInputChecks::compare(const DecodeInner& inner, const Reference& reference, std::int64_t slots,
                              std::int64_t length, const std::string& subject) {
  const auto& config = reference.checkpoint().config().text;
  const auto expected = reference.rope(single(length));
  for (const auto type : layer_types(config)) {
    const auto name = fmt::format("{} {}", subject, name_of(type));
    const auto window = type == LayerType::sliding_attention ? config.sliding_window : 0;
    if (const auto& mask = inner.masks[type]; mask.numel() > 0) {
      const auto wrong = wrong_slot(mask, slots, length, window);
      mask_.at(name).expect(wrong.empty(), wrong);
    }
    const auto& rope = inner.rope[type];
    if (rope.cos.numel() > 0) rope_.at(name + " cos").compare(Expected{expected[type].cos}, Actual{rope.cos});
    if (rope.sin.numel() > 0) rope_.at(name + " sin").compare(Expected{expected[type].sin}, Actual{rope.sin});
  }
}

void StepInputChecks::leave_out_what_was_not_shown() {
  for (auto* check : {&mask_, &rope_}) {
    if (check->results().empty()) check->configure({.level = Level::off});
  }
}

}  // namespace gemma4
