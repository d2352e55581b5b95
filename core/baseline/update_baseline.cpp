#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>
#include <algorithm>
#include <iterator>
#include <lockstep/safetensors.hpp>
#include <set>

#include "baseline/baseline.hpp"
#include "baseline/judge.hpp"
#include "pipeline/render_diagnostic.hpp"
#include "tensor/atomic_file.hpp"

namespace lockstep {
namespace {

/// One update of the files in a folder at a time. The folder itself is locked, so nothing is left behind.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& file)
      : descriptor_(::open((file.has_parent_path() ? file.parent_path() : ".").c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ >= 0) flock(descriptor_, LOCK_EX);
  }
  ~FolderLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

std::string text_of(const BaselineRecord::Finding& finding) {
  auto text = finding.step;
  if (!finding.check.empty()) text += " " + finding.check;
  if (finding.subject) text += " " + *finding.subject;
  return text + ": " + finding.message;
}

/// The section with what the run measured: entries that held keep their value, so that small steps never add up.
struct Update {
  std::vector<BaselineEntry> checks;
  std::size_t tightened = 0;
  std::size_t added = 0;
  std::size_t loosened = 0;
};

Update update_of(const std::vector<BaselineEntry>& old, const RunRecord& record, const BaselineMargin& margin) {
  Update update;
  auto checks = checks_by_key(record);
  const auto keys = keys_of(old);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto& entry = old[i];
    const auto found = checks.find(keys[i]);
    if (found == checks.end()) {
      if (is_gone(entry, record))
        ++update.loosened;
      else
        update.checks.push_back(entry);
      continue;
    }
    auto now = entry_of(entry.step, *found->second);
    now.relative = entry.relative;
    const bool worse = worse_than(entry, *found->second, margin, true).has_value();
    const bool better = !worse && better_than(entry, *found->second).has_value();
    update.loosened += worse ? 1 : 0;
    update.tightened += better ? 1 : 0;
    if (worse || better)
      update.checks.push_back(std::move(now));
    else
      update.checks.push_back(entry);
    checks.erase(found);
  }
  for (const auto& [key, check] : checks) update.checks.push_back(entry_of(std::get<0>(key), *check));
  update.added = checks.size();
  return update;
}

}  // namespace

void update_baseline(RunRecord& record, const std::filesystem::path& file, const std::optional<std::string>& reason,
                     const std::string& date) {
  const FolderLock lock(file);
  auto baseline = read_baseline_file(file).value_or(Baseline{.pipeline = common_name(record)});
  auto result = stand_of(record, baseline, file.string());
  const auto refuse = [&](std::string why) {
    result.update = "the baseline was not updated" + std::move(why);
    keep_stand(record, std::move(result));
  };
  if (record.verdict != RunVerdict::pass) return refuse(": the run did not pass");
  if (checks_by_key(record).empty()) {
    if (result.worse.empty()) result.worse.push_back({"", "", std::nullopt, "the run performed no check"});
    return refuse(": the run performed no check");
  }
  const auto chosen = choose_section(baseline, record);
  const bool looser = chosen.section != nullptr && !result.worse.empty();
  if (looser && !reason) return refuse(", for that would loosen it; --reason TEXT allows it and is kept");
  auto section = std::ranges::find(baseline.sections, environment_of_baseline(record), &BaselineSection::environment);
  if (section == baseline.sections.end()) {
    baseline.sections.push_back({environment_of_baseline(record), {}});
    section = std::prev(baseline.sections.end());
  }
  auto update = update_of(section->checks, record, baseline.margin);
  section->checks = std::move(update.checks);
  if (looser) {
    BaselineReason entry{date, *reason, {}};
    const auto row = record.row ? record.row->name + " " : std::string();
    for (const auto& finding : result.worse) entry.changes.push_back(row + text_of(finding));
    baseline.history.push_back(std::move(entry));
  }
  const auto text = to_toml(baseline);
  const bool changed = update.added + update.tightened + update.loosened > 0 || looser;
  if (changed) write_file(file, text);
  result.worse.clear();
  result.unknown.clear();
  result.better.clear();
  result.update = changed ? fmt::format("the baseline was updated: {} added, {} tightened, {} loosened", update.added,
                                        update.tightened, update.loosened)
                          : "the baseline is up to date";
  result.sha256 = sha256_of_file(file);
  record.baseline = std::move(result);
}

void drop_rows_gone(const std::filesystem::path& file, const std::vector<std::string>& matrix,
                    const std::string& reason, const std::string& date) {
  const FolderLock lock(file);
  auto baseline = read_baseline_file(file);
  if (!baseline) return;
  const auto gone = rows_gone(*baseline, matrix);
  if (gone.empty()) return;
  BaselineReason entry{date, reason, {}};
  for (const auto& row : gone) entry.changes.push_back(fmt::format("row {} is gone", in_quotes(row)));
  std::erase_if(baseline->sections, [&gone](const BaselineSection& section) {
    const auto is_gone_row = [&gone](const auto& field) {
      const auto* name = std::get_if<std::string>(&field.second.data);
      return field.first == "row" && name != nullptr && std::ranges::find(gone, *name) != gone.end();
    };
    return std::ranges::any_of(section.environment, is_gone_row);
  });
  baseline->history.push_back(std::move(entry));
  write_file(file, to_toml(*baseline));
}

}  // namespace lockstep
