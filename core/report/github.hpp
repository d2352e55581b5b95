#pragma once

#include <filesystem>
#include <string>

#include "engine/record.hpp"

namespace lockstep {

/// Where the files of a run lie in a repository.
struct RepositoryPlace {
  std::filesystem::path root;     ///< of the repository, absolute; empty: paths stay as they are
  std::filesystem::path working;  ///< what relative paths of the record are relative to, absolute
};

/// The run record as workflow commands of GitHub Actions, one a line: an error or warning for everything that is wrong,
/// at the line that set the bound, or else at the step's place in the pipeline.
///
/// GitHub shows ten of each kind per step of a job, so there are at most ten, the most important first; the tenth
/// counts the rest. Source: GitHub's documentation of workflow commands.
[[nodiscard]] LOCKSTEP_API std::string to_github(const RunRecord& record, const RepositoryPlace& place);

}  // namespace lockstep
