// How near the two sides of each comparison are: a row per tensor, a column per level, and the levels in order.

const LADDER_ROWS = 40;
const STRIP_CELLS = 120;

function ladderRows(checks) {
  const rows = new Map();
  for (const entry of checks) {
    if (entry.ladder < 0) continue;
    const key = `${entry.step.id}\n${entry.check.name}`;
    const row = rows.get(key) ?? { step: entry.step, check: entry.check.name, entries: [], counts: LADDER.map(() => 0) };
    row.entries.push(entry);
    row.counts[entry.ladder] += 1;
    rows.set(key, row);
  }
  return [...rows.values()];
}

function strip(entries) {
  const size = 12;
  const shown = entries.slice(0, STRIP_CELLS);
  const perLine = 20;
  const lines = Math.ceil(shown.length / perLine);
  return svg("svg", { class: "strip", width: Math.min(perLine, shown.length) * size, height: lines * size, role: "img",
    "aria-label": `${plural(entries.length, "comparison")}, in the order of the run` },
    shown.map((entry, i) => svg("g", { transform: `translate(${(i % perLine) * size} ${Math.floor(i / perLine) * size})` },
      svg("rect", { class: `ladder-${LADDER[entry.ladder]}`, width: size - 1, height: size - 1 }),
      svg("text", { class: `ladder-text-${LADDER[entry.ladder]}`, x: (size - 1) / 2, y: size - 3, "text-anchor": "middle" }, LADDER_SIGN[LADDER[entry.ladder]]),
      svg("title", null, `${visible(entry.check.subject ?? entry.check.name)}: ${LADDER_TEXT[LADDER[entry.ladder]]}`))));
}

function renderLadder(checks, filters) {
  const rows = ladderRows(checks);
  if (rows.length === 0) return;
  const section = heading("ladder");
  const used = LADDER.map((_, level) => rows.some((row) => row.counts[level] > 0));
  const hasStrip = rows.some((row) => row.entries.length > 1);
  const worst = (row) => row.counts.reduce((level, count, i) => (count > 0 ? i : level), 0);
  const ordered = rows.map((row, i) => [row, i]).sort((a, b) => worst(b[0]) - worst(a[0]) || a[1] - b[1]).map(([row]) => row);
  const go = (row, level) => { filters.set({ ...DEFAULTS, step: row.step.id, check: row.check, ladder: level }); reveal("checks"); };
  const body = h("tbody");
  const line = (row) => h("tr", null,
    h("th", { scope: "row" }, h("button", { type: "button", class: "link", onclick: () => go(row, "") }, name(row.step.id), " › ", name(row.check))),
    LADDER.map((level, i) => used[i] && h("td", { class: `heat${row.counts[i] > 0 ? ` ladder-${level}` : ""}` }, row.counts[i] > 0 ? grouped(row.counts[i]) : "")),
    hasStrip && h("td", { class: "wide" }, row.entries.length > 1 && strip(row.entries)));
  const more = capped(ordered, LADDER_ROWS, line, body, "tensors");
  section.append(
    h("p", { class: "muted" }, "How many comparisons of each tensor reach which level, nearest on the left; farthest tensors first."),
    scrolling("Nearness by tensor", { class: "heatmap" },
      h("thead", null, h("tr", null, h("th", { scope: "col" }, "Tensor"),
        LADDER.map((level, i) => used[i] && h("th", { scope: "col" }, ladderMark(level))), hasStrip && h("th", { scope: "col", class: "wide" }, "In order"))), body),
    ...(more ? [more] : []));
}

/** The elements that are farthest beyond or nearest to their bound. */
function renderWorst(checks, show) {
  const entries = checks.filter((entry) => entry.check.worst && (entry.severity < 6 || (entry.share ?? 0) > 0)).sort(worseFirst).slice(0, 20);
  if (entries.length === 0) return;
  const section = heading("worst");
  section.append(h("p", { class: "muted" }, "The worst element of each comparison: failures first, then what comes nearest to its bound."),
    scrolling("Worst elements", null, h("thead", null, h("tr", null,
      ["Verdict", "Check", "Element", "Expected", "Actual", "Difference", "Of bound"].map((text, i) => h("th", { scope: "col", class: i > 2 ? "number" : null }, text)))),
    h("tbody", null, entries.map((entry) => {
      const { worst } = entry.check;
      const [expected, actual] = [numeric(worst.expected), numeric(worst.actual)];
      return h("tr", null, h("td", null, badge(entry.check.verdict)),
        h("th", { scope: "row" }, h("button", { type: "button", class: "link", onclick: () => show(entry) }, name(entry.step.id), " › ", titleOf(entry))),
        h("td", { class: "mono nowrap" }, worst.index.length > 0 ? `[${worst.index.join(", ")}]` : ""),
        h("td", { class: "number mono" }, valueText(worst.expected)), h("td", { class: "number mono" }, valueText(worst.actual)),
        h("td", { class: "number mono" }, expected !== null && actual !== null ? numberText(Math.abs(actual - expected)) : ""),
        h("td", { class: "number" }, shareCell(entry)));
    }))));
}
