#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.hpp"
#include "pipeline/plan.hpp"

namespace lockstep::cli {

/// Where the report of one row lies: "out.dtype=bfloat16.json" for "out.json".
[[nodiscard]] std::string beside(const std::string& file, const std::string& row);
/// Whether rows can have reports of their own beside this one: not beside a device, a pipe or standard output.
[[nodiscard]] bool has_place_beside(const std::string& report);
[[nodiscard]] bool is_report(std::string_view option);

/// What is wrong with the files that the rows of a matrix would write, so that nothing runs: one would be written over
/// one of `inputs` or over the report of all rows, or its name is longer than a file's may be (C011, once per option).
[[nodiscard]] std::vector<Diagnostic> check_row_files(const Arguments& arguments, const std::vector<MatrixRow>& rows,
                                                      const std::vector<std::filesystem::path>& inputs);

}  // namespace lockstep::cli
