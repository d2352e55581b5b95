// What moved since another run, as `lockstep diff` tells it.

const CHANGE_ROWS = 40;
const GROUPS = [
  ["verdict", "Verdicts"], ["presence", "Steps and checks that only one run has"], ["value", "Values"],
  ["setup", "Bounds, levels, parameters, wires, outputs, plugins"], ["environment", "Environment and pipeline"],
  ["information", "Time, memory, places: for information"],
];
const VERDICT_WORDS = new Set([...VERDICTS, "error", "crashed", "skipped", "done", "invalid", "interrupted", "incomplete"]);

function sideCell(change, value) {
  if (value === null) return h("td", { class: "muted" }, "–");
  if (change.group === "verdict" && VERDICT_WORDS.has(value)) return h("td", null, badge(value));
  return h("td", { class: "mono pre" }, valueText(value));
}

function changeRow(change, entries, show) {
  const title = change.step ? [name(change.step), change.check && [" › ", name(change.check)], change.subject !== null && [" ", name(change.subject, { class: "subject" })]] : "the run";
  const entry = entries.get(`${change.step}/${change.check}/${change.subject ?? ""}`);
  return h("tr", null, h("th", { scope: "row" }, entry ? h("button", { type: "button", class: "link", onclick: () => show(entry) }, title) : title),
    h("td", null, name(change.field)), sideCell(change, change.before), sideCell(change, change.after),
    h("td", { class: "number" }, numeric(change.factor) === null ? "" : `${numberText(numeric(change.factor))}×`));
}

function renderDifference(difference, checks, show) {
  if (!difference) return;
  const section = heading("difference");
  section.append(h("p", null, "From ", name(difference.before, { class: "mono" }), " to this run: ",
    difference.equal ? "nothing moved." : `${plural(difference.changes.filter((change) => change.group !== "information").length, "change")}.`));
  const entries = new Map(checks.map((entry) => [entry.key, entry]));
  for (const [group, title] of GROUPS) {
    const changes = difference.changes.filter((change) => change.group === group);
    if (changes.length === 0) continue;
    const body = h("tbody");
    const more = capped(changes, CHANGE_ROWS, (change) => changeRow(change, entries, show), body, "changes");
    section.append(h("details", { open: group !== "information" }, h("summary", null, h("h3", null, `${title} (${grouped(changes.length)})`)),
      scrolling(title, null, h("thead", null, h("tr", null, ["Where", "What", "Before", "Now", "Factor"].map((text, i) => h("th", { scope: "col", class: i > 3 ? "number" : null }, text)))), body),
      more));
  }
}
