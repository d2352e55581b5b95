#pragma once

#include <memory>
#include <string>
#include <vector>

#include <lockstep/testing.hpp>
#include <lockstep/torch.hpp>

#include "gemma4/runtime/pictures.hpp"
#include "gemma4/runtime/tensors.hpp"
#include "gemma4/steps/runtimes.hpp"
#include "runtime/processor_contract.hpp"

namespace gemma4::test {

inline constexpr std::int64_t image_token = 955;  // image_token_id of the shapes checkpoint's config.json

/// The pixels of two_384.png.
inline lockstep::Tensor two_shapes() {
  return pixels_of(vision_recording("two_describe_fp32").at("img.0.resized_u8"), find_profile("shapes_24x24_64"));
}
/// A text, a picture of 64 tokens from slot 1 on, a text.
inline StaticBatch batch_with_picture(const Runtime& runtime) {
  std::vector<std::int64_t> prompt(64, image_token);
  prompt.insert(prompt.begin(), 15);
  prompt.insert(prompt.end(), {300, 301, 7});
  return runtime.build_static_inputs({.input_ids = row(prompt),
                                      .pixel_values = two_shapes(),
                                      .image_position_ids = build_image_position_ids(runtime.profile())});
}
inline StaticBatch batch_of_text(const Runtime& runtime) {
  return runtime.build_static_inputs({.input_ids = row({2, 15, 300, 301})});
}
template <class T>
std::shared_ptr<const T> shared(T value) {
  return std::make_shared<const T>(std::move(value));
}

}  // namespace gemma4::test
