#include "cli/baseline_arguments.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <chrono>
#include <cstring>
#include <lockstep/safetensors.hpp>

#include "pipeline/exit_code.hpp"
#include "pipeline/render_diagnostic.hpp"
#include "pipeline/utf8.hpp"
#include "report/output.hpp"
#include "tensor/atomic_file.hpp"

namespace lockstep::cli {
namespace {

constexpr const char* how_to_make =
    "make one of a run that passes: lockstep run PIPELINE --baseline FILE --update-baseline";

std::string today() { return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::chrono::system_clock::now())); }

/// Calls `work`; that the file could not be read or written becomes part of the record.
template <class Work>
void keep(RunRecord& record, Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    add_report_failure(record, {.code = "R001",
                                .message = fmt::format("the baseline cannot be kept: {}", error.what()),
                                .help = "name a file in a folder that can be written to"});
  }
}

}  // namespace

BaselineArguments::BaselineArguments(const Arguments& arguments, PlanResult& result) {
  const auto needs = [&](std::string_view option, std::string_view other, const char* help) {
    if (!arguments.has(option) || arguments.has(other)) return;
    result.diagnostics.push_back({.code = "C016",
                                  .message = fmt::format("'--{}' needs '--{}'", option, other),
                                  .location = arguments.option(option)->location,
                                  .help = help});
  };
  needs("update-baseline", "baseline", how_to_make);
  needs("reason", "update-baseline", "a reason is kept where --update-baseline makes the baseline looser");
  const auto given = arguments.option("baseline");
  if (!given) return;
  file_ = given->value;
  update_ = arguments.has("update-baseline");
  if (const auto reason = arguments.option("reason")) {
    reason_ = reason->value;
    const bool is_text = first_invalid_utf8(*reason_) == std::string::npos;
    if (!is_text || reason_->find_first_not_of(" \t\r\n") == std::string::npos)
      result.diagnostics.push_back(
          {.code = "C005",
           .message = is_text ? "'--reason' says nothing" : "'--reason' has bytes that are not UTF-8",
           .location = reason->location,
           .help = "say why the baseline may become looser; the file keeps it"});
  }
  try {
    baseline_ = read_baseline_file(*file_);
  } catch (const Error& error) {
    result.diagnostics.push_back(error.diagnostic());
    return;
  }
  if (!baseline_ && !update_)
    result.diagnostics.push_back({.code = "F004",
                                  .message = fmt::format("there is no baseline {}", in_quotes(given->value)),
                                  .location = given->location,
                                  .help = how_to_make});
  if (const int error = update_ ? write_error(*file_) : 0; error != 0)
    result.diagnostics.push_back(
        {.code = "R001",
         .message = fmt::format("the baseline cannot be written to {}: {}", given->value, std::strerror(error)),
         .location = given->location,
         .help = "name a file in a folder that exists and can be written to"});
  const auto& pipeline = result.plan.common_name;
  if (baseline_ && !pipeline.empty() && baseline_->pipeline != pipeline)
    result.diagnostics.push_back(
        {.code = "F004",
         .message = fmt::format("the baseline {} is of pipeline {}, this one is {}", in_quotes(given->value),
                                in_quotes(baseline_->pipeline), in_quotes(pipeline)),
         .location = given->location,
         .help = "name the baseline of this pipeline"});
}

void BaselineArguments::apply(RunRecord& record) const {
  if (!file_) return;
  keep(record, [&] {
    if (update_) {
      update_baseline(record, *file_, reason_, today());
    } else {
      judge_by_baseline(record, *baseline_, file_->string());
      record.baseline->sha256 = sha256_of_file(*file_);
    }
  });
}

void BaselineArguments::apply_to_matrix(RunRecord& record) const {
  if (!baseline_ || record.verdict != RunVerdict::pass) return;
  auto gone = rows_gone(*baseline_, record.matrix);
  if (gone.empty()) return;
  if (update_ && reason_) return keep(record, [&] { drop_rows_gone(*file_, record.matrix, *reason_, today()); });
  constexpr std::size_t most_shown = 10;
  const auto count = gone.size();
  gone.resize(std::min(count, most_shown));
  record.verdict = RunVerdict::fail;
  record.exit_code = exit_code::failed;
  record.message = fmt::format(
      "worse than the baseline: the matrix does not have {} of its rows: {}{}; --update-baseline --reason TEXT takes "
      "them out, --row and --shard leave them alone",
      count, fmt::join(gone, "  "), count > most_shown ? "  …" : "");
}

}  // namespace lockstep::cli
