#include <algorithm>
#include <exception>
#include <thread>

#include <fmt/format.h>

#include <lockstep/diagnostic.hpp>
#include <lockstep/safetensors.hpp>
#include "pipeline/binding.hpp"
#include "pipeline/convert_parameter.hpp"
#include "pipeline/exit_code.hpp"
#include "pipeline/form.hpp"
#include "pipeline/isolation.hpp"
#include "pipeline/overlay.hpp"
#include "pipeline/plan.hpp"
#include "pipeline/render_diagnostic.hpp"
#include "pipeline/source_file.hpp"
#include "pipeline/toml_document.hpp"
#include "pipeline/variables.hpp"

namespace lockstep {
namespace {

/// The merged pipeline before substitution, and what the pipeline file itself declares.
struct Merged {
  Node document;
  std::set<std::string> declared;  ///< variables
};

const Node::Table& table_or_empty(const Node& document, std::string_view name) {
  static const Node::Table empty;
  const auto* member = document.find(name);
  return member != nullptr && member->value.table() != nullptr ? *member->value.table() : empty;
}

/// Reads, checks and merges all files and arguments. None if they cannot be looked at together.
std::optional<Merged> read_and_merge(const PipelineRequest& request, Plan& plan, Findings& findings) {
  const auto file = read_source(request.file, findings);
  if (file.usable) plan.sha256 = sha256(file.source->text);
  auto document = parse_document(file, findings);
  bool understood = document && check_pipeline_form(*document, findings);

  std::vector<Node> overlays;
  for (const auto& config : request.configs) {
    auto overlay = parse_document(read_source(config, findings), findings);
    if (overlay && check_overlay_form(*overlay, findings))
      overlays.push_back(std::move(*overlay));
    else
      understood = false;
  }
  auto sets = overlay_of_sets(request.sets, findings);
  (void)check_overlay_form(sets, findings);
  overlays.push_back(std::move(sets));
  if (!document) return std::nullopt;

  if (const auto* name = document->find("name"); name != nullptr && name->value.text() != nullptr)
    plan.name = *name->value.text();
  if (!understood) return std::nullopt;
  Merged result;
  for (const auto& [name, member] : table_or_empty(*document, "vars")) result.declared.insert(name);
  for (const auto& overlay : overlays) merge_overlay(*document, overlay, findings);
  result.document = std::move(*document);
  return result;
}

/// The document with variables replaced; ids are names and stay as they are.
Node substituted(const Node& merged, Variables& variables) {
  Node document = merged;
  for (auto& [key, member] : *document.table()) {
    auto* steps = std::get_if<Node::List>(&member.value.data);
    if (key == "vars") continue;
    if (key != "step" || steps == nullptr) {
      member.value = variables.resolve(member.value);
      continue;
    }
    for (auto& step : *steps) {
      for (auto& [name, entry] : *step.table()) {
        if (name != "id") entry.value = variables.resolve(entry.value);
      }
    }
  }
  return document;
}

/// A variable that only an overlay or `--set` names and nothing uses is a mistyped one.
void check_stray_variables(const Node::Table& vars, std::set<std::string> declared, const Variables& variables,
                           Findings& findings) {
  if (const auto required = vars.find("required"); required != vars.end() && required->second.value.list() != nullptr) {
    for (const auto& name : *required->second.value.list()) declared.insert(*name.text());
  }
  declared.erase("required");
  for (const auto& [name, member] : vars) {
    if (name == "required" || declared.contains(name) || variables.used().contains(name)) continue;
    auto& error = findings.error("P022", member.key, fmt::format("the pipeline has no variable {}", in_quotes(name)));
    if (!findings.full()) error.did_you_mean = did_you_mean(name, {declared.begin(), declared.end()});
  }
}

PlannedEnvironment read_environment(const Node& document, Findings& findings) {
  PlannedEnvironment result;
  result.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const auto& environment = table_or_empty(document, "environment");
  constexpr std::int64_t most_threads = 4096;
  if (const auto found = environment.find("threads"); found != environment.end() && !found->second.value.reported()) {
    const auto& node = found->second.value;
    const auto* count = std::get_if<std::int64_t>(&node.data);
    if (node.text() != nullptr && *node.text() == "auto") {
      result.threads.reset();
    } else if (count == nullptr) {
      findings.error("P008", node,
                     fmt::format("'threads' is {}, expected an integer or \"auto\"",
                                 node.text() != nullptr ? in_quotes(*node.text()) : kind_text(node)));
    } else if (*count < 1 || *count > most_threads) {
      findings.error("P017", node, fmt::format("'threads' is {}, expected 1 to {} or \"auto\"", *count, most_threads));
    } else {
      result.threads = static_cast<int>(*count);
    }
  }
  if (const auto found = environment.find("seed"); found != environment.end() && !found->second.value.reported()) {
    const auto& node = found->second.value;
    const auto* seed = std::get_if<std::int64_t>(&node.data);
    if (seed == nullptr)
      findings.error("P008", node, fmt::format("'seed' is {}, expected an integer", kind_text(node)));
    else if (*seed < 0)
      findings.error("P017", node, fmt::format("'seed' is {}, expected at least 0", *seed));
    else
      result.seed = static_cast<std::uint64_t>(*seed);
  }
  return result;
}

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

void check_skips(const PipelineRequest& request, const std::vector<StepSource>& sources, Findings& findings) {
  std::vector<std::string> ids;
  ids.reserve(sources.size());
  for (const auto& source : sources) ids.push_back(source.id);
  for (const auto& id : request.skips) {
    if (!id.empty() && std::ranges::find(ids, id) != ids.end()) continue;
    const auto argument = argument_source("--skip", id, findings);
    findings
        .error("P034", Location{argument.source, 1, 1, std::max<std::size_t>(id.size(), 1)},
               fmt::format("the pipeline has no step {}", in_quotes(id)))
        .did_you_mean = did_you_mean(id, ids);
  }
}

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
  check_skips(request, sources, findings);

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

std::vector<std::string> override_texts(const PipelineRequest& request) {
  std::vector<std::string> result;
  for (const auto& config : request.configs) result.push_back("--config " + config.string());
  for (const auto& set : request.sets) result.push_back("--set " + set);
  return result;
}

}  // namespace

bool PlanResult::ok() const noexcept {
  return std::ranges::none_of(diagnostics, [](const Diagnostic& each) { return each.severity == Severity::error; });
}

int PlanResult::exit_code() const noexcept {
  const auto errors = std::ranges::count(diagnostics, Severity::error, &Diagnostic::severity);
  if (errors == 0) return exit_code::passed;
  return static_cast<std::size_t>(errors) > unloadable ? exit_code::invalid : exit_code::not_loadable;
}

PlanResult make_plan(const PipelineRequest& request, StepCatalog& catalog) {
  PlanResult result;
  Findings findings;
  auto& plan = result.plan;
  plan.file = request.file.string();
  plan.name = request.file.stem().string();
  plan.overrides = override_texts(request);
  if (auto merged = read_and_merge(request, plan, findings)) {
    const auto& vars = table_or_empty(merged->document, "vars");
    check_required_variables(vars, findings);
    Variables variables(vars, findings);
    const Node document = substituted(merged->document, variables);
    check_stray_variables(vars, merged->declared, variables, findings);
    if (const auto* name = document.find("name"); name != nullptr && name->value.text() != nullptr)
      plan.name = *name->value.text();
    if (const auto* text = document.find("description"); text != nullptr && text->value.text() != nullptr)
      plan.description = *text->value.text();
    plan.environment = read_environment(document, findings);
    bind_steps(document, request, catalog, plan, findings);
  }
  result.unloadable = findings.unloadable_count();
  result.diagnostics = findings.take_sorted();
  return result;
}

}  // namespace lockstep
