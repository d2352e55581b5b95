#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include <fmt/format.h>

#include <lockstep/safetensors.hpp>

#include "catch.hpp"
#include "safetensors/files.hpp"

using namespace lockstep;

namespace {

std::string output_of(const std::string& command) {
  struct Close {
    void operator()(std::FILE* pipe) const { ::pclose(pipe); }
  };
  const std::unique_ptr<std::FILE, Close> pipe{::popen(command.c_str(), "r")};
  REQUIRE(pipe);
  std::string text;
  char buffer[4096];
  while (const auto count = std::fread(buffer, 1, sizeof buffer, pipe.get())) text.append(buffer, count);
  return text;
}

}  // namespace

TEST_CASE("Hugging Face's safetensors reads what is written: every dtype, scalars, empty ones, odd sizes") {
  const char* const python = std::getenv("LOCKSTEP_PYTHON");
  REQUIRE(python != nullptr);
  const TemporaryFolder folder;
  std::vector<std::pair<std::string, Tensor>> tensors;
  std::vector<std::string> lines;
  for (int dtype = 0; dtype <= static_cast<int>(DType::float64); ++dtype) {
    for (const std::vector<std::int64_t>& sizes :
         std::initializer_list<std::vector<std::int64_t>>{{}, {0}, {1}, {64}, {3, 0, 2}, {7, 3}, {4, 4, 4}}) {
      const auto type = static_cast<DType>(dtype);
      std::size_t bytes = element_size(type);
      for (const auto size : sizes) bytes *= static_cast<std::size_t>(size);
      std::string data(bytes, '\0');
      for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<char>(type == DType::boolean ? i % 2 : i * 7 + 3);
      const auto name = fmt::format("{} {}", name_of(type), shape_text(sizes));
      tensors.emplace_back(name, Tensor::copy_of(std::as_bytes(std::span(data)), type, sizes));
      lines.push_back(fmt::format("{} {} {} {}\n", name_of(type), shape_text(sizes), sha256(data), name));
    }
  }
  write_safetensors(folder / "a.safetensors", tensors, {{"format", "pt"}});

  const auto script = std::string(LOCKSTEP_SOURCE_DIR) + "/tests/safetensors/read_with_python.py";
  std::string read = output_of(fmt::format("'{}' '{}' '{}'", python, script, (folder / "a.safetensors").string()));
  std::size_t found = 0;
  for (const auto& line : lines) {
    CAPTURE(line);
    const bool same = read.find(line) != std::string::npos;
    CHECK(same);
    found += same ? 1 : 0;
  }
  CHECK(found == lines.size());
  CHECK(std::ranges::count(read, '\n') == static_cast<std::ptrdiff_t>(lines.size()));
}
