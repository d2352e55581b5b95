#include "check/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <charconv>
#include <lockstep/safetensors.hpp>
#include <map>
#include <set>

#include <lockstep/diagnostic.hpp>
#include "cli/terminal_io.hpp"
#include "cli/verbs.hpp"
#include "pipeline/exit_code.hpp"
#include "pipeline/render_diagnostic.hpp"
#include "report/file_comparison.hpp"

namespace lockstep::cli {
namespace {

[[noreturn]] void fail(Diagnostic diagnostic) { throw CommandLineError{{std::move(diagnostic)}}; }

Metric metric_of(const Arguments& arguments) {
  const auto given = arguments.option("metric");
  if (!given) return Metric::close;
  std::vector<std::string> names;
  for (const auto metric : tensor_metrics) {
    if (name_of(metric) == given->value) return metric;
    names.emplace_back(name_of(metric));
  }
  fail({.code = "C005",
        .message = fmt::format("'--metric' is {}, expected one of {}", in_quotes(given->value), fmt::join(names, ", ")),
        .location = given->location,
        .did_you_mean = did_you_mean(given->value, names)});
}

std::optional<double> number_of(const Arguments& arguments, std::string_view option) {
  const auto given = arguments.option(option);
  if (!given) return std::nullopt;
  double value = 0;
  const auto* end = given->value.data() + given->value.size();
  const auto [rest, error] = std::from_chars(given->value.data(), end, value);
  if (error == std::errc() && rest == end) return value;
  fail({.code = "C005",
        .message = fmt::format("'--{}' is {}, expected a number", option, in_quotes(given->value)),
        .location = given->location});
}

/// The criterion; every bound that is given must belong to the metric.
Criterion criterion_of(const Arguments& arguments) {
  Criterion criterion{metric_of(arguments), {}};
  const auto keys = keys_of(criterion.metric);
  for (const auto& [name, member] : bound_members) {
    const auto value = criterion.bound.*member = number_of(arguments, name);
    if (!value) continue;
    if (std::find(keys.begin(), keys.end(), name) == keys.end())
      fail({.code = "C013",
            .message = fmt::format("metric {} has no bound '{}'", name_of(criterion.metric), name),
            .location = arguments.option(name)->location,
            .help = keys.empty() ? "it takes none" : fmt::format("it takes: {}", fmt::join(keys, ", "))});
    if (const auto problem = problem_of_bound(criterion.metric, name, *value))
      fail({.code = "C013",
            .message = fmt::format("bound '{}' of {} {}", name, name_of(criterion.metric), *problem),
            .location = arguments.option(name)->location});
  }
  if (const auto problem = problem_of(criterion)) {
    auto place = arguments.option("metric");
    for (const auto& [name, member] : bound_members)
      if (!place && criterion.bound.*member) place = arguments.option(name);
    fail({.code = "C013",
          .message = *problem,
          .location = place ? place->location : Location{},
          .help = fmt::format("bounds of {}: --{}", name_of(criterion.metric), fmt::join(keys, ", --"))});
  }
  return criterion;
}

SafetensorsFile open(const Arguments::Given& file) {
  try {
    return SafetensorsFile::open(file.value);
  } catch (const Error& error) {
    auto diagnostic = error.diagnostic();
    diagnostic.code = "F001";
    if (!diagnostic.location.source) diagnostic.location = file.location;
    fail(std::move(diagnostic));
  }
}

/// `name`, which --map gives, must be in `file`.
void check_exists(const Arguments::Given& given, std::string_view what, const std::string& name,
                  const SafetensorsFile& file) {
  if (file.contains(name)) return;
  fail({.code = "F002",
        .message =
            fmt::format("'--map' {} {}, which is not in {}", what, in_quotes(name), in_quotes(file.path().string())),
        .location = given.location,
        .did_you_mean = did_you_mean(name, file.names())});
}

/// Names of A's tensors that are called otherwise in B.
std::map<std::string, std::string> renames_of(const Arguments& arguments, const SafetensorsFile& a,
                                              const SafetensorsFile& b) {
  std::map<std::string, std::string> renames;
  for (const auto& given : arguments.all("map")) {
    const auto equals = given.value.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == given.value.size())
      fail({.code = "C014",
            .message = fmt::format("'--map' is {}, expected OLD=NEW", in_quotes(given.value)),
            .location = given.location,
            .help = "OLD is a tensor's name in the first file, NEW its name in the second"});
    const auto old_name = given.value.substr(0, equals);
    const auto new_name = given.value.substr(equals + 1);
    check_exists(given, "renames", old_name, a);
    check_exists(given, "renames to", new_name, b);
    const auto same = std::ranges::find(renames, new_name, &std::pair<const std::string, std::string>::second);
    if (same != renames.end() && same->first != old_name)
      fail({.code = "C014",
            .message = fmt::format("'--map' renames both {} and {} to {}", in_quotes(same->first), in_quotes(old_name),
                                   in_quotes(new_name)),
            .location = given.location});
    if (!renames.emplace(old_name, new_name).second)
      fail({.code = "C014",
            .message = fmt::format("'--map' renames {} twice", in_quotes(old_name)),
            .location = given.location});
  }
  return renames;
}

FileComparison compare_files(const SafetensorsFile& a, const SafetensorsFile& b, const Criterion& criterion,
                             const std::map<std::string, std::string>& renames) {
  FileComparison comparison{.expected_file = a.path().string(), .actual_file = b.path().string()};
  std::set<std::string> seen;
  for (const auto& name : a.names()) {
    const auto renamed = renames.find(name);
    const auto& other = renamed == renames.end() ? name : renamed->second;
    if (!b.contains(other)) {
      comparison.only_expected.push_back(name);
      continue;
    }
    seen.insert(other);
    auto result = lockstep::compare(a.at(name), b.at(other), criterion);
    result.name = name;
    if (other != name) result.subject = "-> " + other;
    comparison.results.push_back(std::move(result));
  }
  for (const auto& name : b.names())
    if (!seen.contains(name)) comparison.only_actual.push_back(name);
  return comparison;
}

}  // namespace

int compare(const Arguments& arguments) {
  const auto criterion = criterion_of(arguments);
  const auto a = open(arguments.positional(0));
  const auto b = open(arguments.positional(1));
  const auto comparison = compare_files(a, b, criterion, renames_of(arguments, a, b));
  print(stdout, file_comparison_text(comparison, {use_colour(arguments, stdout), detail_of(arguments)}));
  return passes(comparison) ? exit_code::passed : exit_code::failed;
}

}  // namespace lockstep::cli
