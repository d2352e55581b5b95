#include "reference/fusion.hpp"

#include <ATen/ops/masked_scatter.h>
#include <ATen/ops/sum.h>
#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

namespace gemma4 {

at::Tensor masked_scatter(const at::Tensor& text_embeds, const at::Tensor& image_mask,
                          const at::Tensor& image_features) {
  const auto places = at::sum(image_mask).item<std::int64_t>();
  const auto width = text_embeds.size(-1);
  if (image_features.numel() != places * width) {
    throw lockstep::Error{fmt::format("the image features hold {} values, expected {} ({} placeholders of width {})",
                                      image_features.numel(), places * width, places, width),
                          "use the profile and the soft-token budget that the prompt was expanded for"};
  }
  const auto mask = image_mask.unsqueeze(-1).expand_as(text_embeds);
  return at::masked_scatter(text_embeds, mask, image_features.to(text_embeds.scalar_type()));
}

}  // namespace gemma4
