// Checks of numbered subjects ("layer 3", "step 5") as curves: one panel per step, kind of number and metric, one curve
// per check. Where a subject has several numbers ("step 2 layer 3"), each kind shows the worst of the others.

const PANELS_AT_FIRST = 8;

/** "step 2 layer 3" -> [["step", 2], ["layer", 3]] */
function numbersIn(subject) {
  return [...(subject ?? "").matchAll(/([\p{L}_]+)[ _]?(\d{1,9})(?![\p{L}\d])/gu)].map(([, kind, index]) => [kind, Number(index)]);
}

/** What is drawn, the larger the worse: the value, or what is missing from 1, or the share of elements that differ. */
function errorOf(entry) {
  if (entry.value === null) return null;
  return TOWARDS_ONE.has(entry.check.metric) ? 1 - entry.value : entry.value;
}

function axisText(metric, measure) {
  if (measure === "share") return "share of elements beyond the bound";
  if (metric === "close") return "close: difference in tolerances";
  if (metric === "norm_wise") return "norm-wise: largest difference / largest expected";
  return TOWARDS_ONE.has(metric) ? `1 − ${metric}` : metric;
}

function panelsOf(checks) {
  const panels = new Map();
  for (const entry of checks) {
    const { check, step } = entry;
    let measure = "value";
    let error = errorOf(entry);
    if (error === null && check.metric === "bits" && check.compared > 0) [measure, error] = ["share", check.mismatched / check.compared];
    if (error === null) continue;
    for (const [kind, index] of numbersIn(check.subject)) {
      const key = JSON.stringify([step.id, kind, check.metric, measure]);
      const panel = panels.get(key) ?? { step, kind, metric: check.metric, measure, series: new Map() };
      const points = panel.series.get(check.name) ?? new Map();
      const known = points.get(index);
      const worse = (a, b) => (Number.isNaN(a) ? Infinity : a) > (Number.isNaN(b) ? Infinity : b);
      const lower = check.metric === "sqnr";
      if (!known || (lower ? worse(known.error, error) : worse(error, known.error))) points.set(index, { index, error, entry });
      panel.series.set(check.name, points);
      panels.set(key, panel);
    }
  }
  const result = [...panels.values()].map((panel) => ({ ...panel,
    series: [...panel.series].map(([check, points]) => ({ check, points: [...points.values()].sort((a, b) => a.index - b.index) })) }));
  const interesting = result.filter((panel) => panel.series.some(({ points }) => points.length > 1) &&
    (panel.measure !== "share" || panel.series.some(({ points }) => points.some((p) => p.error > 0))));
  const worst = (panel) => {
    const points = panel.series.flatMap((series) => series.points);
    return points.every((p) => p.error === 0) ? Infinity : Math.min(...points.map((p) => p.entry.severity));
  };
  return interesting.map((panel, i) => [panel, worst(panel), i]).sort((a, b) => (a[1] === b[1] ? a[2] - b[2] : a[1] - b[1])).map(([panel]) => panel);
}

function limitOf(panel, point) {
  if (panel.measure === "share" || point.entry.limit === null) return null;
  return TOWARDS_ONE.has(panel.metric) ? 1 - point.entry.limit : point.entry.limit;
}

