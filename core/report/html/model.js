// The record, flattened: one object per check entry, with what the page sorts, filters and draws by.

const VERDICTS = ["fail", "warn", "vacuous", "pass", "none"];
const LADDER = ["bits_equal", "signed_zero", "ulp", "close", "far", "non_finite", "not_comparable"];
const LADDER_TEXT = {
  bits_equal: "bits equal", signed_zero: "signed zero", ulp: "a few ulp", close: "close", far: "far",
  non_finite: "not finite", not_comparable: "not comparable",
};
const LADDER_SIGN = { bits_equal: "=", signed_zero: "±", ulp: "u", close: "≈", far: "≠", non_finite: "∞", not_comparable: "?" };
/** Metrics whose best value is 1: their error is what is missing from it. */
const TOWARDS_ONE = new Set(["cosine", "pcc", "top1", "topk"]);

function isFine(check) {
  return check.verdict === "pass" || (check.verdict === "vacuous" && check.on_vacuous === "allow");
}

/** How bad, for sorting: 0 is worst. Checks of steps that are not scored come after those that count. */
function severity(check, step) {
  if (isFine(check)) return 8;
  const base = { fail: 0, vacuous: check.on_vacuous === "warn" || check.level === "inform" ? 2 : 0.5, warn: 2 }[check.verdict] ?? 6;
  return base + (step.scored === false ? 4 : 0);
}

/** The part of its bound that the value takes: over 1 is beyond. Null where the two have no such relation. */
function shareOf(metric, value, limit, atLeast) {
  if (value === null || limit === null) return null;
  if (TOWARDS_ONE.has(metric)) [value, limit] = [1 - value, 1 - limit];
  else if (atLeast) return null;
  if (value === 0) return 0;
  return limit > 0 ? value / limit : Infinity;
}

function boundText(bound) {
  return Object.entries(bound ?? {}).map(([key, value]) => `${key} ${valueText(value)}`).join(", ");
}

function flatten(data) {
  const checks = [];
  data.record.steps.forEach((step, s) => {
    step.checks.forEach((check, c) => {
      const extra = data.checks[s][c];
      const value = numeric(check.value);
      const limit = numeric(extra.limit);
      checks.push({
        check, step, outcome: extra.outcome, index: checks.length, key: `${step.id}/${check.name}/${check.subject ?? ""}`,
        verdict: check.verdict ?? "none", severity: severity(check, step), value, limit, atLeast: extra.at_least,
        share: shareOf(check.metric, value, limit, extra.at_least),
        ladder: LADDER.indexOf(check.ladder),
        haystack: [step.id, step.uses, check.name, check.subject, check.metric, check.ladder, check.message, check.expected,
          check.bound_source].filter(Boolean).join("\n").toLowerCase(),
      });
    });
  });
  return checks;
}

function worseFirst(a, b) {
  const share = (x) => (Number.isNaN(x.share) ? Infinity : x.share ?? -1);
  return a.severity - b.severity || share(b) - share(a) || a.index - b.index;
}

function titleOf(entry) {
  return [name(entry.check.name), entry.check.subject !== null && [" ", name(entry.check.subject, { class: "subject" })]];
}
