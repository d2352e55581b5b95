#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include <lockstep/port.hpp>
#include <lockstep/tensor.hpp>
#include "checkpoint/text_tensors.hpp"

namespace gemma4 {

/// What a processor gives the model. B rows, S tokens.
struct ModelInputs {
  lockstep::Tensor input_ids;       ///< int64 [B, S], placeholders of pictures included
  lockstep::Tensor attention_mask;  ///< int64 or bool [B, S]: 0 in padding, which may be on either side
  /// As for Reference::image_features; both or neither.
  std::optional<lockstep::Tensor> pixel_values;
  std::optional<lockstep::Tensor> image_position_ids;
};

/// What a reference knows after its pass over a prompt: all that a session or a generation goes on from. Made by
/// Reference::prompt, never from what is verified. T is the reference's dtype.
struct ReferencePrompt {
  std::string made_by;      ///< Reference::identity of the one that ran the pass
  ModelInputs inputs;       ///< the prompt
  KvCache cache;            ///< what ReferenceSession::snapshot shows after it
  lockstep::Tensor logits;  ///< T [B, 1, vocab_size]: those of ReferenceSession::prefill with logits_to_keep = 1
};

}  // namespace gemma4

LOCKSTEP_PORT_TYPE(gemma4::ReferencePrompt, "gemma4.reference_prompt/1");

template <>
struct lockstep::PortTransfer<gemma4::ReferencePrompt> {
  static lockstep::NamedTensors to_tensors(const gemma4::ReferencePrompt& prompt) {
    auto tensors = PortTransfer<gemma4::KvCache>::to_tensors(prompt.cache);
    const std::span<const char> text(prompt.made_by);
    tensors.add("made_by", Tensor::copy_of(std::as_bytes(text), DType::uint8, {std::ssize(text)}));
    tensors.add("input_ids", prompt.inputs.input_ids);
    tensors.add("attention_mask", prompt.inputs.attention_mask);
    if (prompt.inputs.pixel_values) tensors.add("pixel_values", *prompt.inputs.pixel_values);
    if (prompt.inputs.image_position_ids) tensors.add("image_position_ids", *prompt.inputs.image_position_ids);
    tensors.add("logits", prompt.logits);
    return tensors;
  }
  static gemma4::ReferencePrompt from_tensors(const lockstep::NamedTensors& tensors) {
    const auto& text = tensors.at("made_by");
    const auto given = [&](const std::string& name) {
      const auto* tensor = tensors.find(name);
      return tensor == nullptr ? std::nullopt : std::optional(*tensor);
    };
    return {.made_by = {reinterpret_cast<const char*>(text.data()), static_cast<std::size_t>(text.numel())},
            .inputs = {.input_ids = tensors.at("input_ids"),
                       .attention_mask = tensors.at("attention_mask"),
                       .pixel_values = given("pixel_values"),
                       .image_position_ids = given("image_position_ids")},
            .cache = PortTransfer<gemma4::KvCache>::from_tensors(tensors),
            .logits = tensors.at("logits")};
  }
};
