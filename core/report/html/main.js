const data = JSON.parse(document.getElementById("data").textContent);
const record = data.record;
const checks = flatten(data);
const position = new Map(record.steps.map((step, i) => [step, i]));
for (const entry of checks) entry.stepIndex = position.get(entry.step);
const filters = makeFilters();
const show = makeShow(checks, filters);

renderHeader(record, checks);
renderAttention(record, checks, show);
renderPipeline(record.steps, filters);
renderDiagnostics(record.diagnostics);
renderRows(record.rows);
renderDifference(data.difference, checks, show);
renderBaseline(record.baseline, data.texts.baseline);
if (record.steps.length > 0) renderChecks(checks, filters);
renderPlots(checks, show);
renderLadder(checks, filters);
renderWorst(checks, show);
renderCost(record.steps);
renderEnvironment(record, data.texts.command);
renderSteps(record.steps);
document.getElementById("about").append(`lockstep ${record.tool.version} · this page is made from the run record alone`);

if (record.steps.length === 0) {
  const first = document.querySelector("main section:not([hidden])");
  build(document.querySelector(".skip-link"), { href: `#${first.id}` }, []).textContent = `Skip to ${first.querySelector("h2").textContent}`;
}
const links = [...document.querySelectorAll("main section:not([hidden])")].map((section) =>
  h("a", { href: `#${section.id}` }, section.querySelector("h2").textContent));
document.getElementById("contents").append(...links);
// Followed here, so that the address keeps the filters.
for (const link of document.querySelectorAll('a[href^="#"]')) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    reveal(link.getAttribute("href").slice(1));
  });
}
// For measurements: when the first frame has been drawn.
requestAnimationFrame(() => setTimeout(() => performance.mark("drawn")));
