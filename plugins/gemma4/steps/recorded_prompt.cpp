#include "steps/recorded_prompt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <lockstep/diagnostic.hpp>
#include <optional>
#include <string>
#include <utility>

#include "processor/prompt.hpp"
#include "processor/tokenizer.hpp"

namespace gemma4 {
namespace {

using lockstep::Error;
using lockstep::Tensor;

std::vector<std::string> texts_of(const Recording& recording, const Checkpoint& checkpoint) {
  const auto& inputs = recording.inputs();
  if (!inputs.chat) return inputs.messages;
  std::optional<ChatFormat> format;
  try {
    format = ChatFormat::for_template(checkpoint.chat_template_file());
  } catch (const Error&) {
    return inputs.texts;  // an unknown template; its rendering is not ours to judge
  }
  std::vector<std::string> texts;
  for (const auto& message : inputs.messages) {
    std::vector<Message> turns;
    if (inputs.system && !inputs.system->empty()) turns.push_back({"system", *inputs.system});
    const auto pictures = inputs.images.empty() ? 0 : inputs.messages.size() > 1 ? 1 : inputs.images.size();
    std::vector<ContentItem> content(pictures, ContentItem{ContentItem::Kind::image});
    content.push_back({ContentItem::Kind::text, message});
    turns.push_back({"user", std::move(content)});
    texts.push_back(format->render(turns));
  }
  return texts;
}

}  // namespace

PromptInputs process_recorded_prompt(const Recording& recording, const Checkpoint& checkpoint,
                                     std::span<const std::int64_t> soft_tokens) {
  const auto tokenizer = Tokenizer::from_checkpoint(checkpoint);
  const auto& special = checkpoint.config().tokens;
  std::vector<std::vector<std::int64_t>> rows;
  std::size_t longest = 0;
  for (auto text : texts_of(recording, checkpoint)) {
    if (!recording.inputs().images.empty()) {
      if (!special.begin_of_image || !special.image || !special.end_of_image) {
        throw Error{
            fmt::format("the recording has pictures, checkpoint '{}' has no tokens for them", checkpoint.name())};
      }
      const auto tokens = ImageTokens::from(tokenizer, *special.begin_of_image, *special.image, *special.end_of_image);
      const auto count = std::min(count_images(text, tokens), soft_tokens.size());
      text = expand_images(text, soft_tokens.first(count), tokens);
      soft_tokens = soft_tokens.subspan(count);
    }
    rows.push_back(tokenizer.encode(text, true));
    longest = std::max(longest, rows.back().size());
  }
  if (!soft_tokens.empty()) {
    throw Error{fmt::format("{} pictures of the recording have no placeholder in its texts", soft_tokens.size())};
  }

  std::vector<std::int64_t> ids, mask, types;
  for (const auto& row : rows) {
    const auto padding = longest - row.size();
    ids.insert(ids.end(), padding, special.pad);
    ids.insert(ids.end(), row.begin(), row.end());
    mask.insert(mask.end(), padding, 0);
    mask.insert(mask.end(), row.size(), 1);
  }
  std::ranges::transform(ids, std::back_inserter(types), [&](std::int64_t id) { return id == special.image ? 1 : 0; });
  const std::vector<std::int64_t> sizes{static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(longest)};
  const auto tensor = [&](const std::vector<std::int64_t>& values) {
    return Tensor::copy_of(std::span(values), sizes);
  };
  return {tensor(ids), tensor(mask), tensor(types)};
}

}  // namespace gemma4
