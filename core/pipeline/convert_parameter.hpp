#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <lockstep/parameter.hpp>

#include "pipeline/findings.hpp"
#include "pipeline/node.hpp"

namespace lockstep {

/// The file or folder that a text names: relative to the folder of the file that its leading piece comes from.
[[nodiscard]] std::filesystem::path resolved_path(const Node& node);

/// True for a path parameter whose text is empty, which means "not given".
[[nodiscard]] bool is_not_given(const Node& node, const ParamInfo& info);

/// `node` as a value of the parameter: kind, range, choices and existence of paths are checked. None if something is
/// wrong; that has been reported. `owner` is "step 'runtime'".
[[nodiscard]] std::optional<Value> convert_parameter(const Node& node, const ParamInfo& info, const std::string& owner,
                                                     Findings& findings);

/// Why a file (or folder) parameter cannot be used; "" if it can.
[[nodiscard]] LOCKSTEP_API std::string path_problem(const std::filesystem::path& path, ParamKind kind);

/// "an integer", "a list of files".
[[nodiscard]] std::string kind_text(const ParamInfo& info);

/// "at least 1 token", "from 0 to 1"; "" without limits.
[[nodiscard]] std::string range_text(const ParamInfo& info);

}  // namespace lockstep
