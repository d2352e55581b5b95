#include "pipeline/bind_steps.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>
#include "pipeline/binding.hpp"
#include "pipeline/convert_parameter.hpp"
#include "pipeline/isolation.hpp"
#include "pipeline/render_diagnostic.hpp"

namespace lockstep {
namespace {

/// Everything about one step but its ports and declarations.
class StepReader {
 public:
  StepReader(const PipelineRequest& request, StepCatalog& catalog, Findings& findings)
      : request_(request), catalog_(catalog), findings_(findings) {}

  /// Id, `uses` and tables.
  StepSource read(const Node& step, std::size_t index) {
    StepSource result;
    result.location = step.location;
    result.label = fmt::format("step {} (without an id)", index + 1);
    if (const auto* id = step.find("id")) {
      result.location = id->value.location;
      read_id(id->value, result);
    } else {
      findings_.error("P011", step.location, "this step has no 'id'").help = "give it a name: id = \"token_embedding\"";
    }
    if (const auto* uses = step.find("uses"); uses != nullptr && uses->value.text() != nullptr)
      result.uses = *uses->value.text();
    const auto table = [&](std::string_view key) {
      const auto* member = step.find(key);
      return member != nullptr ? &member->value : nullptr;
    };
    result.with = table("with");
    result.inputs = table("inputs");
    result.checks = table("checks");
    return result;
  }

  /// The reason of `skip` or `--skip`; none if the step is to run.
  std::optional<std::string> skip_reason(const StepSource& source, const Node& step) {
    if (!source.id.empty() && std::ranges::find(request_.skips, source.id) != request_.skips.end()) return "--skip";
    const auto* skip = step.find("skip");
    if (skip == nullptr || skip->value.reported()) return std::nullopt;
    if (const auto* reason = skip->value.text()) return reason->empty() ? std::nullopt : std::optional(*reason);
    findings_
        .error("P008", skip->value,
               fmt::format("'skip' of {} is {}, expected a text", source.label, kind_text(skip->value)))
        .help = "write the reason: skip = \"not built yet\"; an empty one means that the step runs";
    return std::nullopt;
  }

  /// The step object. None if there is none; unless the step is skipped that has been reported.
  std::optional<StepHandle> find(const StepSource& source, const Node& step, bool skipped) {
    const auto* uses = step.find("uses");
    if (uses == nullptr) {
      findings_.error("P011", source.location, fmt::format("{} does not say which step it 'uses'", source.label)).help =
          "for example uses = \"gemma4.token_embedding\"; 'lockstep list' shows what there is";
      return std::nullopt;
    }
    if (uses->value.reported()) return std::nullopt;
    if (uses->value.text() == nullptr) {
      findings_.error("P008", uses->value,
                      fmt::format("'uses' of {} is {}, expected text", source.label, kind_text(uses->value)));
      return std::nullopt;
    }
    std::filesystem::path plugin;
    const Node* place = &uses->value;
    if (const auto* member = step.find("plugin")) {
      if (member->value.reported()) return std::nullopt;
      if (member->value.text() == nullptr) {
        findings_.error(
            "P008", member->value,
            fmt::format("'plugin' of {} is {}, expected the path of a file", source.label, kind_text(member->value)));
        return std::nullopt;
      }
      if (!member->value.text()->empty()) {
        plugin = resolved_path(member->value);
        place = &member->value;
      }
    }
    auto lookup = look_up(source.uses, plugin);
    if (lookup.outcome == StepCatalog::Outcome::loaded && lookup.handle.step) return std::move(lookup.handle);
    if (!skipped) report(std::move(lookup), source, *place, plugin.empty());
    return std::nullopt;
  }

