// Replays tests/data/check/cases.json: what torch.testing.assert_close, torch in float64 and closed forms say.
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "check/compare.hpp"
#include "check/generator.hpp"

using namespace lockstep;
using nlohmann::json;

namespace {

const json& cases() {
  static const json document = json::parse(std::ifstream(LOCKSTEP_TEST_DATA "/check/cases.json"));
  return document["cases"];
}

DType dtype_named(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(DType::float64); ++i) {
    if (name_of(static_cast<DType>(i)) == name) return static_cast<DType>(i);
  }
  throw std::runtime_error("no dtype " + name);
}

/// How the bytes of a case are laid out in memory: torch's alignment, or none.
enum class Placing { aligned, unaligned };

Tensor recorded_tensor(const json& side, Placing placing) {
  const auto hex = side["data"].get<std::string>();
  const std::size_t shift = placing == Placing::unaligned ? 1 : 0;
  auto bytes = std::make_shared<std::vector<std::byte>>(hex.size() / 2 + shift + 1);
  for (std::size_t i = 0; i < hex.size() / 2; ++i) {
    (*bytes)[i + shift] = static_cast<std::byte>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
  }
  const auto sizes = side["sizes"].get<std::vector<std::int64_t>>();
  const DType dtype = dtype_named(side["dtype"]);
  const void* data = bytes->data() + shift;
  if (side.contains("strides")) return {bytes, data, dtype, sizes, side["strides"].get<std::vector<std::int64_t>>()};
  return {bytes, data, dtype, sizes};
}

struct Pair {
  Tensor expected;
  Tensor actual;
};

Pair tensors_of(const json& recorded, Placing placing) {
  if (!recorded.contains("generated")) {
    return {recorded_tensor(recorded["expected"], placing), recorded_tensor(recorded["actual"], placing)};
  }
  const json& g = recorded["generated"];
  const auto make = [&](generator::Side side) {
    return generator::tensor(dtype_named(g["dtype"]), g["sizes"].get<std::vector<std::int64_t>>(), g["seed"],
                             g["change_every"], side);
  };
  return {make(generator::Side::expected), make(generator::Side::actual)};
}

double number(const json& value) {
  if (value.is_number()) return value.get<double>();
  const auto text = value.get<std::string>();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  return text == "inf" ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
}

bool near(double x, double y, double relative, double absolute) {
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  return x == y || std::fabs(x - y) <= absolute + relative * std::fabs(y);
}

constexpr CompareOptions kMatch{.non_finite = NonFinite::match};

void replay_close(const Pair& pair, const json& judge) {
  for (const json& entry : judge["close"]) {
    const Criterion criterion = entry["rtol"].is_null() ? close() : close(entry["rtol"], entry["atol"]);
    const CheckResult result = compare(pair.expected, pair.actual, criterion, kMatch);
    INFO("close " << entry.dump());
    if (judge.value("ladder", "") == "not_comparable" || entry.contains("refused")) {
      CHECK(result.verdict == Verdict::fail);
      CHECK_FALSE(result.value.has_value());
      continue;
    }
    if (pair.expected.numel() == 0) {
      CHECK(result.verdict == Verdict::vacuous);
      CHECK(result.compared == 0);
      continue;
    }
    CHECK((result.verdict == Verdict::pass) == entry["pass"].get<bool>());
    CHECK(result.mismatched == entry["mismatched"].get<std::int64_t>());
    CHECK(result.compared == pair.expected.numel());
    REQUIRE(result.value.has_value());
    CHECK(*result.value == number(entry["value"]));  // exact: the same roundings, one division
    CHECK((result.verdict == Verdict::pass) == (*result.value <= 1));
  }
}

