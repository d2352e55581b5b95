// The pipeline as a graph: a box per step in the order of the run, and for each result a wire that runs down beside the
// boxes from the step that made it to the steps that read it.

function wiresOf(steps) {
  const position = new Map(steps.map((step, i) => [step.id, i]));
  const wires = new Map();
  steps.forEach((step, reader) => {
    for (const [port, source] of Object.entries(step.inputs ?? {})) {
      const made = position.get(source.slice(0, source.indexOf(".")));
      if (made === undefined || made >= reader) continue;
      const wire = wires.get(made) ?? { from: made, to: new Map() };
      wire.to.set(reader, [...(wire.to.get(reader) ?? []), `${source} → ${port}`]);
      wires.set(made, wire);
    }
  });
  return [...wires.values()].map((wire) => ({ ...wire, end: Math.max(...wire.to.keys()) }));
}

/** Long wires take the outer lanes; a lane is used again below the end of its wire. Returns the number of lanes. */
function assignLanes(wires) {
  const lanes = [];
  const longestFirst = [...wires].sort((a, b) => (b.end - b.from) - (a.end - a.from) || a.from - b.from);
  for (const wire of longestFirst) {
    let lane = lanes.findIndex((used) => used.every((other) => wire.from >= other.end || wire.end <= other.from));
    if (lane < 0) lane = lanes.push([]) - 1;
    lanes[lane].push(wire);
    wire.lane = lane;
  }
  return lanes.length;
}

function stepLine(step) {
  const passed = step.checks.filter(isFine).length;
  const text = step.status === "skipped" || step.status === "error" || step.status === "crashed" ? step.reason : step.summary;
  return [
    h("span", { class: "step-head" }, icon(step.status), h("span", { class: "sr" }, `${step.status ?? "not finished"}: `),
      name(step.id, { class: "strong" }), step.scored === false && h("span", { class: "tag" }, "not scored"),
      h("span", { class: "step-counts" }, step.checks.length > 0 && judged(step) ? `${grouped(passed)}/${grouped(step.checks.length)} checks` : step.status ?? "…",
        h("span", { class: "step-time" }, secondsText(step.seconds)))),
    text && h("span", { class: "step-text" }, visible(text)),
  ];
}

function judged(step) {
  return step.status !== "skipped" && step.status !== "error" && step.status !== "crashed";
}

function renderPipeline(steps, filters) {
  if (steps.length === 0) return;
  const section = heading("pipeline");
  const wires = wiresOf(steps);
  const lanes = assignLanes(wires);
  const drawing = svg("svg", { class: "wires", "aria-hidden": "true" });
  const related = steps.map((_, i) => {
    const near = new Set([i]);
    for (const wire of wires) {
      if (wire.from === i) wire.to.forEach((_, reader) => near.add(reader));
      if (wire.to.has(i)) near.add(wire.from);
    }
    return near;
  });
  const boxes = steps.map((step, i) => h("button", {
    type: "button", class: `step is-${step.status ?? "none"}`, "aria-pressed": "false", onclick: () => filters.toggleStep(step.id),
    onmouseenter: () => focusOn(i), onmouseleave: () => focusOn(null), onfocus: () => focusOn(i), onblur: () => focusOn(null),
    title: readsText(step),
  }, stepLine(step)));
  const list = h("ol", { class: "graph-steps" }, boxes.map((box) => h("li", null, box)));
  const graph = h("div", { class: `graph${steps.length > 40 ? " dense" : ""}` }, drawing, list);

  function focusOn(i) {
    graph.classList.toggle("focused", i !== null);
    boxes.forEach((box, k) => box.classList.toggle("near", i !== null && related[i].has(k)));
    for (const group of drawing.children) {
      const wire = wires[Number(group.dataset.wire)];
      group.classList.toggle("near", i !== null && (wire.from === i || wire.to.has(i)));
      for (const branch of group.querySelectorAll("[data-reader]")) {
        branch.classList.toggle("far", i !== null && wire.from !== i && Number(branch.dataset.reader) !== i);
      }
    }
  }
  function draw() {
    const width = graph.clientWidth;
    if (width === 0) return;
    const gap = Math.min(14, (width * 0.28) / Math.max(lanes, 1));
    const gutter = lanes > 0 ? Math.round(lanes * gap + 14) : 0;
    list.style.marginInlineStart = `${gutter}px`;
    const top = graph.getBoundingClientRect().top - graph.scrollTop;
    const spans = boxes.map((box) => {
      const { top: y, height } = box.getBoundingClientRect();
      return { reads: y - top + height * 0.3, writes: y - top + height * 0.72 };
    });
    drawing.setAttribute("width", gutter);
    drawing.setAttribute("height", list.offsetHeight);
    drawing.replaceChildren(...wires.map((wire, i) => drawWire(wire, i, spans, gap, gutter)));
  }
  section.append(h("p", { class: "muted" }, "Steps from first to last; wires lead from a result to its readers. Choose a step to see its checks."), graph);
  new ResizeObserver(draw).observe(graph);
  addEventListener("beforeprint", draw);
  filters.onchange((state) => boxes.forEach((box, i) => box.setAttribute("aria-pressed", String(state.step === steps[i].id))));
}

function readsText(step) {
  return [step.uses, ...Object.entries(step.inputs ?? {}).map(([port, source]) => `${port} from ${source}`)].map(visible).join("\n");
}

function drawWire(wire, index, spans, gap, gutter) {
  const x = 5 + wire.lane * gap;
  const r = Math.min(5, gap / 2);
  const start = spans[wire.from].writes;
  const end = spans[wire.end].reads;
  const branches = [...wire.to].map(([reader, ports]) => {
    const y = spans[reader].reads;
    const bend = reader === wire.end ? `M${x} ${y - r}q0 ${r} ${r} ${r}` : `M${x} ${y}`;
    return svg("g", { "data-reader": reader }, svg("path", { d: `${bend}H${gutter - 5}` }),
      svg("path", { d: `M${gutter - 1} ${y}l-6 -3v6z`, class: "tip" }), reader !== wire.end && svg("circle", { cx: x, cy: y, r: 2.2, class: "tip" }),
      svg("title", null, ports.map(visible).join("\n")));
  });
  return svg("g", { class: `wire hue-${wire.lane % 6}`, "data-wire": index },
    svg("path", { d: `M${gutter} ${start}H${x + r}q${-r} 0 ${-r} ${r}V${end - r}` }), branches);
}
