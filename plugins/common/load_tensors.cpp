#include <lockstep/safetensors.hpp>
#include <lockstep/step.hpp>

#include <algorithm>

#include <fmt/format.h>

#include "check/name_rules.hpp"

namespace {
using namespace lockstep;

/// Opens a file of tensors.
struct LoadTensors final : Step {
  Param<FilePath> path{*this, "path",
                       "a .safetensors file, the .safetensors.index.json of a sharded one, or a .npy file"};
  Param<std::vector<std::string>> names{*this,
                                        "names",
                                        "patterns (* and ?) of the tensors to take, in the file's order; none: all",
                                        {.default_value = std::vector<std::string>{}}};
  Param<std::string> name{*this,
                          "name",
                          "what the tensor of a .npy file is called; without it as the file, without .npy",
                          {.optional = true}};
  Out<NamedTensors> tensors{*this, "tensors", "views of the mapped file"};

  [[nodiscard]] bool is_npy() const { return path->path.extension() == ".npy"; }

  void validate(Rules& rules) const override {
    if (name.has_value() && !is_npy()) rules.error(name, "only the tensor of a .npy file can be given a name");
    if (name.has_value() && name->empty()) rules.error(name, "is empty, expected a name");
  }

  void run(StepContext& context) override {
    const auto file = opened();
    for (const auto& pattern : *names) require_fit(pattern, file);
    NamedTensors taken;
    std::int64_t elements = 0;
    for (const auto& [tensor_name, tensor] : file.entries()) {
      if (!names->empty() && !matches_any(tensor_name, *names)) continue;
      taken.add(tensor_name, tensor);
      elements += tensor.numel();
    }
    context.summary(fmt::format("{} tensor{}, {} elements", taken.size(), taken.size() == 1 ? "" : "s", elements));
    tensors = std::move(taken);
  }

 private:
  [[nodiscard]] NamedTensors opened() const {
    auto file = read_tensor_file(path->path);
    if (!name.has_value()) return file;
    NamedTensors renamed;
    renamed.add(*name, file.entries().front().second);
    return renamed;
  }

  void require_fit(const std::string& pattern, const NamedTensors& file) const {
    const auto all = file.names();
    if (std::ranges::any_of(all, [&](const auto& tensor) { return matches_pattern(tensor, pattern); })) return;
    throw Error{Diagnostic{.message = fmt::format("{}: no tensor fits '{}'", path->path.string(), pattern),
                           .did_you_mean = did_you_mean(pattern, all)}};
  }
};
}  // namespace

LOCKSTEP_STEP("common.load_tensors", LoadTensors, "opens a file of tensors: safetensors, sharded or not, or .npy")
