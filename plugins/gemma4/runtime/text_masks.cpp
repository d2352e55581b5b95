#include "runtime/text_masks.hpp"

#include <algorithm>

#include <ATen/ops/full.h>
#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

namespace gemma4 {

at::Tensor prefill_mask(std::int64_t max_seq, std::int64_t valid_length, std::optional<std::int64_t> window,
                        double fill, at::ScalarType dtype) {
  auto mask = at::full({max_seq, max_seq}, fill, at::dtype(dtype));
  for (std::int64_t query = 0; query < max_seq; ++query) {
    const auto first = window ? std::max<std::int64_t>(0, query - *window + 1) : 0;
    const auto end = std::min(query + 1, valid_length);
    if (first < end) mask.select(0, query).slice(0, first, end).zero_();
  }
  return mask;
}

at::Tensor decode_mask(std::int64_t max_seq, std::int64_t past_length, std::optional<std::int64_t> window, double fill,
                       at::ScalarType dtype) {
  if (past_length < 0 || past_length >= max_seq) {
    throw lockstep::Error{
        fmt::format("past_length is {}, a cache of max_seq {} holds 0 to {}", past_length, max_seq, max_seq - 1)};
  }
  auto mask = at::full({1, max_seq}, fill, at::dtype(dtype));
  const auto first = window ? std::max<std::int64_t>(0, past_length - *window + 1) : 0;
  mask.slice(1, first, past_length).zero_();
  mask.slice(1, max_seq - 1).zero_();
  return mask;
}

}  // namespace gemma4
