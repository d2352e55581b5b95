// A verifier that compares a function with itself proves nothing: reference and runtime may share the checkpoint and
// the conversions to LibTorch, and no more.

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"

namespace fs = std::filesystem;
using Names = std::set<std::string>;

namespace {

std::vector<std::string> output_lines(const std::string& command) {
  std::string text;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe);
  std::array<char, 4096> buffer{};
  while (const auto count = std::fread(buffer.data(), 1, buffer.size(), pipe)) text.append(buffer.data(), count);
  REQUIRE(::pclose(pipe) == 0);
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Libraries that `library` asks the loader for.
Names needed(const std::string& library) {
  Names result;
  for (const auto& line : output_lines("LC_ALL=C readelf --dynamic --wide '" + library + "'")) {
    if (line.find("(NEEDED)") == std::string::npos) continue;
    const auto open = line.find('[');
    result.insert(line.substr(open + 1, line.find(']') - open - 1));
  }
  REQUIRE(result.contains("libstdc++.so.6"));
  return result;
}

/// Mangled dynamic symbols; `which` is --defined-only or --undefined-only.
Names symbols(const std::string& library, const std::string& which) {
  Names result;
  for (const auto& line : output_lines("LC_ALL=C nm --dynamic --format=posix " + which + " '" + library + "'")) {
    const auto name = line.substr(0, line.find(' '));
    result.insert(name.substr(0, name.find('@')));
  }
  REQUIRE(result.size() > 10);
  return result;
}

Names undefined(const std::string& library) { return symbols(library, "--undefined-only"); }

Names with_prefix(const Names& names, std::string_view prefix) {
  Names result;
  for (const auto& name : names) {
    if (name.starts_with(prefix)) result.insert(name);
  }
  return result;
}

/// Namespaces as the Itanium ABI writes them after "_ZN" or "_ZNK".
Names in_namespace(const Names& names, const std::string& mangled) {
  auto result = with_prefix(names, "_ZN" + mangled);
  result.merge(with_prefix(names, "_ZNK" + mangled));
  return result;
}

Names all_but(Names names, const Names& removed) {
  for (const auto& name : removed) names.erase(name);
  return names;
}

/// The files that the sources of a folder include, as they are written.
Names includes(const std::string& folder) {
  Names result;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(LOCKSTEP_SOURCE_DIR) / folder)) {
    if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
    std::ifstream stream(entry.path());
    for (std::string line; std::getline(stream, line);) {
      const auto start = line.find_first_not_of(" \t");
      if (start == std::string::npos || line[start] != '#' || line.find("include") == std::string::npos) continue;
      const auto open = line.find_first_of("<\"");
      if (open == std::string::npos) continue;
      result.insert(line.substr(open + 1, line.find_first_of(">\"", open + 1) - open - 1));
    }
  }
  REQUIRE(result.size() > 5);
  return result;
}

Names including(const std::string& folder, const std::string& part) {
  Names result;
  for (const auto& file : includes(folder)) {
    if (file.find(part) != std::string::npos) result.insert(file);
  }
  return result;
}

const std::string gemma4_namespace = "6gemma4";
const std::string aten_operators = "2at4_ops";

}  // namespace

TEST_CASE("neither the reference nor the runtime links the other") {
  CHECK_FALSE(needed(REFERENCE_LIBRARY).contains("libgemma4_runtime.so"));
  CHECK_FALSE(needed(RUNTIME_LIBRARY).contains("libgemma4_reference.so"));
}

TEST_CASE("what both link links neither of them") {
  for (const auto* library : {CHECKPOINT_LIBRARY, TORCH_LIBRARY}) {
    CHECK_FALSE(needed(library).contains("libgemma4_reference.so"));
    CHECK_FALSE(needed(library).contains("libgemma4_runtime.so"));
  }
}

TEST_CASE("all that reference and runtime take from the family is the checkpoint") {
  const auto library = GENERATE(as<std::string>(), REFERENCE_LIBRARY, RUNTIME_LIBRARY);
  const auto taken = in_namespace(undefined(library), gemma4_namespace);
  CHECK_FALSE(taken.empty());
  CHECK(all_but(taken, symbols(CHECKPOINT_LIBRARY, "--defined-only")) == Names{});
}

