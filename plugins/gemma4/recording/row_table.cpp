#include "recording/row_table.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>

#include "recording/recorded_values.hpp"

namespace gemma4 {

using lockstep::DType;
using lockstep::Error;
using lockstep::Tensor;

void RowTable::add(const Tensor& keys, const Tensor& rows, const std::string& name) {
  if (rows_.empty()) {
    dtype_ = rows.dtype();
    width_ = rows.dim() > 0 ? rows.size(-1) : 0;
  }
  auto expected = keys.sizes();
  expected.push_back(width_);
  if (keys.dtype() != DType::int64 || rows.dtype() != dtype_ || rows.sizes() != expected) {
    throw Error{fmt::format("{}: {} is {}, expected {} {}, as its {}s are {}", folder_, name, rows.to_string(),
                            lockstep::name_of(dtype_), lockstep::shape_text(expected), key_, keys.to_string()),
                "record again with tools/record_hf.py"};
  }
  const auto bytes = static_cast<std::size_t>(width_) * lockstep::element_size(dtype_);
  const auto* row = rows.data();
  for (const auto key : keys.values<std::int64_t>()) {
    const auto [found, fresh] = rows_.try_emplace(key, row, bytes);
    if (!fresh && !std::equal(row, row + bytes, found->second.begin())) {
      throw Error{
          fmt::format("{}: {} has another row for {} {} than the recording has elsewhere", folder_, name, key_, key),
          "record again with tools/record_hf.py"};
    }
    row += bytes;
  }
  owners_.push_back(rows);
}

Tensor RowTable::gather(const Tensor& keys, const std::string& argument) const {
  const auto dense = keys.contiguous();
  std::vector<std::byte> gathered;
  gathered.reserve(static_cast<std::size_t>(dense.numel() * width_) * lockstep::element_size(dtype_));
  std::size_t place = 0;
  for (const auto key : dense.values<std::int64_t>()) {
    const auto row = rows_.find(key);
    if (row == rows_.end()) {
      throw Error{fmt::format("{}: the recording has nothing for {} {}, which {}{} is", folder_, key_, key, argument,
                              place_text(place, dense.sizes())),
                  fmt::format("record a prompt that has this {}", key_)};
    }
    gathered.insert(gathered.end(), row->second.begin(), row->second.end());
    ++place;
  }
  auto sizes = dense.sizes();
  sizes.push_back(width_);
  return Tensor::copy_of(gathered, dtype_, std::move(sizes));
}

RowTable recorded_rows(const Recording& recording, const std::string& keys, const std::string& name,
                       const std::string& key) {
  RowTable table(recording.folder().string(), key);
  table.add(recorded_values(recording, keys), recorded_values(recording, name), name);
  for (std::int64_t step = 0; step < recording.steps(); ++step) {
    const auto stem = fmt::format("decode.{}.", step);
    if (!recording.values(stem + keys) || !recording.values(stem + name)) continue;
    table.add(recorded_values(recording, stem + keys), recorded_values(recording, stem + name), stem + name);
  }
  return table;
}

}  // namespace gemma4
