// The top of the page: the verdict, what it rests on, and where to look first.

const VERDICT_TEXT = {
  pass: "Passed", fail: "Failed", error: "Error", invalid: "Invalid", interrupted: "Interrupted", crashed: "Crashed",
  incomplete: "Incomplete",
};

const RUN_VERDICTS = ["crashed", "error", "fail", "interrupted", "incomplete", "invalid", "pass"];

function counts(items, of) {
  const result = new Map();
  for (const item of items) result.set(of(item), (result.get(of(item)) ?? 0) + 1);
  return result;
}

function countBadges(map, order) {
  return order.filter((key) => map.has(key)).map((key) => h("span", { class: `count is-${key}` }, icon(key),
    `${grouped(map.get(key))} ${key === "none" ? "without verdict" : key}`));
}

function tile(label, ...content) {
  return h("div", { class: "tile" }, h("dt", null, label), h("dd", null, ...content));
}

function renderHeader(record, checks) {
  const statuses = ["fail", "error", "crashed", "warn", "pass", "done", "skipped", "none"];
  const { pipeline, environment } = record;
  const facts = ["checkpoint", "dtype", "libtorch", "cpu_capability", "threads"].filter((key) => environment[key] !== undefined)
    .map((key) => h("span", { class: "fact" }, `${key.replace("_", " ")} `, h("b", null, valueText(environment[key]))));
  build(document.getElementById("top"), {}, [
    h("div", { class: "headline" },
      h("p", { class: `verdict is-${record.verdict}` }, icon(record.verdict), VERDICT_TEXT[record.verdict] ?? visible(record.verdict)),
      h("div", null, h("h1", null, name(pipeline.name || pipeline.file || "a run without a pipeline")),
        h("p", { class: "muted" }, name(pipeline.file), ` · exit code ${record.exit_code}`))),
    record.message && h("p", { class: "message" }, visible(record.message)),
    h("dl", { class: "tiles" },
      record.rows && tile("Rows", countBadges(counts(record.rows, (row) => row.verdict), RUN_VERDICTS)),
      record.steps.length > 0 && tile("Steps", countBadges(counts(record.steps, (s) => s.status ?? "none"), statuses)),
      checks.length > 0 && tile("Checks", countBadges(counts(checks, (c) => c.verdict), VERDICTS)),
      tile("Time", secondsText(record.seconds)),
      tile("Memory", record.peak_rss_bytes > 0 ? memoryTexts(record) : "–")),
    facts.length > 0 && h("p", { class: "facts" }, facts),
  ]);
}

/** Steps that broke, then the worst checks: what a reader who has one minute should see. */
function renderAttention(record, checks, show) {
  const broken = record.steps.filter((step) => step.status === "error" || step.status === "crashed");
  const wrong = checks.filter((entry) => entry.severity < 6);
  const worse = record.baseline?.worse ?? [];
  if (broken.length + wrong.length + worse.length === 0) return;
  const section = heading("attention");
  const list = h("ol", { class: "attention" });
  list.append(...broken.map((step) => h("li", { class: `is-${step.status}` }, badge(step.status), " ", name(step.id, { class: "strong" }),
    h("p", { class: "outcome" }, visible(step.reason ?? "no reason given")), step.help && h("p", { class: "muted" }, `help: ${visible(step.help)}`),
    step.output_tail?.length > 0 && h("p", { class: "pre" }, step.output_tail.map(visible).join("\n")))));
  list.append(...worse.slice(0, 6).map((finding) => h("li", { class: "is-fail" }, badge("fail", "worse"), " ", findingTitle(finding),
    h("p", { class: "outcome" }, visible(finding.message)))));
  // The first of each check, in the order of the run: an error shows first where it starts.
  const seen = new Set();
  const first = [...wrong].sort((a, b) => a.severity - b.severity || a.index - b.index).filter((entry) => {
    const key = `${entry.step.id}/${entry.check.name}/${entry.verdict}`;
    return !seen.has(key) && seen.add(key);
  });
  const item = (entry) => {
    const same = wrong.filter((other) => other.step === entry.step && other.check.name === entry.check.name && other.verdict === entry.verdict);
    return h("li", { class: `is-${entry.verdict}` },
      h("button", { type: "button", class: "link", onclick: () => show(entry) }, badge(entry.verdict), " ",
        h("span", { class: "strong" }, name(entry.step.id), " › ", titleOf(entry))),
      entry.step.scored === false && h("span", { class: "tag" }, "not scored"),
      h("p", { class: "outcome" }, visible(entry.outcome)),
      worstSentence(entry), same.length > 1 && h("p", { class: "muted" }, `and ${grouped(same.length - 1)} more of this check`));
  };
  const more = capped(first, 6, item, list, "findings");
  section.append(list, ...(more ? [more] : []));
}

function worstSentence({ check }) {
  if (!check.worst || isFine(check)) return null;
  const at = check.worst.index.length > 0 ? `at [${check.worst.index.join(", ")}]: ` : "";
  return h("p", { class: "muted" }, `worst ${at}expected ${valueText(check.worst.expected)}, actual ${valueText(check.worst.actual)}`);
}

function findingTitle({ step, check, subject }) {
  return h("span", { class: "strong" }, name(step), check && [" › ", name(check)], subject !== null && [" ", name(subject)]);
}

/** How the run stands against its baseline; `lines` says it in the terminal's words. */
function renderBaseline(baseline, lines) {
  if (!baseline) return;
  const section = heading("baseline");
  section.append(...lines.map((line) => h("p", null, visible(line))));
  for (const [key, title] of [["worse", "Worse"], ["better", "Better"], ["unknown", "Not in the baseline"]]) {
    const findings = baseline[key];
    if (findings.length === 0) continue;
    const list = h("ul", { class: "findings" });
    const more = capped(findings, 20, (finding) => h("li", null, findingTitle(finding), finding.message && `: ${visible(finding.message)}`), list, "of these");
    section.append(h("h3", null, `${title} (${grouped(findings.length)})`), list, ...(more ? [more] : []));
  }
}

function placeText(item) {
  return item.file ? visible([item.file, item.line, item.column].filter((x) => x !== null && x !== undefined).join(":")) : "";
}

function renderDiagnostics(diagnostics) {
  if (diagnostics.length === 0) return;
  heading("diagnostics").append(h("ul", { class: "diagnostics" }, diagnostics.map((item) => {
    const verdict = item.severity === "error" ? "error" : "warn";
    return h("li", { class: `is-${verdict}` }, badge(verdict, item.severity), " ", item.code && h("code", null, visible(item.code)), " ",
      h("span", { class: "pre" }, visible(item.message)),
      item.did_you_mean && h("p", null, `did you mean '${visible(item.did_you_mean)}'?`),
      placeText(item) && h("p", { class: "muted mono" }, placeText(item)),
      item.help && h("p", { class: "pre" }, `help: ${visible(item.help)}`),
      (item.notes ?? []).map((note) => h("p", { class: "muted pre" }, `${placeText(note)} ${visible(note.message)}`)));
  })));
}
