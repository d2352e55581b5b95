#include <array>

#include "pipeline/code_families.hpp"

namespace lockstep {
namespace {

constexpr auto codes = std::to_array<DiagnosticCode>({
    // Files
    {"P001", "file cannot be read", R"(
A pipeline or an overlay does not exist, is a folder, or may not be read. Paths on the command line start at the working
directory. The message ends with the operating system's reason.)"},

    {"P002", "not UTF-8", R"(
A pipeline file, an overlay or an argument holds a byte that is not UTF-8. The place is the first such byte. Save the file
in UTF-8; a byte-order mark is accepted.)"},

    {"P003", "file too large", R"(
A pipeline or an overlay has more than 10 MB. Most likely another file was named by mistake, such as a checkpoint.)"},

    {"P004", "not valid TOML", R"(
The text breaks TOML's grammar. The parser stops there, so only the first mistake of each file is shown; once the syntax is
right, everything else that is wrong is listed at once. Frequent causes: a text without quotes, a key that is given twice,
a bracket that is not closed. A table that was written as `with = { … }` cannot be extended by `[step.with]` later.)"},

    {"P005", "nested too deeply", R"(
Brackets are nested, or a dotted key has parts, more than 16 levels deep. No pipeline needs that.)"},

    // The form of a pipeline
    {"P006", "schema missing or unknown", R"(
A pipeline starts with `schema = 1`. It says how the file is to be read, so that a later version of Lockstep does not
misread it. In an overlay it may be left out. A file with another schema is not looked into any further.)"},

    {"P007", "unknown key", R"(
A key that means nothing at its place. At the top of a pipeline: `schema`, `name`, `description`, `[vars]`,
`[environment]`, `[[step]]`. In a step: `id`, `uses`, `with`, `inputs`, `checks`, `plugin`, `skip`, `isolation`, `time_limit`.
In `[environment]`: `threads`, `seed`, `kernels`. An overlay has no name, description or ids. Parameters of a step go into its `with`:

    [[step]]
    id = "runtime"
    uses = "gemma4.static_runtime"
    max_seq = 160                  # P007
    with = { max_seq = 160 }       # right)"},

    {"P008", "wrong kind of value", R"(
A key of the file has a value of another kind than it needs: `with`, `inputs`, `checks`, `[vars]` and `[environment]` are
tables, `uses`, `plugin`, `skip` and `isolation` are texts, `time_limit` is a
number, `threads` is an integer or `"auto"`, `kernels` is `"auto"` or `"torch"`. For parameters of steps see P016.)"},

    {"P009", "no steps", R"(
A pipeline without a `[[step]]` would verify nothing, so it is an error rather than a success.)"},

    {"P010", "not a step id", R"(
The id of a step is a letter or `_`, then letters, digits, `_` and `-`: it stands in wires (`"runtime.cache"`), in
`--set step.<id>.…` and in file names.)"},

    {"P011", "key of a step missing", R"(
Every `[[step]]` needs an `id` and says with `uses` which step it is.

    [[step]]
    id = "token_embedding"
    uses = "gemma4.token_embedding")"},

    {"P012", "two steps with one id", R"(
Ids are unique in a pipeline. One step may be used twice under different ids.)"},

    {"P013", "[step.a.with] behind a [[step]]", R"(
In TOML a table header that starts with `step` belongs to the `[[step]]` before it. So `[step.runtime.with]` does not mean
"`with` of the step runtime": it makes a key `runtime` in whichever step was opened last.

    [[step]]
    id = "runtime"
    uses = "gemma4.static_runtime"
    [step.runtime.with]     # P013
    [step.with]             # right: `with` of this step
    max_seq = 160

`[step.runtime.with]` is right in an overlay, where `step` is a table.)"},

    // Parameters
    {"P014", "unknown parameter", R"(
`with` names a parameter that the step does not have. `lockstep describe STEP` lists them with their types, defaults and
ranges.)"},

    {"P015", "parameter missing", R"(
The step has a parameter without a default, and `with` does not give it. An empty path counts as not given.)"},

    {"P016", "parameter of the wrong kind", R"(
A value is not of the parameter's kind. An integer is accepted for a real number, nothing else is converted: `1.0` is no
integer, `"160"` is no number, `160` is no text. Where a text is expected a reference in quotes, `"${matrix.length}"`, may
stand for a number or a boolean: its spelling is the text. On the command line no quotes are needed: `--set prompt=160` gives
the text `160` to a text parameter.)"},

    {"P017", "value out of range", R"(
A number is below or above what the parameter (or `threads`, or `seed`) allows. The limits are inclusive; NaN is outside
every range.)"},

    {"P018", "not one of the choices", R"(
A text parameter allows certain values only, and this is none of them. Case matters.)"},

    {"P019", "file or folder missing", R"(
The value of a path parameter does not exist, or is a folder where a file is expected or the other way round. A relative
path starts at the folder of the file that it is written in: the pipeline, or the overlay. If it starts with a variable,
that is the file that sets the variable. A path from `--set` starts at the working directory. Environment variables and
`~` are not expanded. An empty text means "not given".)"},

    {"P020", "parameters do not fit together", R"(
Each value is fine by itself, but they break a rule of the step, for example a length that must be a multiple of another
parameter. The place is the value that the rule is about, or the step if that is a default.)"},

    {"P021", "a step's own code failed", R"(
The step's constructor or its parameter rules (`Step::validate`) threw an exception. That is a mistake in the plugin; the
text is the exception's.)"},

    // Variables
    {"P022", "unknown variable", R"(
`${name}` names a variable that neither `[vars]` of the pipeline nor an overlay nor `--set` gives; or an overlay or `--set`
gives a variable that the pipeline does not have and nothing uses, which is a mistyped name as a rule. A dollar sign
itself is written `$$`.)"},

    {"P023", "variables in a circle", R"(
A variable uses itself, directly or through others. The message prints the circle.

    [vars]
    a = "${b}"
    b = "${a}"     # P023: a -> b -> a)"},

    {"P024", "not a reference to a variable", R"(
After `${` follow the name of a variable and `}`, without spaces. A dollar sign itself is written `$$`.)"},

    {"P025", "list or table inside a text", R"(
A variable inside a longer text is inserted as text, which works for texts, numbers and booleans only. A text that is
exactly `"${name}"` takes over any value, with its type.)"},

    {"P026", "variable not set", R"(
The pipeline, or an overlay, lists the variable in `required`: it has no sensible default and is to be given from outside.

    [vars]
    required = ["recording"]

    lockstep run pipeline.toml --set recording=recordings/today.safetensors)"},

    {"P027", "[vars] is malformed", R"(
The name of a variable is a letter or `_`, then letters, digits, `_` and `-`. The name `required` is reserved for the list
of variables without a default.)"},

    {"P028", "variables expand too far", R"(
Variables that use others several times can grow exponentially. Expansion stops at 4 MB or 300 levels.)"},

    // Overlays and the command line
    {"P029", "[[step]] in an overlay", R"(
An overlay (`--config FILE`) changes steps of a pipeline; it cannot add any. Write `[step.<id>]`:

    [step.runtime]
    uses = "mine.runtime"
    plugin = "build/mine.runtime.so"
    with = { threads = 4 })"},

    {"P030", "overlay for a step that is not there", R"(
An overlay, or `--set step.<id>.…`, changes a step that the pipeline does not have.)"},

    {"P031", "overlay changes an id", R"(
Other steps and overlays refer to a step by its id, so an overlay may change every key of a step but this one.)"},

    {"P032", "--set is not KEY=VALUE", R"(
`--set` takes a key, `=` and a value: `--set max_seq=256`. The key is a dotted TOML key; parts with other characters than
letters, digits, `_` and `-` are quoted. The value is a TOML value if it parses as one, else text.)"},

    {"P033", "--set cannot set that", R"(
`--set` sets variables (`max_seq` or `vars.max_seq`), the environment (`environment.threads`), axes of the matrix
(`matrix.max_seq`) and keys of steps (`step.runtime.with.max_seq`).)"},

    {"P034", "--skip names no step", R"(
The pipeline has no step with this id, in no row of its matrix. `lockstep plan PIPELINE` lists the ids.)"},

    // Wires
    {"P040", "not a wire", R"(
An input is wired by the step and the output that it comes from, joined by a dot.

    inputs = { batch = "build_static_inputs.batch" })"},

    {"P041", "wire from a step that is not there", R"(
The part before the dot is not the id of a step of this pipeline.)"},

    {"P042", "wire from a later step", R"(
Steps run in the order of the file, so an input can come from an earlier step only: not from a later one, not from the
step itself.)"},

    {"P043", "unknown output", R"(
The step before the dot exists, but has no output of the name behind it. `lockstep describe STEP` lists outputs.)"},

    {"P044", "types do not fit", R"(
Output and input have different types. Types are compared by their ids, such as `lockstep.tensor/1`: the part behind the
slash is a version, and two versions of a type do not fit. If both come from your plugins, rebuild the older one.

`lockstep.tensor/1` is one tensor (`In<Tensor>`), `lockstep.tensors/1` a set of named ones (`In<NamedTensors>`), as
`common.load_tensors` and `common.run_command` give it. To read one out of a set, a step declares `In<NamedTensors> inputs`
and takes `inputs->at("hidden")`.)"},

    {"P045", "unknown input", R"(
`inputs` names an input that the step does not have. `lockstep describe STEP` lists inputs.)"},

    {"P046", "input not bound", R"(
The input is not wired, and no earlier step has an output with its name and type. Notes list outputs that come near: same
name with another type, same type with another name. From a skipped step whose plugin was not found nothing is inferred;
an explicit wire to it is accepted.)"},

    {"P047", "input could come from several steps", R"(
The input is not wired, and several earlier steps have an output with its name and type. Lockstep does not guess: wire it.)"},

    // Checks
    {"P050", "unknown check", R"(
`checks` names a check that the step does not declare. `lockstep describe STEP` lists checks.)"},

    {"P051", "unknown key of a check", R"(
Every check takes `level`, `on_vacuous` and `non_finite`. Which bounds it takes depends on its metric: `close` takes `rtol`
and `atol`; `ulp`, `peir`, `max_abs`, `max_rel`, `mean_abs`, `rmse` and `kl` take `max`; `sqnr`, `cosine`, `pcc`, `top1` and
`topk` take `min`; `topk` and `norm_wise` take `k`; `bits`, `equal` and `expect` take none. `peir`, `pcc`, `sqnr`, `cosine`
and `kl` also take `atol`, a bound on the largest difference for cases in which they are undefined. The metric belongs to the step.)"},

    {"P052", "not a setting of a check", R"(
`level` is `"require"`, `"inform"` or `"off"`; `on_vacuous` is `"fail"`, `"warn"` or `"allow"`; `non_finite` is `"fail"` or
`"match"`.)"},

    {"P053", "not a bound", R"(
A bound is a finite number that is not negative; a share (`min` of `cosine`, `pcc`, `top1`, `topk`) is at most 1, `k` of
`topk` is an integer of at least 1. An infinite bound would let everything pass: use `level = "inform"` to watch a value
without judging it.)"},

    {"P054", "rtol without atol", R"(
The rule of `close` is |actual - expected| <= atol + rtol * |expected|. As in torch.testing.assert_close both are given, or
neither: then the defaults of the dtype apply. Write `atol = 0` if you mean that.)"},

    // Processes
    {"P060", "not a kind of isolation", R"(
`isolation` is `"process"`, the step runs in a process of its own, or `"none"`, it runs in the process of the run. Without
the key it is `"none"`.)"},

    {"P061", "time_limit without isolation", R"(
Only a process can be ended from outside, so a `time_limit` needs `isolation = "process"`. With `isolation = "none"` it is
accepted and has no effect, so that `--set step.<id>.isolation=none` takes the isolation back for one run.)"},

    {"P062", "result stays in its process", R"(
A step with `isolation = "process"` has an output whose type cannot be sent to another process, because it holds more than
tensors (a loaded runtime), and a step that is not isolated reads it. Isolate the reader too: in its process the result is
computed again. Or leave both in the process of the run. A type of your own can be sent if it has a `PortTransfer`.)"},

    // The matrix
    {"P070", "not a matrix", R"(
An axis of `[matrix]` is a list of values, or one value: texts, numbers, booleans. `include` and `exclude` are lists of tables
that give axes values. Rows are known before variables are, so none can be used here; use both where the value is used.

    [matrix]
    dtype = ["bfloat16", "float32"]
    max_seq = [128, 160]
    exclude = [{ dtype = "float32", max_seq = 128 }]

On the command line a list is a TOML list, so its texts are in quotes, and the shell must leave them:

    --set 'matrix.dtype=["float32"]')"},

    {"P071", "unknown axis", R"(
`${matrix.x}`, `include`, `exclude` or an overlay names an axis that the matrix does not have. An overlay may add an axis, if
it uses it as well, for example in `[vars]`.)"},

    {"P072", "value or row twice", R"(
The values of an axis differ, and so do rows: `include` adds rows that the axes do not give. Values that read alike, such as
`1` and `"1"`, are one.)"},

    {"P073", "row that is not complete", R"(
An entry of `include` is a row of its own, so it gives every axis a value.)"},

    {"P074", "exclude that takes out nothing", R"(
An entry of `exclude` names a value that its axis does not have, or the matrix is `include` alone: `exclude` takes rows out of
the product of the axes. If an overlay or `--set` has replaced the values of the axis, such an entry is fine.)"},

    {"P075", "matrix without rows", R"(
Nothing would run: `exclude` takes out every row, or `[matrix]` has neither axes nor `include`.)"},

    {"P076", "matrix too large", R"(
The product of the axes, and the rows of the matrix, are limited to 10000, and so are the entries of `include` and `exclude`.
Write the rows that you want in `include`, or divide the pipeline.)"},

    {"P077", "no such row", R"(
`--row` takes the name of a row, or a part of it: `--row dtype=float32` is all rows with that value, `--row
dtype=float32,max_seq=160` those with both. `lockstep plan PIPELINE` lists the rows.)"},

    {"P078", "not a shard", R"(
`--shard I/N` is the I-th of N parts, counted from 1. With the same pipeline and the same `--row` every machine divides alike.)"},
});

}  // namespace

std::span<const DiagnosticCode> pipeline_codes() { return codes; }

}  // namespace lockstep
