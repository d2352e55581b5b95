// The table of all checks, a page at a time, so that ten thousand are as quick as ten.

const ROWS_PER_PAGE = 50;
const COLUMNS = [
  ["verdict", "Verdict"], ["step", "Step"], ["check", "Check"], ["subject", "Subject"], ["metric", "Metric", "wide"],
  ["value", "Value", "number wide"], ["bound", "Bound", "wide"], ["share", "Of bound", "number medium"],
  ["mismatched", "Differ", "number wide"], ["ladder", "Nearness", "wide"],
];

function option(value, text) { return h("option", { value }, text); }

function select(key, label, values, filters) {
  const control = h("select", { id: `filter-${key}`, onchange: () => filters.set({ [key]: control.value }) }, option("", "all"),
    values.map((value) => option(value, visible(value).replaceAll(key === "ladder" ? "_" : "\0", " "))));
  filters.onchange((state) => { control.value = state[key]; });
  return h("div", { class: "field" }, h("label", { for: control.id }, label), control);
}

function verdictToggles(checks, filters) {
  const present = counts(checks, (entry) => entry.verdict);
  const buttons = VERDICTS.filter((verdict) => present.has(verdict)).map((verdict) => h("button", {
    type: "button", class: `toggle is-${verdict}`, "data-verdict": verdict, onclick: () => {
      const chosen = filters.verdicts();
      if (!chosen.delete(verdict)) chosen.add(verdict);
      filters.set({ verdict: VERDICTS.filter((v) => chosen.has(v)).join(",") });
    } }, icon(verdict), `${verdict === "none" ? "no verdict" : verdict} ${grouped(present.get(verdict))}`));
  filters.onchange(() => {
    const chosen = filters.verdicts();
    for (const button of buttons) button.setAttribute("aria-pressed", String(chosen.has(button.dataset.verdict)));
  });
  return h("div", { class: "toggles", role: "group", "aria-label": "Verdict" }, buttons);
}

function filterBar(checks, filters) {
  const distinct = (of) => [...new Set(checks.map(of))].filter(Boolean);
  const search = h("input", { type: "search", id: "filter-q", placeholder: "step, check, subject, message …", autocomplete: "off", spellcheck: "false",
    oninput: () => filters.set({ q: search.value }) });
  filters.onchange((state) => { if (search.value !== state.q) search.value = state.q; });
  const clear = h("button", { type: "button", class: "clear", onclick: () => { filters.clear(); search.focus(); } }, "Clear filters");
  return h("form", { class: "filters", role: "search", "aria-label": "Filter the checks", onsubmit: (event) => event.preventDefault() },
    h("div", { class: "field grow" }, h("label", { for: "filter-q" }, "Search"), search),
    select("step", "Step", distinct((e) => e.step.id), filters), select("check", "Check", distinct((e) => e.check.name), filters),
    select("metric", "Metric", distinct((e) => e.check.metric), filters), select("level", "Level", distinct((e) => e.check.level), filters),
    select("ladder", "Nearness", LADDER.filter((l) => checks.some((e) => e.check.ladder === l)), filters),
    verdictToggles(checks, filters), clear);
}

