#include "steps/prompt_rules.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace gemma4 {

ImageRun image_run_of(std::span<const std::int64_t> ids, std::optional<std::int64_t> image) {
  ImageRun run;
  for (std::int64_t slot = 0; slot < std::ssize(ids); ++slot) {
    if (!image || ids[static_cast<std::size_t>(slot)] != *image) continue;
    if (run.count++ == 0) run.first = slot;
    run.span = slot - run.first + 1;
  }
  return run;
}

std::string other_placeholders(std::span<const std::int64_t> ids, const Tokenizer& tokenizer,
                               const SpecialTokenIds& special) {
  std::string found;
  for (const auto& id : {special.audio, special.video}) {
    if (!id) continue;
    if (const auto count = std::ranges::count(ids, *id)) {
      found += fmt::format("{}{} x '{}'", found.empty() ? "" : ", ", count,
                           tokenizer.token_of(*id).value_or(std::to_string(*id)));
    }
  }
  return found;
}

std::string vocabulary_fault(std::span<const std::int64_t> ids, std::int64_t vocab_size) {
  const auto outside = std::ranges::find_if(ids, [&](std::int64_t id) { return id < 0 || id >= vocab_size; });
  if (outside == ids.end()) return "";
  return fmt::format("token {} of the prompt is id {}, expected 0 to {} (vocab_size of the checkpoint)",
                     outside - ids.begin(), *outside, vocab_size - 1);
}

}  // namespace gemma4
