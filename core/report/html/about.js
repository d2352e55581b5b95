// What the run cost, where it ran and with what.

function bar(share, text) {
  return [h("span", { class: "bar", "aria-hidden": "true" }, h("span", { style: `width:${(100 * share).toFixed(2)}%` })), h("span", { class: "bar-text" }, text)];
}

function memoryTexts(of) {
  const all = memoryText(of.peak_rss_bytes);
  return of.peak_private_bytes > 0 ? `${all} (${memoryText(of.peak_private_bytes)} private)` : all;
}

function renderCost(steps) {
  const ran = steps.filter((step) => step.status !== "skipped");
  if (ran.length === 0) return;
  const slowest = Math.max(...ran.map((step) => numeric(step.seconds) ?? 0), 1e-9);
  const largest = Math.max(...ran.map((step) => step.peak_rss_bytes), 1);
  const body = h("tbody");
  const more = capped(ran, 60, (step) => h("tr", null, h("th", { scope: "row" }, icon(step.status), " ", name(step.id)),
    h("td", { class: "bar-cell" }, bar((numeric(step.seconds) ?? 0) / slowest, secondsText(step.seconds))),
    h("td", { class: "bar-cell" }, bar(step.peak_rss_bytes / largest, memoryTexts(step)))), body, "steps");
  heading("cost").append(h("p", { class: "muted" }, "Memory is the largest resident size of the process while the step ran, files that it maps included; private is what it has allocated."),
    h("table", { class: "cost", "aria-label": "Time and memory by step" }, h("thead", null, h("tr", null, ["Step", "Time", "Memory"].map((text) => h("th", { scope: "col" }, text)))), body), ...(more ? [more] : []));
}

function valueList(fields) {
  return h("dl", { class: "facts-list" }, Object.entries(fields).map(([key, value]) => definition(visible(key), h("span", { class: "mono pre" }, valueText(value)))));
}

function renderEnvironment(record, command) {
  const { pipeline, tool } = record;
  const section = heading("environment");
  section.append(valueList({ ...record.environment, lockstep: tool.version, "pipeline sha256": pipeline.sha256 || "–" }));
  if (pipeline.file) section.append(h("h3", null, "To run it again"), h("p", { class: "mono pre" }, visible(command)));
}

function shapeText({ dtype, shape }) {
  return dtype ? `${dtype} [${shape.join(", ")}]` : "";
}

function outputText(output) {
  const tensors = Object.entries(output.tensors ?? {});
  const inside = tensors.slice(0, 8).map(([key, tensor]) => `${key}: ${shapeText(tensor)}`);
  if (tensors.length > 8) inside.push(`… ${tensors.length - 8} more`);
  return [output.type, shapeText(output), ...inside].filter(Boolean).join("\n");
}

const KNOWN_FIELDS = new Set(["id", "uses", "plugin", "scored", "status", "reason", "help", "summary", "seconds", "peak_rss_bytes", "peak_private_bytes", "parameters", "inputs", "outputs", "checks", "location"]);

function stepDetails(step) {
  const own = Object.fromEntries(Object.entries(step).filter(([key]) => !KNOWN_FIELDS.has(key)));
  const part = (title, fields) => Object.keys(fields).length > 0 && [h("h3", null, title), valueList(fields)];
  return [
    (step.reason || step.help) && h("p", { class: "pre" }, [step.reason, step.help && `help: ${step.help}`].filter(Boolean).map(visible).join("\n")),
    part("Parameters", step.parameters ?? {}), part("Inputs", step.inputs ?? {}),
    part("Outputs", Object.fromEntries(Object.entries(step.outputs ?? {}).map(([port, output]) => [port, outputText(output)]))),
    part("Recorded by the step", own),
    step.location && part("Written at", { place: step.location }),
    part("Plugin", step.plugin ? { file: step.plugin.file, "build id": step.plugin.build_id ?? "–" } : {}),
  ];
}

function renderSteps(steps) {
  if (steps.length === 0) return;
  const list = h("div", { class: "step-list" });
  const more = capped(steps, 60, (step) => {
    const box = h("details", { ontoggle: () => { if (box.open && box.childElementCount === 1) box.append(...stepDetails(step).flat(Infinity).filter(Boolean)); } },
      h("summary", null, icon(step.status), " ", name(step.id, { class: "strong" }), " ", h("span", { class: "muted" }, name(step.uses))));
    return box;
  }, list, "steps");
  heading("steps").append(h("p", { class: "muted" }, "Parameters, defaults included; wires; what each step published; the plugin that it came from."), list, ...(more ? [more] : []));
}

/** The rows of a summary, those that did not pass first. */
function renderRows(rows) {
  if (!Array.isArray(rows) || rows.length === 0) return;
  const axes = [...new Set(rows.flatMap((row) => Object.keys(row.values ?? {})))];
  const head = ["Verdict", "Row", ...axes, "Checks", "First problem", "Exit code", "Time", "Memory", "Record"];
  const cells = (row) => h("tr", null, h("td", null, badge(row.verdict)), h("th", { scope: "row" }, name(row.name)),
    axes.map((axis) => h("td", { class: "mono" }, valueText(row.values?.[axis]))),
    h("td", { class: "counts" }, countBadges(new Map(Object.entries(row.checks)), VERDICTS)),
    h("td", { class: "problem" }, visible(row.message ?? "")), h("td", { class: "number" }, valueText(row.exit_code)),
    h("td", { class: "number" }, secondsText(row.seconds)), h("td", { class: "number" }, memoryTexts(row)),
    h("td", null, row.record && name(row.record, { class: "mono" })));
  const body = h("tbody");
  const ordered = [...rows.filter((row) => row.verdict !== "pass"), ...rows.filter((row) => row.verdict === "pass")];
  const more = capped(ordered, 100, cells, body, "rows");
  heading("rows").append(scrolling("Matrix rows", null, h("thead", null, h("tr", null, head.map((text) => h("th", { scope: "col" }, visible(text))))), body),
    ...(more ? [more] : []));
}
