#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <lockstep/diagnostic.hpp>
#include "pipeline/matrix.hpp"
#include "pipeline/render_diagnostic.hpp"
#include "pipeline/source_file.hpp"

namespace lockstep {
namespace {

/// Row `index` of `count` runs in shard `index` of `count`, both from 1.
struct Shard {
  std::size_t index = 1;
  std::size_t count = 1;
};

std::optional<Shard> parse_shard(std::string_view text) {
  const auto number = [](std::string_view digits) -> std::optional<std::size_t> {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size() || digits.empty()) return std::nullopt;
    return value;
  };
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto index = number(text.substr(0, slash));
  const auto count = number(text.substr(slash + 1));
  if (!index || !count || *index < 1 || *index > *count) return std::nullopt;
  return Shard{*index, *count};
}

Location whole(const SourceFile& argument) {
  return {argument.source, 1, 1, std::max<std::size_t>(argument.source->text.size(), 1)};
}

/// "dtype=float32", with the value as it stands in a row's name or as it is.
bool holds(const Matrix::Row& row, std::string_view term) {
  const auto equals = term.find('=');
  if (equals == std::string_view::npos) return false;
  const auto axis = row.values.find(term.substr(0, equals));
  if (axis == row.values.end()) return false;
  return term == row_name({axis->first}, row.values) || term.substr(equals + 1) == scalar_text(axis->second);
}

bool matches(const Matrix::Row& row, std::string_view wanted) {
  if (holds(row, wanted)) return true;
  while (true) {
    const auto comma = wanted.find(',');
    if (!holds(row, wanted.substr(0, comma))) return false;
    if (comma == std::string_view::npos) return true;
    wanted.remove_prefix(comma + 1);
  }
}

/// A row's full name means that row alone, whatever else its words may mean.
std::vector<std::size_t> rows_meant_by(const std::string& wanted, const Matrix& matrix) {
  std::vector<std::size_t> matching;
  for (std::size_t i = 0; i < matrix.rows.size(); ++i) {
    if (matrix.rows[i].row.name == wanted) return {i};
    if (matches(matrix.rows[i], wanted)) matching.push_back(i);
  }
  return matching;
}

void report_no_row(const Matrix& matrix, const std::string& wanted, Findings& findings) {
  std::vector<std::string> names;
  std::vector<std::string> candidates;
  for (const auto& row : matrix.rows) {
    names.push_back(row.row.name);
    candidates.push_back(row.row.name);
    for (const auto& axis : matrix.axes) candidates.push_back(row_name({axis}, row.values));
  }
  auto& error = findings.error("P077", whole(argument_source("--row", wanted, findings)),
                               fmt::format("the matrix has no row {}", in_quotes(wanted)));
  error.did_you_mean = did_you_mean(wanted, candidates);
  constexpr std::size_t most_shown = 30;
  const bool all = names.size() <= most_shown;
  if (!all) names.resize(most_shown);
  error.help = fmt::format("rows: {}{}", fmt::join(names, "  "), all ? "" : "  …");
}

std::vector<std::size_t> rows_of_shard(std::vector<std::size_t> rows, const Shard& shard) {
  std::vector<std::size_t> result;
  for (std::size_t k = shard.index - 1; k < rows.size(); k += shard.count) result.push_back(rows[k]);
  return result;
}

}  // namespace

std::vector<std::size_t> select_rows(const Matrix* matrix, const PipelineRequest& request, Findings& findings) {
  const auto refuse_without_matrix = [&](std::string option, const std::string& argument) {
    const auto place = whole(argument_source(option, argument, findings));
    findings
        .error("P077", place, fmt::format("the pipeline has no [matrix], so '{}' has nothing to choose from", option))
        .help = "leave the option out, or give the pipeline a [matrix]";
  };
  std::optional<Shard> shard;
  if (request.shard) {
    if (matrix == nullptr) refuse_without_matrix("--shard", *request.shard);
    shard = parse_shard(*request.shard);
    if (!shard) {
      findings
          .error("P078", whole(argument_source("--shard", *request.shard, findings)),
                 fmt::format("{} is not a shard", in_quotes(*request.shard)))
          .help = "write I/N with I from 1 to N: --shard 2/4 is the second of four";
    }
  }
  if (matrix == nullptr) {
    for (const auto& wanted : request.rows) refuse_without_matrix("--row", wanted);
    return {};
  }
  std::vector<std::size_t> rows(matrix->rows.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  if (matrix->broken) return rows;

  if (!request.rows.empty()) {
    std::set<std::size_t> chosen;
    for (const auto& wanted : request.rows) {
      const auto meant = rows_meant_by(wanted, *matrix);
      if (meant.empty()) report_no_row(*matrix, wanted, findings);
      chosen.insert(meant.begin(), meant.end());
    }
    rows.assign(chosen.begin(), chosen.end());
  }
  return shard ? rows_of_shard(std::move(rows), *shard) : rows;
}

}  // namespace lockstep
