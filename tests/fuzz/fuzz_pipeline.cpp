#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "pipeline/fake_catalog.hpp"
#include "pipeline/plan.hpp"
#include "pipeline/render_diagnostic.hpp"
#include "safetensors/files.hpp"

// Any pipeline file, overlay and arguments give a plan or diagnostics that can be rendered; nothing is thrown. A line
// that begins with "%%config" ends the text before it and begins an overlay; "%%set KEY=VALUE" and "%%skip ID" are
// arguments.

namespace {

using namespace lockstep;

const std::filesystem::path& folder() {
  static const TemporaryFolder folder;
  return folder.path();
}

PipelineRequest request_of(std::string_view input) {
  PipelineRequest request;
  request.file = folder() / "pipeline.toml";
  std::ofstream out(request.file, std::ios::binary);
  while (!input.empty()) {
    const auto line = input.substr(0, input.find('\n'));
    input.remove_prefix(std::min(line.size() + 1, input.size()));
    if (line.starts_with("%%set ")) {
      request.sets.emplace_back(line.substr(6));
    } else if (line.starts_with("%%skip ")) {
      request.skips.emplace_back(line.substr(7));
    } else if (line.starts_with("%%config") && request.configs.size() < 3) {
      request.configs.push_back(folder() / ("overlay" + std::to_string(request.configs.size()) + ".toml"));
      out = std::ofstream(request.configs.back(), std::ios::binary);
    } else {
      out << line << '\n';
    }
  }
  return request;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto request = request_of({reinterpret_cast<const char*>(data), size});
  test::FakeCatalog catalog;
  const auto result = make_plan(request, catalog);
  for (const auto& diagnostic : result.diagnostics)
    if (diagnostic.code.empty() || render(diagnostic, true).empty()) std::abort();
  if (result.ok() != (result.exit_code() == 0)) std::abort();
  return 0;
}