TEST_CASE("reference and runtime define no function of the same name") {
  const auto reference = in_namespace(symbols(REFERENCE_LIBRARY, "--defined-only"), gemma4_namespace);
  const auto runtime = in_namespace(symbols(RUNTIME_LIBRARY, "--defined-only"), gemma4_namespace);
  CHECK_FALSE(reference.empty());
  CHECK_FALSE(runtime.empty());
  Names both;
  for (const auto& name : reference) {
    // Inline members of the checkpoint's value types, emitted where they are used.
    const bool value_type = name.find("D1Ev") != std::string::npos || name.find("D2Ev") != std::string::npos ||
                            name.find("Checkpoint") != std::string::npos || name.find("Config") != std::string::npos;
    if (runtime.contains(name) && !value_type) both.insert(name);
  }
  CHECK(both == Names{});
}

TEST_CASE("the checkpoint computes nothing: it uses no LibTorch and no mathematical function") {
  for (const auto& library : needed(CHECKPOINT_LIBRARY)) {
    INFO(library);
    CHECK(library.find("torch") == std::string::npos);
    CHECK(library.find("c10") == std::string::npos);
  }
  const auto used = undefined(CHECKPOINT_LIBRARY);
  for (const auto* function :
       {"sqrt", "pow", "exp", "tanh", "sin", "cos", "log", "sqrtf", "powf", "expf", "tanhf", "sinf", "cosf", "logf"}) {
    INFO(function);
    CHECK_FALSE(used.contains(function));
  }
}

TEST_CASE("lockstep_torch converts, multiplies matrices, and computes nothing else") {
  // What a conversion needs (it makes a negated view a real one), the products themselves, and views of their operands.
  const Names allowed{"resolve_neg", "linear",      "matmul",        "bmm",       "empty_memory_format",
                      "reshape",     "squeeze_dim", "transpose_int", "unsqueeze", "view"};
  Names computing;
  for (const auto& name : in_namespace(undefined(TORCH_LIBRARY), aten_operators)) {
    const auto digits = name.find(aten_operators) + aten_operators.size();
    const auto start = name.find_first_not_of("0123456789", digits);
    const auto length = std::stoul(name.substr(digits, start - digits));
    if (const auto op = name.substr(start, length); !allowed.contains(op)) computing.insert(op);
  }
  CHECK(computing == Names{});
  CHECK_FALSE(in_namespace(undefined(REFERENCE_LIBRARY), aten_operators).empty());  // the filter sees operators
}

TEST_CASE("no source of one side includes a header of the other") {
  CHECK(including("plugins/gemma4/reference", "runtime/") == Names{});
  CHECK(including("plugins/gemma4/runtime", "reference/") == Names{});
  for (const auto* shared : {"plugins/gemma4/checkpoint", "core/torch", "core/include"}) {
    INFO(shared);
    CHECK(including(shared, "runtime/") == Names{});
    CHECK(including(shared, "reference/") == Names{});
  }
  CHECK_FALSE(including("plugins/gemma4/steps", "runtime/").empty());  // the scan sees includes
}

TEST_CASE(
    "plugins include the core's public headers and none of its rooms, but for those that steps for any model share") {
  const Names shared{"check/name_rules.hpp", "check/read_criterion.hpp", "process/child_process.hpp",
                     "process/scratch_folder.hpp"};
  Names rooms;
  for (const auto& entry : fs::directory_iterator(fs::path(LOCKSTEP_SOURCE_DIR) / "core")) {
    const auto name = entry.path().filename().string();
    if (entry.is_directory() && name != "include") rooms.insert(name + "/");
  }
  CHECK(rooms.contains("tensor/"));
  Names private_headers;
  for (const auto& file : includes("plugins")) {
    const bool own = fs::exists(fs::path(LOCKSTEP_SOURCE_DIR) / "plugins/gemma4" / file) || file.starts_with("torch/");
    if (!own && rooms.contains(file.substr(0, file.find('/') + 1))) private_headers.insert(file);
  }
  CHECK(private_headers == shared);
  for (const auto& file : shared) CHECK_FALSE(includes("plugins/gemma4").contains(file));
  CHECK_FALSE(including("plugins", "lockstep/").empty());  // the scan sees includes
}

TEST_CASE("a plugin author has at most twelve headers to know") {
  const auto folder = fs::path(LOCKSTEP_SOURCE_DIR) / "core/include/lockstep";
  CHECK(std::distance(fs::directory_iterator(folder), fs::directory_iterator()) <= 12);
}

TEST_CASE("LibTorch is included by core in lockstep_torch alone, and by the checkpoint nowhere") {
  for (const auto* part : {"ATen/", "c10/", "torch/"}) {
    INFO(part);
    CHECK(including("plugins/gemma4/checkpoint", part) == Names{});
    CHECK(including("core/tensor", part) == Names{});
    CHECK(including("core/engine", part) == Names{});
    CHECK(including("core/check", part) == Names{});
  }
  CHECK_FALSE(including("core/torch", "ATen/").empty());
}