/** Where values lie on the vertical axis: a logarithm where they span much, with lines of their own for 0 and infinity. */
function verticalScale(values, top, bottom) {
  const finite = values.filter(Number.isFinite);
  const positive = finite.filter((v) => v > 0);
  const most = Math.max(...positive, 0);
  const least = Math.min(...positive, most);
  const above = values.some((v) => !Number.isFinite(v));
  const high = top + (above ? 18 : 4);
  if (positive.length > 0 && finite.every((v) => v >= 0) && most / least > 30) {
    const from = Math.floor(Math.log10(least));
    const to = Math.max(Math.ceil(Math.log10(most)), from + 1);
    const zero = values.some((v) => v === 0);
    const low = bottom - (zero ? 18 : 0);
    const y = (v) => (v === 0 ? bottom : !Number.isFinite(v) ? top + 4 : low - ((Math.log10(v) - from) / (to - from)) * (low - high));
    const every = Math.ceil((to - from) / 6);
    const ticks = [];
    for (let e = from; e <= to; e += every) ticks.push([10 ** e, y(10 ** e), exponentText(e)]);
    if (zero) ticks.unshift([0, bottom, "0"]);
    if (above) ticks.push([Infinity, top + 4, "inf"]);
    return { y, ticks, log: true };
  }
  const from = Math.min(0, ...finite);
  const span = most - from || 1;
  const step = niceStep(span / 4);
  const to = Math.ceil((most || 1) / step) * step;
  const y = (v) => (Number.isFinite(v) ? bottom - ((v - from) / (to - from)) * (bottom - high) : top + 4);
  const ticks = [];
  for (let i = Math.ceil(from / step); i * step <= to + step * 1e-6; ++i) ticks.push([i * step, y(i * step), numberText(Number((i * step).toPrecision(6)))]);
  if (above) ticks.push([Infinity, top + 4, "inf"]);
  return { y, ticks, log: false };
}

function exponentText(e) {
  return e >= -3 && e <= 4 ? String(Number((10 ** e).toPrecision(3))) : `1e${e}`;
}

function niceStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].find((m) => m * power >= rough * 0.999) * power;
}

const MARKERS = [
  (x, y, r) => svg("circle", { cx: x, cy: y, r }), (x, y, r) => svg("rect", { x: x - r, y: y - r, width: 2 * r, height: 2 * r }),
  (x, y, r) => svg("path", { d: `M${x} ${y - r * 1.3}l${r * 1.25} ${r * 2.2}h${-r * 2.5}z` }),
  (x, y, r) => svg("path", { d: `M${x} ${y - r * 1.4}l${r * 1.4} ${r * 1.4} ${-r * 1.4} ${r * 1.4} ${-r * 1.4} ${-r * 1.4}z` }),
];
function marker(series, x, y, r) { return MARKERS[series % MARKERS.length](x, y, r); }

function drawPanel(panel, width, show) {
  const height = 240;
  const [left, right, top, bottom] = [58, width - 12, 10, height - 34];
  const all = panel.series.flatMap(({ points }) => points);
  const limits = all.map((p) => limitOf(panel, p)).filter((v) => v !== null && Number.isFinite(v));
  const { y, ticks, log } = verticalScale([...all.map((p) => p.error), ...limits], top, bottom);
  const first = Math.min(...all.map((p) => p.index));
  const last = Math.max(...all.map((p) => p.index), first + 1);
  const x = (i) => left + 8 + ((i - first) / (last - first)) * (right - left - 16);
  const every = Math.max(1, niceStep((last - first) / Math.max(2, (right - left) / 48)));
  const labels = [];
  for (let i = Math.ceil(first / every) * every; i <= last; i += every) labels.push(i);
  const drawing = svg("svg", { class: "plot", width, height, role: "img", "aria-label": panelSummary(panel) },
    ticks.map(([, at, text]) => [svg("line", { class: "grid", x1: left, x2: right, y1: at, y2: at }), svg("text", { class: "tick", x: left - 6, y: at + 4, "text-anchor": "end" }, text)]),
    labels.map((i) => svg("text", { class: "tick", x: x(i), y: bottom + 16, "text-anchor": "middle" }, i)),
    svg("text", { class: "tick", x: (left + right) / 2, y: height - 4, "text-anchor": "middle" }, visible(panel.kind), log ? " (logarithmic)" : ""));
  panel.series.forEach(({ points }, s) => {
    const limit = points.map((p) => [x(p.index), limitOf(panel, p)]).filter(([, v]) => v !== null && Number.isFinite(v) && (!log || v > 0));
    drawing.append(svg("g", { class: `series hue-${s % 6}` },
      limit.length > 0 && svg("path", { class: "limit", d: stretched(limit, left, right).map(([px, v], i) => `${i ? "L" : "M"}${px} ${y(v)}`).join("") },
        svg("title", null, `bound of ${visible(panel.series[s].check)}`)),
      svg("path", { class: "curve", d: points.map((p, i) => `${i ? "L" : "M"}${x(p.index)} ${y(p.error)}`).join("") }),
      points.map((p) => svg("g", { class: `point${isFine(p.entry.check) ? "" : " wrong"}`, onclick: () => show(p.entry) },
        marker(s, x(p.index), y(p.error), isFine(p.entry.check) ? 3 : 4.5),
        svg("title", null, `${visible(p.entry.check.name)} ${visible(p.entry.check.subject)}: ${numberText(p.error, 4)}${limitOf(panel, p) === null ? "" : `, bound ${numberText(limitOf(panel, p), 4)}`} (${p.entry.verdict})`)))));
  });
  return drawing;
}

