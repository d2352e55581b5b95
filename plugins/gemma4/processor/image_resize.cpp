#include "processor/image_resize.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace gemma4 {
namespace {

/// Which inputs make one output: `weights` of them from `first` on.
struct Taps {
  std::int64_t first = 0;
  std::span<const std::int16_t> weights;
};

/// The filter of one axis. Weights are fractions of 2^precision.
class AxisFilter {
 public:
  AxisFilter(std::int64_t input_size, std::int64_t output_size);

  [[nodiscard]] Taps taps(std::int64_t output) const {
    const auto i = static_cast<std::size_t>(output);
    return {first_[i], std::span{weights_}.subspan(begin_[i], begin_[i + 1] - begin_[i])};
  }
  [[nodiscard]] int precision() const noexcept { return precision_; }
  [[nodiscard]] std::int64_t output_size() const noexcept { return static_cast<std::int64_t>(first_.size()); }

 private:
  std::vector<std::int64_t> first_;
  std::vector<std::size_t> begin_{0};  ///< of each output's weights, and their end
  std::vector<std::int16_t> weights_;
  int precision_ = 0;
};

/// Keys' cubic convolution kernel; the order of evaluation is torch's.
double cubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
  if (x < 2.0) return (((x - 5.0) * x + 8.0) * x - 4.0) * a;
  return 0.0;
}

/// As torch's resize rounds: halves up, but what is below -0.5 towards zero, where std::lround goes to the nearest.
std::int64_t rounded(double value) {
  return static_cast<std::int64_t>(value + 0.5);  // NOLINT(bugprone-incorrect-roundings)
}

/// The most bits with which the largest weight still fits into 16 bits with a sign.
int precision_for(double largest_weight) {
  constexpr int most = 22;
  int precision = 0;
  while (precision < most && rounded(largest_weight * (1 << (precision + 1))) < (1 << 15)) ++precision;
  return precision;
}

AxisFilter::AxisFilter(std::int64_t input_size, std::int64_t output_size) {
  const double scale = static_cast<double>(input_size) / static_cast<double>(output_size);
  const double stretch = std::max(scale, 1.0);
  const double support = 2.0 * stretch;
  const double inverse = scale >= 1.0 ? 1.0 / scale : 1.0;
  const auto most_taps = 2 * static_cast<std::int64_t>(std::ceil(support)) + 1;

  std::vector<double> exact;
  double largest = 0.0;
  for (std::int64_t i = 0; i < output_size; ++i) {
    const double center = scale * (static_cast<double>(i) + 0.5);
    const auto first = std::max<std::int64_t>(rounded(center - support), 0);
    const auto end = std::min(rounded(center + support), input_size);
    const auto count = std::clamp<std::int64_t>(end - first, 0, most_taps);
    const auto begin = exact.size();
    double sum = 0.0;
    for (std::int64_t j = 0; j < count; ++j) {
      exact.push_back(cubic((static_cast<double>(j + first) - center + 0.5) * inverse));
      sum += exact.back();
    }
    for (auto& weight : std::span{exact}.subspan(begin)) {
      if (sum != 0.0) weight /= sum;
      largest = std::max(largest, weight);
    }
    first_.push_back(first);
    begin_.push_back(exact.size());
  }
  precision_ = precision_for(largest);
  weights_.reserve(exact.size());
  for (const double weight : exact) {
    const double scaled = weight * (1 << precision_);
    weights_.push_back(static_cast<std::int16_t>(scaled < 0.0 ? scaled - 0.5 : scaled + 0.5));
  }
}

constexpr std::size_t channels = 3;

/// output[i, :] = sum of weight * input[first + j, :] over the taps of i, for rows of `row_size` samples.
void filter_rows(const AxisFilter& filter, const std::uint8_t* input, std::size_t row_size, std::uint8_t* output) {
  constexpr std::size_t block = 256;  // its sums stay in the first-level cache
  std::array<std::int32_t, block> sums;
  for (std::int64_t i = 0; i < filter.output_size(); ++i, output += row_size) {
    const auto taps = filter.taps(i);
    for (std::size_t at = 0; at < row_size; at += block) {
      const auto size = std::min(block, row_size - at);
      sums.fill(1 << (filter.precision() - 1));
      const auto* row = input + static_cast<std::size_t>(taps.first) * row_size + at;
      for (const std::int16_t weight : taps.weights) {
        for (std::size_t k = 0; k < size; ++k) sums[k] += weight * row[k];
        row += row_size;
      }
      for (std::size_t k = 0; k < size; ++k) {
        output[at + k] = static_cast<std::uint8_t>(std::clamp(sums[k] >> filter.precision(), 0, 255));
      }
    }
  }
}

/// [H, W, 3] to [H, 3, w]. Filtering is along the outermost axis, where a row of neighbours shares its weights: bands
/// of rows are turned on their side, small enough for the second-level cache.
std::vector<std::uint8_t> filter_width(const Picture& picture, std::size_t new_width) {
  constexpr std::size_t band = 32;
  const auto height = static_cast<std::size_t>(picture.height), width = static_cast<std::size_t>(picture.width);
  const AxisFilter filter{picture.width, static_cast<std::int64_t>(new_width)};
  std::vector<std::uint8_t> columns(width * channels * band), filtered(new_width * channels * band);
  std::vector<std::uint8_t> output(height * channels * new_width);
  for (std::size_t top = 0; top < height; top += band) {
    const auto rows = std::min(band, height - top);
    const auto* in = picture.rgb.data() + top * width * channels;
    for (std::size_t x = 0; x < width * channels; ++x) {
      for (std::size_t y = 0; y < rows; ++y) columns[x * band + y] = in[y * width * channels + x];
    }
    filter_rows(filter, columns.data(), channels * band, filtered.data());
    auto* out = output.data() + top * channels * new_width;
    for (std::size_t y = 0; y < rows; ++y) {
      for (std::size_t c = 0; c < channels; ++c) {
        for (std::size_t x = 0; x < new_width; ++x) *out++ = filtered[(x * channels + c) * band + y];
      }
    }
  }
  return output;
}

}  // namespace

std::vector<std::uint8_t> resize_bicubic(const Picture& picture, PictureSize size) {
  const auto height = static_cast<std::size_t>(size.height), width = static_cast<std::size_t>(size.width);
  const auto columns_done = filter_width(picture, width);     // [H, 3, w]
  std::vector<std::uint8_t> rows(height * channels * width);  // [h, 3, w]
  filter_rows(AxisFilter{picture.height, size.height}, columns_done.data(), channels * width, rows.data());

  std::vector<std::uint8_t> planes(rows.size());  // [3, h, w]
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t c = 0; c < channels; ++c) {
      std::copy_n(rows.data() + (y * channels + c) * width, width, planes.data() + (c * height + y) * width);
    }
  }
  return planes;
}

}  // namespace gemma4
