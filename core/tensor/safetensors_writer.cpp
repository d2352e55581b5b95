#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <lockstep/diagnostic.hpp>
#include <lockstep/safetensors.hpp>

#include "tensor/atomic_file.hpp"
#include "tensor/safetensors_dtype.hpp"
#include "tensor/safetensors_header.hpp"

namespace lockstep {
namespace {

constexpr std::uint64_t alignment = 64;

std::uint64_t bytes_of(const Tensor& tensor) {
  return static_cast<std::uint64_t>(tensor.numel()) * element_size(tensor.dtype());
}
std::uint64_t padding_after(std::uint64_t bytes) { return (alignment - bytes % alignment) % alignment; }

std::string literal(const std::string& text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception&) {
    throw Error{
        fmt::format("{} is not UTF-8; safetensors stores names and metadata as UTF-8", safetensors::in_quotes(text))};
  }
}

std::string entry(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape, std::uint64_t begin,
                  std::uint64_t bytes) {
  return fmt::format(R"({}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", literal(name),
                     safetensors::format_name(dtype), fmt::join(shape, ","), begin, begin + bytes);
}

void check_names(const std::vector<std::pair<std::string, Tensor>>& tensors) {
  std::set<std::string_view> names;
  for (const auto& [name, tensor] : tensors) {
    if (name == "__metadata__" || name.starts_with(safetensors::padding_prefix))
      throw Error{fmt::format("a tensor cannot be named {}: the name is reserved", safetensors::in_quotes(name))};
    if (!names.insert(name).second)
      throw Error{fmt::format("two tensors are named {}, expected unique names", safetensors::in_quotes(name))};
  }
}

/// The order of the data. The format allows no gaps, so a tensor whose size is not a multiple of 64 bytes needs a
/// padding entry after it, except at the end: such tensors come last.
std::vector<std::size_t> data_order(const std::vector<std::pair<std::string, Tensor>>& tensors) {
  std::vector<std::size_t> order(tensors.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_partition(order.begin(), order.end(),
                        [&](std::size_t i) { return padding_after(bytes_of(tensors[i].second)) == 0; });
  return order;
}

/// Header length and JSON, padded with spaces so that the data starts at a multiple of 64 bytes of the file. Entries
/// are in the caller's order, which readers show; padding comes last.
std::string header(const std::vector<std::pair<std::string, Tensor>>& tensors, const std::vector<std::size_t>& order,
                   const std::map<std::string, std::string>& metadata) {
  std::vector<std::uint64_t> begins(tensors.size());
  std::vector<std::string> padding;
  std::uint64_t end = 0;
  for (const std::size_t i : order) {
    if (const auto gap = padding_after(end); gap != 0) {
      padding.push_back(entry(fmt::format("{}{}", safetensors::padding_prefix, padding.size()), DType::uint8,
                              {static_cast<std::int64_t>(gap)}, end, gap));
      end += gap;
    }
    begins[i] = end;
    end += bytes_of(tensors[i].second);
  }

  std::vector<std::string> parts;
  if (!metadata.empty()) {
    std::vector<std::string> pairs;
    pairs.reserve(metadata.size());
    for (const auto& [key, value] : metadata) pairs.push_back(literal(key) + ":" + literal(value));
    parts.push_back(fmt::format(R"("__metadata__":{{{}}})", fmt::join(pairs, ",")));
  }
  parts.reserve(parts.size() + tensors.size() + padding.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto& [name, tensor] = tensors[i];
    parts.push_back(entry(name, tensor.dtype(), tensor.sizes(), begins[i], bytes_of(tensor)));
  }
  std::ranges::move(padding, std::back_inserter(parts));
  auto json = fmt::format("{{{}}}", fmt::join(parts, ","));
  json.append(padding_after(8 + json.size()), ' ');
  if (json.size() > safetensors::max_header_bytes)
    throw Error{fmt::format("the names and shapes need {} bytes, a safetensors header holds at most {}", json.size(),
                            safetensors::max_header_bytes)};
  std::string bytes;
  for (int shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(json.size() >> shift & 0xff);
  return bytes + json;
}

}  // namespace

void write_safetensors(const std::filesystem::path& path, const std::vector<std::pair<std::string, Tensor>>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  check_names(tensors);
  const auto order = data_order(tensors);
  const auto head = header(tensors, order, metadata);
  AtomicFile file{path};
  file.write(head);
  std::uint64_t end = 0;
  for (const std::size_t i : order) {
    const auto gap = padding_after(end);
    file.write(std::string(gap, '\0'));
    const Tensor tensor = tensors[i].second.contiguous();
    file.write({reinterpret_cast<const char*>(tensor.data()), bytes_of(tensor)});
    end += gap + bytes_of(tensor);
  }
  file.commit();
}

}  // namespace lockstep
