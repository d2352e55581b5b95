// What the table shows. The address keeps it, so that a view can be bookmarked and sent.

const DEFAULTS = { q: "", verdict: "", step: "", check: "", metric: "", level: "", ladder: "", sort: "verdict", dir: "up", page: "1", open: "" };

function makeFilters() {
  let state = read();
  const listeners = [];

  function read() {
    const given = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
    return Object.fromEntries(Object.entries(DEFAULTS).map(([key, value]) => [key, given.get(key) ?? value]));
  }
  function write() {
    const changed = Object.entries(state).filter(([key, value]) => value !== DEFAULTS[key]);
    const hash = new URLSearchParams(changed).toString();
    // An empty fragment would make the browser jump to the top.
    history.replaceState(null, "", hash ? `#${hash}` : location.href.replace(/#.*/, ""));
  }
  function notify() {
    for (const listener of listeners) listener(state);
  }
  const filters = {
    get state() { return state; },
    /** Calls `listener` now and after each change. */
    onchange(listener) { listeners.push(listener); listener(state); },
    /** What narrows the view starts at its first page, with nothing opened. */
    set(changes) {
      state = { ...state, page: "1", open: "", ...changes };
      write();
      notify();
    },
    clear() { filters.set({ ...DEFAULTS, sort: state.sort, dir: state.dir }); },
    toggleStep(step) {
      filters.set({ step: state.step === step ? "" : step });
      if (state.step) reveal("checks");
    },
    verdicts() { return new Set(state.verdict.split(",").filter(Boolean)); },
  };
  addEventListener("hashchange", () => {
    if (location.hash && !location.hash.includes("=")) return;
    state = read();
    notify();
  });
  return filters;
}

/** Brings a section into view and moves the keyboard's place there. */
function reveal(id) {
  const section = document.getElementById(id);
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  section.scrollIntoView({ behavior: calm ? "auto" : "smooth", block: "start" });
  section.tabIndex = -1;
  section.focus({ preventScroll: true });
}

function matching(checks, filters) {
  const { q, step, check, metric, level, ladder } = filters.state;
  const verdicts = filters.verdicts();
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  return checks.filter((entry) =>
    (verdicts.size === 0 || verdicts.has(entry.verdict)) && (!step || entry.step.id === step) &&
    (!check || entry.check.name === check) && (!metric || entry.check.metric === metric) &&
    (!level || entry.check.level === level) && (!ladder || entry.check.ladder === ladder) &&
    words.every((word) => entry.haystack.includes(word)));
}

const COLLATOR = new Intl.Collator("en", { numeric: true });
const SORT_KEYS = {
  verdict: (e) => e.severity, step: (e) => e.stepIndex, check: (e) => e.check.name, subject: (e) => e.check.subject ?? "",
  metric: (e) => e.check.metric, value: (e) => e.value, share: (e) => e.share, mismatched: (e) => e.check.mismatched,
  ladder: (e) => (e.ladder < 0 ? null : e.ladder),
};

/** Stable; what has no value comes last either way, NaN counts as the largest. */
function sorted(entries, { sort, dir }) {
  const key = SORT_KEYS[sort] ?? SORT_KEYS.verdict;
  const sign = dir === "down" ? -1 : 1;
  const keyed = entries.map((entry) => {
    const value = key(entry);
    return { entry, value: Number.isNaN(value) ? Infinity : value, missing: value === null || value === undefined };
  });
  keyed.sort((a, b) => {
    if (a.missing || b.missing) return a.missing - b.missing || a.entry.index - b.entry.index;
    const order = typeof a.value === "string" ? COLLATOR.compare(a.value, b.value) : a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
    return sign * order || a.entry.index - b.entry.index;
  });
  return keyed.map(({ entry }) => entry);
}
