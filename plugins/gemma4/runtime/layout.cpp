#include "runtime/layout.hpp"

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

namespace gemma4 {

void StaticLayout::validate() const {
  using lockstep::Error;
  if (batch_size != 1)
    throw Error{fmt::format("batch_size is {}, a static layout has exactly 1 row", batch_size), "set batch_size to 1"};
  if (max_seq <= 0)
    throw Error{fmt::format("max_seq is {}, expected a positive number of slots", max_seq), "raise max_seq"};
  if (visual_start_idx < 0) {
    throw Error{fmt::format("visual_start_idx is {}, expected a slot number of at least 0", visual_start_idx),
                "set visual_start_idx to the slot of the first visual token"};
  }
  if (num_visual_tokens < 0) {
    throw Error{fmt::format("num_visual_tokens is {}, expected 0 or more", num_visual_tokens),
                "set num_visual_tokens to the number of visual tokens, 0 without a picture"};
  }
  // Not start + count > max_seq: the sum may overflow.
  if (visual_start_idx > max_seq || num_visual_tokens > max_seq - visual_start_idx) {
    throw Error{fmt::format("the {} visual tokens from slot {} do not fit into max_seq {}", num_visual_tokens,
                            visual_start_idx, max_seq),
                "raise max_seq, or choose a profile whose picture is smaller or starts earlier"};
  }
}

}  // namespace gemma4