/** A bound is drawn over the whole width. */
function stretched(limit, left, right) {
  return [[left, limit[0][1]], ...limit, [right, limit.at(-1)[1]]];
}

function panelSummary(panel) {
  const parts = panel.series.map(({ check, points }) => {
    const worst = points.reduce((a, b) => (Number.isNaN(b.error) || b.error > a.error ? b : a));
    return `${visible(check)}: largest ${numberText(worst.error)} at ${panel.kind} ${worst.index}`;
  });
  return `${panelTitle(panel)}. ${parts.join("; ")}`;
}

function panelTitle(panel) {
  return `${visible(panel.step.id)}, ${axisText(panel.metric, panel.measure)} by ${visible(panel.kind)}`;
}

function panelTable(panel) {
  const indices = [...new Set(panel.series.flatMap(({ points }) => points.map((p) => p.index)))].sort((a, b) => a - b);
  const at = panel.series.map(({ points }) => new Map(points.map((p) => [p.index, p.error])));
  return scrolling(panelTitle(panel), null,
    h("thead", null, h("tr", null, h("th", { scope: "col" }, visible(panel.kind)), panel.series.map(({ check }) => h("th", { scope: "col", class: "number" }, name(check))))),
    h("tbody", null, indices.map((i) => h("tr", null, h("th", { scope: "row" }, i),
      at.map((series) => h("td", { class: "number mono" }, series.has(i) ? numberText(series.get(i), 4) : ""))))));
}

function panelFigure(panel, show) {
  const canvas = h("div", { class: "canvas" });
  const legend = h("ul", { class: "legend" }, panel.series.map(({ check }, s) => h("li", null,
    svg("svg", { class: `series hue-${s % 6}`, width: 28, height: 12, "aria-hidden": "true" }, svg("path", { class: "curve", d: "M0 6H28" }), marker(s, 14, 6, 3)), name(check))),
    panel.series.some(({ points }) => points.some((p) => limitOf(panel, p) !== null)) && h("li", null,
      svg("svg", { class: "series", width: 28, height: 12, "aria-hidden": "true" }, svg("path", { class: "limit", d: "M0 6H28" })), "bound"));
  const numbers = h("details", { ontoggle: () => { if (numbers.open && !numbers.querySelector("table")) numbers.append(panelTable(panel)); } },
    h("summary", null, "Numbers"));
  new ResizeObserver(([box]) => {
    const width = Math.floor(box.contentRect.width);
    if (width > 0 && canvas.dataset.width !== String(width)) {
      canvas.dataset.width = width;
      canvas.replaceChildren(drawPanel(panel, width, show));
    }
  }).observe(canvas);
  return h("figure", { class: "panel" }, h("figcaption", null, name(panel.step.id, { class: "strong" }), ` by ${visible(panel.kind)} `,
    h("span", { class: "muted" }, axisText(panel.metric, panel.measure))), canvas, legend, numbers);
}

function renderPlots(checks, show) {
  const panels = panelsOf(checks);
  if (panels.length === 0) return;
  const section = heading("plots");
  const grid = h("div", { class: "panels" });
  const more = capped(panels, PANELS_AT_FIRST, (panel) => panelFigure(panel, show), grid, "plots");
  section.append(h("p", { class: "muted" }, "Dashed lines are bounds; ringed points are beyond theirs. A point opens its check."), grid, ...(more ? [more] : []));
}
