#pragma once

#include "checkpoint/config.hpp"
#include "checkpoint/json_reader.hpp"

namespace gemma4 {

/// `text_config`, in Google's spelling (`global_head_dim`) or transformers' (`per_layer_config`).
[[nodiscard]] TextConfig read_text_config(const JsonReader& text);

/// One rotary embedding; `types` are the accepted `rope_type`s.
[[nodiscard]] RopeConfig read_rope(const JsonReader& rope, const std::vector<std::string>& types);

}  // namespace gemma4