/// The metric's value, and that the bound decides: just above the value passes, just below fails.
void replay_metric(const Pair& pair, const json& expected, Criterion criterion, double relative, double absolute) {
  const bool has_min = criterion.bound.min.has_value();
  const bool by_k = criterion.metric == Metric::norm_wise;
  const auto with_bound = [&](double bound) {
    Criterion c = criterion;
    (by_k ? c.bound.k : has_min ? c.bound.min : c.bound.max) = bound;
    return compare(pair.expected, pair.actual, c, kMatch);
  };
  const CheckResult result = compare(pair.expected, pair.actual, criterion, kMatch);
  INFO(name_of(criterion.metric) << " expected " << expected.dump() << " found "
                                 << (result.value ? fmt::format("{}", *result.value) : "none"));
  if (expected.is_null()) {
    CHECK_FALSE(result.value.has_value());
    CHECK((result.verdict == Verdict::vacuous || result.ladder == "non_finite"));
    return;
  }
  if (expected == "exempt") {
    CHECK(result.verdict == Verdict::vacuous);
    CHECK(result.compared == 0);
    return;
  }
  REQUIRE(result.value.has_value());
  CHECK(near(*result.value, number(expected), relative, absolute));
  if (result.ladder == "non_finite") {
    CHECK(result.verdict == Verdict::fail);
  } else if (std::isfinite(*result.value)) {
    const double margin = 1e-9 * std::max(1.0, std::fabs(*result.value));
    const double loose = *result.value + (has_min ? -margin : margin);
    CHECK(with_bound(loose).verdict == Verdict::pass);
    if (has_min) CHECK(with_bound(*result.value + margin).verdict == Verdict::fail);
    if (!has_min && *result.value > margin) {
      const CheckResult tight = with_bound(*result.value - margin);
      CHECK(tight.verdict == Verdict::fail);
      CHECK(tight.mismatched > 0);
    }
  }
}

void replay_metrics(const Pair& pair, const json& judge) {
  replay_metric(pair, judge["max_abs"], max_abs(0), 0, 0);
  replay_metric(pair, judge["max_rel"], max_rel(0), 0, 0);
  replay_metric(pair, judge["mean_abs"], mean_abs(0), 1e-12, 0);
  replay_metric(pair, judge["rmse"], rmse(0), 1e-12, 0);
  replay_metric(pair, judge["ulp"], ulp(0), 0, 0);
  replay_metric(pair, judge["peir"], peir(0), 1e-15, 0);
  replay_metric(pair, judge["norm_wise"], norm_wise(1e-5), 1e-15, 0);
  replay_metric(pair, judge["sqnr"], sqnr(0), 1e-12, 1e-10);
  if (judge.contains("cosine")) replay_metric(pair, judge["cosine"], cosine(0), 0, 1e-12);
  if (judge.contains("pcc")) replay_metric(pair, judge["pcc"], pcc(0), 0, 1e-12);
  if (judge.contains("kl")) replay_metric(pair, judge["kl"], kl(0), 1e-11, 1e-13);
  if (!judge.contains("top1")) return;
  replay_metric(pair, judge["top1"], top1(0.5), 0, 1e-15);
  for (const auto& [k, share] : judge["topk"].items()) replay_metric(pair, share, topk(std::stoi(k), 0.5), 0, 1e-15);
}

double statistic(const CheckResult& result, const std::string& name) {
  for (const auto& [key, value] : result.statistics) {
    if (key == name) return value;
  }
  FAIL("no statistic " << name);
  return 0;
}

void replay_statistics(const Pair& pair, const json& judge) {
  const CheckResult result = compare(pair.expected, pair.actual, bits(), kMatch);
  CHECK(statistic(result, "max_abs") == number(judge["finite_max_abs"]));
  CHECK(statistic(result, "differing") == judge["values_differ"].get<double>());
  if (judge.contains("cosine_min_row")) {
    const double found = statistic(compare(pair.expected, pair.actual, cosine(0), kMatch), "cosine_min_row");
    CHECK(near(found, judge["cosine_min_row"], 0, 1e-12));
  }
  if (judge.contains("kl_mean")) {
    const CheckResult divergence = compare(pair.expected, pair.actual, kl(0), kMatch);
    for (const char* name : {"kl_mean", "kl_median", "kl_p99"}) {
      INFO(name);
      CHECK(near(statistic(divergence, name), judge[name], 1e-11, 1e-13));
    }
  }
}

