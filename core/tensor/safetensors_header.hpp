#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <lockstep/tensor.hpp>

// The safetensors format: 8 bytes little-endian header length, a JSON object that begins with '{' and may be padded
// with spaces, then the tensors' bytes, which the entries' data_offsets must cover exactly: no overlap, no gap, nothing
// left. Source: github.com/huggingface/safetensors, section "Format".

namespace lockstep::safetensors {

/// As in the format's reference implementation.
inline constexpr std::uint64_t max_header_bytes = 100'000'000;

/// Entries that the writer puts between tensors to align them; the reader keeps them to itself.
inline constexpr std::string_view padding_prefix = "__lockstep_padding__";

struct Entry {
  std::string name;
  DType dtype = DType::float32;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;  ///< bytes from the start of the data
  std::uint64_t end = 0;
};

struct Header {
  std::vector<Entry> entries;  ///< in the order of the header, padding included
  std::map<std::string, std::string> metadata;
  std::size_t data_start = 0;  ///< bytes from the start of the file
};

/// Reads and checks the header of a whole file, its layout against the number of data bytes included.
/// `file` stands in messages. Throws Error.
[[nodiscard]] Header read_header(std::string_view bytes, std::string_view file);

/// A JSON string literal. Bytes that are not UTF-8 are replaced; names longer than a line are cut: for messages.
[[nodiscard]] std::string in_quotes(std::string_view text);

}  // namespace lockstep::safetensors
