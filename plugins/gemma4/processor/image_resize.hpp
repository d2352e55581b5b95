#pragma once

#include <cstdint>
#include <vector>

#include "processor/image_processor.hpp"

namespace gemma4 {

/// The picture at another size, [3, size.height, size.width] uint8: torch's antialiased bicubic filter for uint8 on a
/// CPU
/// (`interpolate(mode="bicubic", antialias=True)`, which torchvision's resize calls), bit for bit.
///
/// It is separable and works in integers: first along the width, rounded to 8 bits, then along the height. The cubic
/// kernel is Keys' with a = -0.5, stretched by the scale when the picture shrinks.
[[nodiscard]] std::vector<std::uint8_t> resize_bicubic(const Picture& picture, PictureSize size);

}  // namespace gemma4
