#include "recording/recorded_rows.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

#include "recording/recorded_values.hpp"

namespace gemma4 {

using lockstep::DType;
using lockstep::Error;
using lockstep::Tensor;

RecordedRows::RecordedRows(const Recording& recording, std::int64_t pad) : folder_(recording.folder().string()) {
  const auto embeds = recorded_values(recording, "llm.embed");
  dtype_ = embeds.dtype();
  width_ = embeds.size(-1);
  add(recorded_values(recording, "llm.ids"), embeds, "llm.embed");
  for (std::int64_t step = 0;; ++step) {
    const auto stem = fmt::format("decode.{}.llm.", step);
    if (!recording.tensors().contains(stem + "ids")) break;
    if (!recording.values(stem + "ids") || !recording.values(stem + "embed")) continue;
    add(recorded_values(recording, stem + "ids"), recorded_values(recording, stem + "embed"), stem + "embed");
  }
  if (recording.values("llm.pad_embed")) {
    const std::array id{pad};
    add(Tensor::copy_of(std::span<const std::int64_t>(id), {1, 1}), recorded_values(recording, "llm.pad_embed"),
        "llm.pad_embed");
  }
}

void RecordedRows::add(const Tensor& ids, const Tensor& rows, const std::string& name) {
  auto expected = ids.sizes();
  expected.push_back(width_);
  if (ids.dtype() != DType::int64 || rows.dtype() != dtype_ || rows.sizes() != expected) {
    throw Error{fmt::format("{}: {} is {}, expected {} {} as its ids are {}", folder_, name, rows.to_string(),
                            lockstep::name_of(dtype_), lockstep::shape_text(expected), ids.to_string()),
                "record again with tools/record_hf.py"};
  }
  const auto bytes = static_cast<std::size_t>(width_) * lockstep::element_size(dtype_);
  const auto* row = rows.data();
  for (const auto id : ids.values<std::int64_t>()) {
    const auto [found, fresh] = rows_.try_emplace(id, row, bytes);
    if (!fresh && !std::equal(row, row + bytes, found->second.begin())) {
      throw Error{fmt::format("{}: the rows of id {} in {} differ from each other", folder_, id, name),
                  "record again with tools/record_hf.py"};
    }
    row += bytes;
  }
  owners_.push_back(rows);
}

Tensor RecordedRows::gather(const Tensor& input_ids) const {
  const auto dense = input_ids.contiguous();
  std::vector<std::byte> gathered;
  gathered.reserve(static_cast<std::size_t>(dense.numel() * width_) * lockstep::element_size(dtype_));
  std::size_t place = 0;
  for (const auto id : dense.values<std::int64_t>()) {
    const auto row = rows_.find(id);
    if (row == rows_.end()) {
      throw Error{fmt::format("{}: the recording has no embedding of id {}, which input_ids{} is", folder_, id,
                              place_text(place, dense.sizes())),
                  "record a prompt that has it; recordings of tools/record_hf.py have the pad id as llm.pad_embed"};
    }
    gathered.insert(gathered.end(), row->second.begin(), row->second.end());
    ++place;
  }
  auto sizes = dense.sizes();
  sizes.push_back(width_);
  return Tensor::copy_of(gathered, dtype_, std::move(sizes));
}

}  // namespace gemma4
