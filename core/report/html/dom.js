// Building blocks: elements, icons and texts. Nothing here or elsewhere turns text into markup.

const SVG = "http://www.w3.org/2000/svg";

function build(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

/** h("button", {class: "x", onclick: f}, "text", node, [nodes]) */
function h(tag, attributes, ...children) {
  return build(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return build(document.createElementNS(SVG, tag), attributes, children);
}

/** Characters that hide, or that turn the direction of what follows, are shown by their number. */
function visible(text) {
  return String(text).replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
}

/** A name from the record: its own writing direction, and places where it may break. */
function name(text, attributes) {
  const node = h("bdi", attributes);
  for (const piece of visible(text).split(/(?<=[_./])/)) node.append(piece, h("wbr"));
  node.lastChild?.remove();
  return node;
}

function heading(id) {
  const section = document.getElementById(id);
  section.hidden = false;
  return section;
}

/** A table that is named, and that scrolls by itself where the screen is too narrow for it. */
function scrolling(label, attributes, ...children) {
  return h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": label }, h("table", { ...attributes, "aria-label": label }, children));
}

const SHAPES = {
  pass: [["path", { d: "M8 1a7 7 0 1 1 0 14A7 7 0 0 1 8 1" }], ["path", { d: "M4.8 8.3l2.2 2.2 4.2-4.8", class: "cut" }]],
  fail: [["path", { d: "M5 1h6l4 4v6l-4 4H5l-4-4V5z" }], ["path", { d: "M5.5 5.5l5 5m0-5l-5 5", class: "cut" }]],
  warn: [["path", { d: "M8 1l7.3 13.5H.7z" }], ["path", { d: "M8 6v4m0 1.6v1", class: "cut" }]],
  vacuous: [["path", { d: "M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13", class: "hollow" }], ["path", { d: "M12.5 3.5l-9 9", class: "line" }]],
  none: [["path", { d: "M8 1.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13", class: "hollow" }]],
  done: [["path", { d: "M2 2h12v12H2z" }], ["path", { d: "M5 8h6", class: "cut" }]],
  skipped: [["path", { d: "M2 2h12v12H2z", class: "hollow" }], ["path", { d: "M5 8h6", class: "line" }]],
  error: [["path", { d: "M5 1h6l4 4v6l-4 4H5l-4-4V5z" }], ["path", { d: "M8 4v5m0 1.6v1", class: "cut" }]],
};
const LIKE = { crashed: "error", invalid: "error", incomplete: "none", interrupted: "warn" };

/** The mark of a verdict or status: a shape of its own, so that colour is never alone. */
function icon(verdict) {
  const shape = SHAPES[verdict] ?? SHAPES[LIKE[verdict]] ?? SHAPES.none;
  return svg("svg", { class: `icon is-${verdict ?? "none"}`, viewBox: "0 0 16 16", "aria-hidden": "true" },
    shape.map(([tag, attributes]) => svg(tag, attributes)));
}

function badge(verdict, text = verdict ?? "no verdict") {
  return h("span", { class: `badge is-${verdict ?? "none"}` }, icon(verdict), text);
}

/** Shows the first `limit` of `items` and a button for the rest. */
function capped(items, limit, render, container, noun) {
  container.append(...items.slice(0, limit).map(render));
  if (items.length <= limit) return null;
  const button = h("button", { type: "button", class: "more", onclick: () => {
    const rest = items.slice(limit).map(render);
    container.append(...rest);
    button.remove();
    (rest[0].querySelector("button, a, summary, [tabindex]") ?? container).focus();
  } }, `Show all ${grouped(items.length)} ${noun}`);
  return button;
}
