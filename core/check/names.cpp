#include <array>

#include <lockstep/check.hpp>

namespace lockstep {
namespace {

struct MetricFacts {
  std::string_view name;
  std::array<std::string_view, 2> keys;  // "" where there are fewer
};

constexpr MetricFacts facts(Metric metric) {
  switch (metric) {
    case Metric::close:
      return {"close", {"rtol", "atol"}};
    case Metric::bits:
      return {"bits", {}};
    case Metric::ulp:
      return {"ulp", {"max"}};
    case Metric::peir:
      return {"peir", {"max", "atol"}};
    case Metric::max_abs:
      return {"max_abs", {"max"}};
    case Metric::max_rel:
      return {"max_rel", {"max"}};
    case Metric::mean_abs:
      return {"mean_abs", {"max"}};
    case Metric::rmse:
      return {"rmse", {"max"}};
    case Metric::sqnr:
      return {"sqnr", {"min", "atol"}};
    case Metric::cosine:
      return {"cosine", {"min", "atol"}};
    case Metric::pcc:
      return {"pcc", {"min", "atol"}};
    case Metric::kl:
      return {"kl", {"max", "atol"}};
    case Metric::top1:
      return {"top1", {"min"}};
    case Metric::topk:
      return {"topk", {"k", "min"}};
    case Metric::norm_wise:
      return {"norm_wise", {"k"}};
    case Metric::equal:
      return {"equal", {}};
    case Metric::expect:
      return {"expect", {}};
  }
  return {};
}

}  // namespace

std::string_view name_of(Metric metric) noexcept { return facts(metric).name; }

std::string_view name_of(Level level) noexcept {
  switch (level) {
    case Level::require:
      return "require";
    case Level::inform:
      return "inform";
    case Level::off:
      return "off";
  }
  return {};
}

std::string_view name_of(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::pass:
      return "pass";
    case Verdict::fail:
      return "fail";
    case Verdict::warn:
      return "warn";
    case Verdict::vacuous:
      return "vacuous";
  }
  return {};
}

std::vector<std::string_view> keys_of(Metric metric) {
  std::vector<std::string_view> keys;
  for (const std::string_view key : facts(metric).keys) {
    if (!key.empty()) keys.push_back(key);
  }
  return keys;
}

}  // namespace lockstep