 private:
  void read_id(const Node& node, StepSource& result) {
    if (node.reported()) return;
    if (node.text() == nullptr) {
      findings_.error("P008", node, fmt::format("'id' is {}, expected text", kind_text(node)));
      return;
    }
    const auto& id = *node.text();
    result.label = "step " + in_quotes(id);
    if (!is_identifier(id)) {
      findings_.error("P010", node, fmt::format("{} is not a step id", in_quotes(id))).help =
          "an id is a letter or '_', then letters, digits, '_' and '-'";
      return;
    }
    result.id = id;
    const auto [first, is_new] = ids_.emplace(id, node.location);
    if (is_new) return;
    findings_.error("P012", node, fmt::format("two steps have the id {}", in_quotes(id)))
        .notes.push_back({"the first one is here", first->second});
  }

  StepCatalog::Lookup look_up(const std::string& uses, const std::filesystem::path& plugin) {
    const auto failed = [&](std::string_view what) {
      StepCatalog::Lookup result;
      result.outcome = StepCatalog::Outcome::not_loadable;
      result.diagnostic.code = "P021";
      result.diagnostic.message = fmt::format("step {} cannot be made: {}", in_quotes(uses), what);
      return result;
    };
    try {
      return catalog_.find(uses, plugin);
    } catch (const std::exception& error) {
      return failed(error.what());
    } catch (...) {
      return failed("an exception that is not derived from std::exception");
    }
  }

  void report(StepCatalog::Lookup lookup, const StepSource& source, const Node& place, bool searched) {
    auto& diagnostic = lookup.diagnostic;
    diagnostic.location = place.location;
    if (place.used_at.source) diagnostic.notes.push_back({"used here", place.used_at});
    if (lookup.outcome != StepCatalog::Outcome::not_found) {
      findings_.unloadable(std::move(diagnostic));
      return;
    }
    if (searched && diagnostic.did_you_mean.empty()) {
      if (!names_) names_ = catalog_.names();
      diagnostic.did_you_mean = did_you_mean(source.uses, *names_);
    }
    findings_.error(diagnostic.code, diagnostic.location, diagnostic.message) = diagnostic;
  }

  const PipelineRequest& request_;
  StepCatalog& catalog_;
  Findings& findings_;
  std::unordered_map<std::string, Location> ids_;
  std::optional<std::vector<std::string>> names_;
};

}  // namespace

void bind_steps(const Node& document, const PipelineRequest& request, StepCatalog& catalog, Plan& plan,
                Findings& findings) {
  static const Node::List none;
  const auto* member = document.find("step");
  if (member != nullptr && member->value.reported()) return;
  const auto& steps = member != nullptr && member->value.list() != nullptr ? *member->value.list() : none;
  if (steps.empty()) {
    if (findings.count() == 0) {
      findings.error("P009", Location{document.location.source, 0, 0}, "the pipeline has no steps").help =
          "each step starts with [[step]]";
    }
    return;
  }
  StepReader reader(request, catalog, findings);
  std::vector<StepSource> sources;
  for (std::size_t i = 0; i < steps.size(); ++i) sources.push_back(reader.read(steps[i], i));

  Wiring wiring(sources);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto& source = sources[i];
    PlannedStep planned{.id = source.id,
                        .uses = source.uses,
                        .skip = reader.skip_reason(source, steps[i]),
                        .handle = {},
                        .parameters = {},
                        .wires = {},
                        .isolation = read_isolation(source, steps[i], findings),
                        .location = source.location};
    const auto reported = findings.count();
    planned.handle = reader.find(source, steps[i], planned.skip.has_value());
    auto* step = planned.handle ? planned.handle->step.get() : nullptr;
    const bool broken = step == nullptr && (!planned.skip || findings.count() > reported);
    planned.wires = wiring.bind(i, step, findings);
    wiring.add(i, step, broken);
    if (step == nullptr) {
      check_form_only(source, findings);
    } else {
      bind_checks(source, *step, findings);
      if (bind_parameters(source, *step, planned.parameters, findings)) check_rules(source, *step, findings);
    }
    plan.steps.push_back(std::move(planned));
  }
  check_isolation(plan, findings);
}

}  // namespace lockstep