std::int64_t flat_worst(const CheckResult& result, const std::vector<std::int64_t>& sizes) {
  REQUIRE(result.worst.has_value());
  REQUIRE(result.worst->index.size() == sizes.size());
  std::int64_t flat = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) flat = flat * sizes[i] + result.worst->index[i];
  return flat;
}

void replay_worst(const Pair& pair, const json& judge) {
  const auto worst = [&](const Criterion& criterion) {
    return flat_worst(compare(pair.expected, pair.actual, criterion, kMatch), pair.expected.sizes());
  };
  if (judge.contains("worst_non_finite")) {
    for (const Criterion& criterion : {bits(), close(), max_abs(0), max_rel(0), ulp(0)}) {
      CHECK(worst(criterion) == judge["worst_non_finite"].get<std::int64_t>());
    }
  }
  if (!judge.contains("worst_abs") || judge["values_differ"] == 0) return;
  CHECK(worst(max_abs(0)) == judge["worst_abs"].get<std::int64_t>());
  CHECK(worst(bits()) == judge["worst_abs"].get<std::int64_t>());
  CHECK(worst(max_rel(0)) == judge["worst_rel"].get<std::int64_t>());
  CHECK(worst(ulp(0)) == judge["worst_ulp"].get<std::int64_t>());
}

void replay(const json& recorded, Placing placing) {
  INFO(recorded["name"].get<std::string>());
  const Pair pair = tensors_of(recorded, placing);
  const json& judge = recorded["judge"];
  replay_close(pair, judge);
  if (!judge.contains("ladder")) return;  // no elements
  const CheckResult same = compare(pair.expected, pair.actual, bits(), kMatch);
  CHECK(same.ladder == judge["ladder"].get<std::string>());
  CHECK((same.verdict == Verdict::pass) == (judge["ladder"] == "bits_equal"));
  if (judge["ladder"] == "not_comparable") {
    for (const Criterion& c : {close(), max_abs(1e300), topk(1, 0), kl(1e300)}) {
      const CheckResult result = compare(pair.expected, pair.actual, c, kMatch);
      CHECK(result.verdict == Verdict::fail);
      CHECK(result.ladder == "not_comparable");
      CHECK(result.message.has_value());
    }
    return;
  }
  if (judge["ladder"] != "non_finite") CHECK(same.mismatched == judge["bits_differ"].get<std::int64_t>());
  replay_metrics(pair, judge);
  replay_statistics(pair, judge);
  replay_worst(pair, judge);
}

}  // namespace

TEST_CASE("every recorded case gets the judge's verdict, value and counts") {
  REQUIRE(cases().size() > 1000);
  for (const json& recorded : cases()) replay(recorded, Placing::aligned);
}

TEST_CASE("data that is not aligned to its element size gets the same verdicts") {
  for (const json& recorded : cases()) {
    if (!recorded.contains("generated")) replay(recorded, Placing::unaligned);
  }
}

TEST_CASE("a NaN or an infinity on either side fails every metric unless infinities may match") {
  std::int64_t seen = 0;
  for (const json& recorded : cases()) {
    if (recorded["judge"].value("non_finite", 0) == 0) continue;
    ++seen;
    INFO(recorded["name"].get<std::string>());
    const Pair pair = tensors_of(recorded, Placing::aligned);
    for (const Criterion& c :
         {bits(), close(), ulp(1e300), peir(1e300), max_abs(1e300), max_rel(1e300), mean_abs(1e300), rmse(1e300),
          sqnr(-1e300), cosine(-2), pcc(-2), kl(1e300), top1(0), topk(1, 0), norm_wise(1e300), equal()}) {
      const CheckResult result = compare(pair.expected, pair.actual, c);
      CHECK(result.verdict == Verdict::fail);
      CHECK(result.ladder == "non_finite");
      CHECK(result.mismatched >= recorded["judge"]["non_finite"].get<std::int64_t>());
    }
    CHECK(compare(pair.expected, pair.actual, close()).value == std::numeric_limits<double>::infinity());
  }
  CHECK(seen > 300);
}
