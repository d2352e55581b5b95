#include "check/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <lockstep/safetensors.hpp>

#include <lockstep/diagnostic.hpp>
#include "check/name_rules.hpp"
#include "check/read_criterion.hpp"
#include "cli/terminal_io.hpp"
#include "cli/verbs.hpp"
#include "pipeline/exit_code.hpp"
#include "pipeline/render_diagnostic.hpp"
#include "report/file_comparison.hpp"

namespace lockstep::cli {
namespace {

[[noreturn]] void fail(Diagnostic diagnostic) { throw CommandLineError{{std::move(diagnostic)}}; }

/// What `read` gives; what it throws is about `given`.
template <class Read>
auto read_option(const Arguments::Given& given, std::string_view code, const Read& read) {
  try {
    return read();
  } catch (const Error& error) {
    auto diagnostic = error.diagnostic();
    diagnostic.code = code;
    if (!diagnostic.location.source) diagnostic.location = given.location;
    fail(std::move(diagnostic));
  }
}

/// The criterion; every bound that is given must belong to the metric.
Criterion criterion_of(const Arguments& arguments) {
  Criterion criterion{Metric::close, {}};
  auto place = arguments.option("metric");
  if (place) criterion.metric = read_option(*place, "C005", [&] { return read_tensor_metric(place->value); });
  for (const auto& [name, member] : bound_members) {
    const auto given = arguments.option(name);
    if (!given) continue;
    if (!place) place = given;
    const auto value = read_option(*given, "C005", [&, key = name] { return read_bound(key, given->value); });
    read_option(*given, "C013", [&, key = name] { set_bound(key, value, criterion); });
  }
  if (const auto problem = problem_of(criterion))
    fail({.code = "C013",
          .message = *problem,
          .location = place ? place->location : Location{},
          .help = fmt::format("bounds of {}: --{}", name_of(criterion.metric),
                              fmt::join(keys_of(criterion.metric), ", --"))});
  return criterion;
}

SafetensorsFile open(const Arguments::Given& file) {
  return read_option(file, "F001", [&] { return SafetensorsFile::open(file.value); });
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

/// Which tensors of the two files belong together.
NamePairs pairs_of(const Arguments& arguments, const SafetensorsFile& a, const SafetensorsFile& b) {
  NameRules rules;
  const auto maps = arguments.all("map");
  for (const auto& given : maps) {
    auto rule = read_option(given, "C014", [&] { return RenameRule::parse(given.value); });
    const bool is_pattern = rule.from.find('*') != std::string::npos;
    if (!is_pattern) check_exists(given, "renames", rule.from, a);
    if (!is_pattern) check_exists(given, "renames to", rule.to, b);
    if (std::ranges::find(rules.rename, rule.from, &RenameRule::from) != rules.rename.end())
      fail({.code = "C014",
            .message = fmt::format("'--map' renames {} twice", in_quotes(rule.from)),
            .location = given.location});
    rules.rename.push_back(std::move(rule));
  }
  if (maps.empty()) return pair_names(a.names(), b.names(), rules);
  return read_option(maps.back(), "C014", [&] { return pair_names(a.names(), b.names(), rules); });
}

FileComparison compare_files(const SafetensorsFile& a, const SafetensorsFile& b, const Criterion& criterion,
                             NamePairs names) {
  FileComparison comparison{.expected_file = a.path().string(),
                            .actual_file = b.path().string(),
                            .results = {},
                            .only_expected = std::move(names.missing),
                            .only_actual = std::move(names.unexpected)};
  for (const auto& [name, other] : names.pairs) {
    auto result = lockstep::compare(a.at(name), b.at(other), criterion);
    result.name = name;
    if (other != name) result.subject = "-> " + other;
    comparison.results.push_back(std::move(result));
  }
  return comparison;
}

}  // namespace

int compare(const Arguments& arguments) {
  const auto criterion = criterion_of(arguments);
  const auto a = open(arguments.positional(0));
  const auto b = open(arguments.positional(1));
  const auto comparison = compare_files(a, b, criterion, pairs_of(arguments, a, b));
  print(stdout, file_comparison_text(comparison, {use_colour(arguments, stdout), detail_of(arguments)}));
  return passes(comparison) ? exit_code::passed : exit_code::failed;
}

}  // namespace lockstep::cli
