#include "cli/verbs.hpp"

#include "cli/reports.hpp"

namespace lockstep::cli {
namespace {

const OptionSpec color{"color", "WHEN", false, "auto, always or never", {"auto", "always", "never"}};
const OptionSpec plugin_path{"plugin-path", "DIR", true, "a folder of plugins, searched first"};
const OptionSpec quiet{"quiet", "", false, "say only what is wrong"};

std::vector<OptionSpec> joined(const std::vector<std::vector<OptionSpec>>& groups) {
  std::vector<OptionSpec> options;
  for (const auto& group : groups) options.insert(options.end(), group.begin(), group.end());
  return options;
}

/// The options of every verb that reads a pipeline, before those of its own.
std::vector<OptionSpec> with_pipeline_options(const std::vector<std::vector<OptionSpec>>& own) {
  const std::vector<OptionSpec> options{
      {"config", "FILE", true, "an overlay, merged over the pipeline"},
      {"set", "KEY=VALUE", true, "a variable, or environment.x, or step.<id>.<key>"},
      {"only", "STEP", true, "score this step alone"},
      {"from", "STEP", false, "score this step and later ones"},
      {"to", "STEP", false, "score steps up to this one"},
      {"skip", "STEP", true, "leave this step out"},
      {"row", "ROW", true, "this row of the matrix, or all with a part: dtype=float32"},
      {"shard", "I/N", false, "of the rows every N-th, from the I-th: a part of N for one of N machines"},
      plugin_path,
      color,
  };
  return joined({options, joined(own)});
}

std::vector<Verb> make_verbs() {
  return {
      {.name = "run",
       .positionals = {"PIPELINE"},
       .summary = "runs a pipeline and reports its verdicts",
       .details = "Steps that the scored ones need run too, unscored. A FILE may be '-' for standard output.",
       .options = with_pipeline_options(
           {{{"jobs", "N", false, "how many rows of the matrix run at once; the default is 1"},
             {"fail-fast", "", false, "stop after the first step that fails; start no further row"},
             {"baseline", "FILE", false, "fail where a check is worse than there"},
             {"update-baseline", "", false, "write what this run measured to --baseline"},
             {"reason", "TEXT", false, "why the baseline may become looser; is kept"}},
            report_options("write the run record, after every step"),
            {{"dump", "DIR", false, "write each step's tensors to DIR/<step>.safetensors"},
             {"quiet", "", false, "report only what failed and the last line"},
             {"verbose", "", false, "report every check, statistics and parameters"}}}),
       .exclusive = {{"quiet", "verbose"}},
       .run = run},
      {.name = "validate",
       .positionals = {"PIPELINE"},
       .summary = "lists everything that is wrong with a pipeline, runs nothing",
       .details = "",
       .options = with_pipeline_options({{quiet}}),
       .exclusive = {},
       .run = validate},
      {.name = "plan",
       .positionals = {"PIPELINE"},
       .summary = "shows steps, wires, parameters and checks with their origin",
       .details = "",
       .options = with_pipeline_options(
           {{{"json", "", false, "one JSON document"},
             {"format",
              "FORMAT",
              false,
              "text, json, github-matrix or ctest",
              {"text", "json", "github-matrix", "ctest"}},
             {"prefix", "NAME", false, "of the tests that '--format ctest' makes; the default is the file's name"},
             {"run-option", "OPTION", true, "of the runs of '--format ctest': --json=out/{test}.json"}}}),
       .exclusive = {{"json", "format"}},
       .run = plan},
      {.name = "list",
       .positionals = {},
       .summary = "lists the steps that are found, and plugins that do not load",
       .details = "",
       .options = {plugin_path, color},
       .exclusive = {},
       .run = list},
      {.name = "describe",
       .positionals = {"STEP"},
       .summary = "shows a step's ports, parameters and checks",
       .details = "STEP is a step's name, or the path of a plugin file.",
       .options = {{"json", "", false, "one JSON document"},
                   {"markdown", "", false, "a page of the step reference"},
                   plugin_path,
                   color},
       .exclusive = {{"json", "markdown"}},
       .run = describe},
      {.name = "explain",
       .positionals = {"CODE"},
       .summary = "shows the page of a diagnostic code, or lists the codes",
       .details = "",
       .options = {color},
       .exclusive = {},
       .run = explain,
       .positionals_required = false},
      {.name = "compare",
       .positionals = {"A.safetensors", "B.safetensors"},
       .summary = "compares two files of tensors; A is what is right",
       .details =
           "Every tensor must be in both files with one dtype and shape. Without options: torch's default tolerances.",
       .options = {{"metric", "M", false, "close, bits, ulp, max_abs, norm_wise, …; the default is close"},
                   {"rtol", "X", false, "relative tolerance of close, with --atol"},
                   {"atol", "Y", false, "absolute tolerance of close, with --rtol"},
                   {"max", "X", false, "upper bound of ulp, peir, max_abs, max_rel, mean_abs, rmse, kl"},
                   {"min", "X", false, "lower bound of sqnr, cosine, pcc, top1, topk"},
                   {"k", "X", false, "factor of norm_wise, count of topk"},
                   {"map", "OLD=NEW", true, "tensor OLD of A is called NEW in B; a * in each carries over"},
                   color,
                   {"quiet", "", false, "report only what differs and the last line"},
                   {"verbose", "", false, "report statistics too"}},
       .exclusive = {{"quiet", "verbose"}},
       .run = compare},
      {.name = "new",
       .positionals = {"step", "NAME"},
       .summary = "writes a step to start from, with its test, pipeline and build lines",
       .details = "NAME is family.name. It goes into the source tree that the working directory lies in; no file is "
                  "overwritten.",
       .options = {{"out-of-tree", "DIR", false, "a project of its own in DIR, which finds an installed Lockstep"},
                   color},
       .exclusive = {},
       .run = new_step},
      {.name = "report",
       .positionals = {"RECORD"},
       .summary = "makes reports of a run from its record",
       .details = "RECORD is a file that 'run --json' wrote, or '-' for standard input. A FILE may be '-' for standard "
                  "output. Without one the terminal's report is shown.",
       .options = joined({report_options("write the run record again, as this version does"),
                          {{"against", "RECORD", false, "show in the HTML report what moved since this earlier run"},
                           color,
                           {"quiet", "", false, "report only what failed and the last line"},
                           {"verbose", "", false, "report every check, statistics and parameters"}}}),
       .exclusive = {{"quiet", "verbose"}},
       .run = report},
      {.name = "diff",
       .positionals = {"A.json", "B.json"},
       .summary = "shows what moved from one run record to another",
       .details = "Exit code 0: no difference. Times, memory and places in files are information and make none.",
       .options = {{"json", "", false, "one JSON document"},
                   color,
                   {"quiet", "", false, "report only how many differences there are"},
                   {"verbose", "", false, "report every change, and what is only information"}},
       .exclusive = {{"quiet", "verbose"}},
       .run = diff},
      {.name = "merge",
       .positionals = {"RECORD…"},
       .summary = "makes one summary of the records of a matrix's rows, or of shards",
       .details = "Every row of the matrix must be in one of them. The exit code is that of the worst row.",
       .options = joined({report_options("write the summary"), {color}}),
       .exclusive = {},
       .run = merge},
      {.name = "schema",
       .positionals = {},
       .summary = "prints a JSON schema of pipelines, for editors",
       .details = "It knows the steps that are found. A file names its schema in its first line: #:schema FILE",
       .options = {{"overlay", "", false, "of --config files instead"}, plugin_path, color},
       .exclusive = {},
       .run = schema},
      {.name = "completion",
       .positionals = {"SHELL"},
       .summary = "prints a completion script for bash or zsh",
       .details = "bash: source <(lockstep completion bash). zsh: write it to a file _lockstep in a folder of $fpath.",
       .options = {color},
       .exclusive = {},
       .run = completion},
  };
}

}  // namespace

const std::vector<Verb>& verbs() {
  static const auto all = make_verbs();
  return all;
}

}  // namespace lockstep::cli