function headerRow(filters) {
  const cells = COLUMNS.map(([key, text, kind]) => {
    if (!(key in SORT_KEYS)) return h("th", { scope: "col", class: kind }, text);
    const button = h("button", { type: "button", class: "sort", onclick: () => {
      const { sort, dir } = filters.state;
      const first = ["value", "share", "mismatched"].includes(key) ? "down" : "up";
      filters.set({ sort: key, dir: sort !== key ? first : dir === "up" ? "down" : "up" });
    } }, text, h("span", { class: "arrow", "aria-hidden": "true" }));
    return h("th", { scope: "col", class: kind, "data-sort": key }, button);
  });
  filters.onchange(({ sort, dir }) => {
    for (const cell of cells) {
      if (!cell.dataset.sort) continue;
      if (cell.dataset.sort === sort) cell.setAttribute("aria-sort", dir === "down" ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    }
  });
  return h("tr", null, cells);
}

function shareCell(entry) {
  if (entry.share === null) return "";
  const width = Number.isNaN(entry.share) ? 100 : Math.min(100, entry.share * 100);
  return [h("span", { class: `meter${entry.share <= 1 ? "" : " beyond"}`, "aria-hidden": "true" }, h("span", { style: `width:${width}%` })),
    h("span", { class: "share" }, entry.share === 0 ? "0" : `${numberText(entry.share, 2)}×`)];
}

function ladderMark(level) {
  if (!level) return null;
  return h("span", { class: "ladder-mark" }, h("span", { class: `ladder-sign ladder-${level}`, "aria-hidden": "true" }, LADDER_SIGN[level] ?? "?"),
    LADDER_TEXT[level] ?? visible(level));
}

function checkRow(entry, isOpen, toggle) {
  const { check } = entry;
  const word = check.verdict ?? "no verdict";
  const button = h("button", { type: "button", class: `expander is-${entry.verdict}`, "aria-expanded": String(isOpen),
    "aria-controls": isOpen && `details-${entry.index}`,
    "aria-label": `${word}, ${check.name} ${check.subject ?? ""}: details` }, icon(check.verdict), word);
  const row = h("tr", { class: `check is-${entry.verdict}${isOpen ? " open" : ""}`, "data-index": entry.index, onclick: (event) => {
    if (event.target.closest("button") === button || !String(getSelection())) toggle(entry);
  } },
    h("td", null, button), h("td", null, name(entry.step.id), entry.step.scored === false && h("span", { class: "tag" }, "not scored")),
    h("th", { scope: "row" }, name(check.name), check.level === "inform" && h("span", { class: "tag" }, "inform")),
    h("td", null, check.subject === null ? "" : name(check.subject)), h("td", { class: "wide nowrap" }, check.metric),
    h("td", { class: "number wide" }, entry.value === null ? "" : numberText(entry.value)),
    h("td", { class: "wide muted nowrap" }, boundText(check.bound)), h("td", { class: "number medium" }, shareCell(entry)),
    h("td", { class: "number wide" }, check.metric !== "expect" && check.compared > 0 ? [grouped(check.mismatched), h("span", { class: "muted" }, ` / ${grouped(check.compared)}`)] : ""),
    h("td", { class: "wide" }, ladderMark(check.ladder)));
  return isOpen ? [row, h("tr", { class: "details", id: `details-${entry.index}` }, h("td", { colspan: COLUMNS.length }, checkDetails(entry)))] : [row];
}

function definition(term, ...content) {
  return h("div", null, h("dt", null, term), h("dd", null, ...content));
}

function checkDetails(entry) {
  const { check, step } = entry;
  const worst = check.worst;
  const gap = worst && numeric(worst.expected) !== null && numeric(worst.actual) !== null ? Math.abs(numeric(worst.actual) - numeric(worst.expected)) : null;
  return [
    h("p", { class: "outcome" }, visible(entry.outcome)),
    check.message && ![entry.outcome, `${check.mismatched} of ${check.compared} differ`].includes(check.message) && h("p", { class: "pre" }, visible(check.message)),
    h("dl", { class: "facts-list" },
      definition("step", name(step.id), " (", name(step.uses), ")"),
      definition("expected side", visible(check.expected || "–")),
      definition("bound", `${check.metric}${boundText(check.bound) ? `: ${boundText(check.bound)}` : ""}`),
      definition("set at", name(check.bound_source || "–", { class: "mono" })),
      definition("level", check.level, check.verdict === "vacuous" && ` · if vacuous: ${check.on_vacuous}`),
      definition("compared", plural(check.compared, "element"), `, ${grouped(check.mismatched)} beyond the bound`),
      worst && worst.index.length > 0 && definition("worst at", h("span", { class: "mono" }, `[${worst.index.join(", ")}]`)),
      worst && definition("expected", h("span", { class: "mono pre" }, valueText(worst.expected, 9))),
      worst && definition("actual", h("span", { class: "mono pre" }, valueText(worst.actual, 9))),
      gap !== null && definition("difference", h("span", { class: "mono" }, numberText(gap, 6))),
      Object.entries(check.statistics ?? {}).map(([key, value]) => definition(visible(key), h("span", { class: "mono" }, valueText(value))))),
  ];
}

function renderChecks(checks, filters) {
  const section = heading("checks");
  if (checks.length === 0) {
    section.append(h("p", { class: "muted" }, "No check was performed."));
    return;
  }
  const status = h("p", { class: "status", role: "status" });
  const body = h("tbody");
  const pages = h("div", { class: "pages" });
  const table = h("table", { class: "check-table" }, h("caption", { class: "sr" }, "Checks; a row's first button shows its details"),
    h("thead", null, headerRow(filters)), body);
  let entries = [];
  let selection = null;

  function toggle(entry) {
    filters.set({ page: filters.state.page, open: filters.state.open === entry.key ? "" : entry.key });
    body.querySelector(`tr[data-index="${entry.index}"] button`)?.focus({ preventScroll: true });
  }
  function go(page) {
    filters.set({ page: String(page) });
    section.scrollIntoView({ block: "start" });
    pages.querySelector("button:not(:disabled)")?.focus({ preventScroll: true });
  }
  filters.onchange((state) => {
    const { page: _, open: __, ...wanted } = state;
    if (selection !== (selection = JSON.stringify(wanted))) entries = sorted(matching(checks, filters), state);
    const last = Math.max(1, Math.ceil(entries.length / ROWS_PER_PAGE));
    const page = Math.min(last, Math.max(1, Number.parseInt(state.page, 10) || 1));
    const shown = entries.slice((page - 1) * ROWS_PER_PAGE, page * ROWS_PER_PAGE);
    body.replaceChildren(...shown.flatMap((entry) => checkRow(entry, entry.key === state.open, toggle)));
    if (entries.length === 0) body.append(h("tr", null, h("td", { colspan: COLUMNS.length, class: "muted" }, "No check matches these filters.")));
    status.textContent = entries.length === checks.length ? plural(checks.length, "check") : `${grouped(entries.length)} of ${plural(checks.length, "check")}`;
    pages.hidden = last === 1;
    pages.replaceChildren(
      h("button", { type: "button", disabled: page === 1, onclick: () => go(page - 1) }, "Previous"),
      h("span", null, `Page ${grouped(page)} of ${grouped(last)}`),
      h("button", { type: "button", disabled: page === last, onclick: () => go(page + 1) }, "Next"));
  });
  section.append(filterBar(checks, filters), status, table, pages);
}

/** Opens one check in the table, on the page that holds it. */
function makeShow(checks, filters) {
  return (entry) => {
    const state = { ...DEFAULTS, step: entry.step.id, check: entry.check.name };
    filters.set(state);
    const place = sorted(matching(checks, filters), filters.state).indexOf(entry);
    filters.set({ page: String(Math.floor(place / ROWS_PER_PAGE) + 1), open: entry.key });
    const button = document.querySelector(`tr[data-index="${entry.index}"] button`);
    button?.scrollIntoView({ block: "center" });
    button?.focus({ preventScroll: true });
  };
}
