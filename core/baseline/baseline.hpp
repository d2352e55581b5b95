#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <lockstep/check.hpp>

#include "engine/record.hpp"

namespace lockstep {

/// How much worse than its value in the baseline a check may be.
struct BaselineMargin {
  double relative = 0.1;  ///< growth of the error
  /// By metric, in its unit, on top of that: what may change without a reason. For a close value 0.01 is a hundredth of
  /// the tolerance.
  std::map<std::string, double> absolute = {{"close", 0.01}, {"cosine", 1e-6}, {"pcc", 1e-6}, {"ulp", 1.0}};
};

/// One check entry as it was when the baseline was taken.
struct BaselineEntry {
  std::string step;
  std::string check;
  std::optional<std::string> subject;
  Metric metric = Metric::bits;
  Level level = Level::require;
  Verdict verdict = Verdict::pass;
  std::optional<double> value;
  std::optional<std::string> ladder;
  std::optional<double> relative;  ///< a margin of its own
};

/// The entries of one set-up on one machine.
struct BaselineSection {
  std::vector<std::pair<std::string, Value>> environment;  ///< what `environment_of_baseline` chooses
  std::vector<BaselineEntry> checks;
};

/// Why something was allowed to become worse.
struct BaselineReason {
  std::string date;  ///< "2026-11-30"
  std::string reason;
  std::vector<std::string> changes;  ///< "prefill logits layer 3: close 0.52, was 0.31, at most 0.351"
};

/// A file of what a pipeline's checks measured when they were last taken for good.
struct Baseline {
  std::string pipeline;
  BaselineMargin margin;
  std::vector<BaselineSection> sections;
  std::vector<BaselineReason> history;
};

/// Reads TOML. Throws Error (F004) that points at what is wrong in `name`.
[[nodiscard]] LOCKSTEP_API Baseline read_baseline(const std::string& toml, const std::string& name);
/// Reads a file; none if there is no such file.
[[nodiscard]] LOCKSTEP_API std::optional<Baseline> read_baseline_file(const std::filesystem::path& file);
/// One line per check, sorted by step, check and subject ("layer 2" before "layer 10").
[[nodiscard]] LOCKSTEP_API std::string to_toml(const Baseline& baseline);

/// What a section is chosen by: of the set-up dtype, checkpoint and matrix row, of the machine processor, LibTorch and
/// threads.
[[nodiscard]] std::vector<std::pair<std::string, Value>> environment_of_baseline(const RunRecord& record);

/// The value up to which a check of this entry is not worse; for sqnr, cosine, pcc, top1 and topk down to which.
/// `relative` is growth of the error: of 1 - value for the shares, 20 log10(1 + relative) dB for sqnr.
[[nodiscard]] LOCKSTEP_API double limit_of(const BaselineEntry& entry, const BaselineMargin& margin);
/// Of sqnr, cosine, pcc, top1 and topk more is better.
[[nodiscard]] bool more_is_better(Metric metric);

/// Holds a run that is over against a baseline, and writes what came out into `record.baseline`; worse checks make a
/// run that passed a failed one. On another machine only verdicts, levels and metrics are compared, for bits and
/// distances are not promised there.
/// A run that passed without a check that the baseline has fails too.
LOCKSTEP_API void judge_by_baseline(RunRecord& record, const Baseline& baseline, const std::string& file);

/// The rows that the baseline has a section of and the matrix does not have, each once: what they verified, nothing
/// verifies any more.
[[nodiscard]] LOCKSTEP_API std::vector<std::string> rows_gone(const Baseline& baseline,
                                                              const std::vector<std::string>& matrix);
/// Takes their sections out of the file, which keeps the reason.
LOCKSTEP_API void drop_rows_gone(const std::filesystem::path& file, const std::vector<std::string>& matrix,
                                 const std::string& reason, const std::string& date);

/// Writes what the run measured into the file, in which others may have written since: new checks are added, better
/// values kept. Where anything would become looser nothing is written without a reason; with one it is kept in the
/// file's history. The file is replaced atomically, and two updates at once do not lose one another's entries. Throws
/// Error if it cannot be read or written.
LOCKSTEP_API void update_baseline(RunRecord& record, const std::filesystem::path& file,
                                  const std::optional<std::string>& reason, const std::string& date);

}  // namespace lockstep
