#include "pipeline/source_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include <fmt/format.h>

#include "pipeline/render_diagnostic.hpp"
#include "pipeline/utf8.hpp"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_file = 10'000'000;

Location place_of(const std::shared_ptr<const SourceText>& source, std::size_t offset) {
  const std::string_view before = std::string_view(source->text).substr(0, offset);
  const auto line = static_cast<std::size_t>(std::ranges::count(before, '\n')) + 1;
  const auto start = before.rfind('\n') + 1;  // npos + 1 is 0
  return {source, line, offset - start + 1, 1};
}

bool check_utf8(const std::shared_ptr<const SourceText>& source, Findings& findings) {
  const auto offset = first_invalid_utf8(source->text);
  if (offset == std::string::npos) return true;
  const auto byte = static_cast<unsigned char>(source->text[offset]);
  findings.error("P002", place_of(source, offset), fmt::format("byte 0x{:02x} is not UTF-8 text", byte)).help =
      "pipeline files are UTF-8; save the file in that encoding";
  return false;
}

/// The content, or why there is none.
struct Content {
  std::string text;
  std::string problem;
  bool too_large = false;
};

Content read_content(const fs::path& path) {
  Content result;
  std::error_code failed;
  const auto status = fs::status(path, failed);
  if (status.type() == fs::file_type::not_found) {
    result.problem = "no such file";
    return result;
  }
  if (fs::is_directory(status)) {
    result.problem = "is a folder";
    return result;
  }
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    result.problem = errno != 0 ? std::generic_category().message(errno) : "cannot be opened";
    return result;
  }
  std::array<char, 16384> block;
  while (stream && result.text.size() <= largest_file) {
    stream.read(block.data(), block.size());
    result.text.append(block.data(), static_cast<std::size_t>(stream.gcount()));
  }
  if (stream.bad()) result.problem = "reading failed";
  result.too_large = result.text.size() > largest_file;
  return result;
}

}  // namespace

SourceFile read_source(const fs::path& path, Findings& findings) {
  auto content = read_content(path);
  const bool unread = !content.problem.empty() || content.too_large;
  auto source = std::make_shared<const SourceText>(SourceText{path.string(), unread ? "" : std::move(content.text)});
  findings.add_source(source);
  SourceFile result{source, std::make_shared<const fs::path>(path.parent_path()), false};
  if (!content.problem.empty()) {
    findings.error("P001", {source, 0, 0}, fmt::format("cannot read {}: {}", in_quotes(source->name), content.problem));
  } else if (content.too_large) {
    findings
        .error("P003", {source, 0, 0},
               fmt::format("{} has more than {} MB", in_quotes(source->name), largest_file / 1'000'000))
        .help = "is this a pipeline file?";
  } else {
    result.usable = check_utf8(source, findings);
  }
  return result;
}

SourceFile argument_source(std::string option, std::string argument, Findings& findings) {
  auto source = std::make_shared<const SourceText>(SourceText{std::move(option), std::move(argument)});
  findings.add_source(source);
  SourceFile result{source, nullptr, false};
  result.usable = check_utf8(source, findings);
  return result;
}

}  // namespace lockstep
