// Building blocks. Whatever comes from data becomes a text node or a number: nothing is ever parsed as HTML.
const SVG = "http://www.w3.org/2000/svg";

function append(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) if (value !== null) node.setAttribute(name, value);
  return append(node, children);
}

function svg(tag, attributes, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes || {})) if (value !== null) node.setAttribute(name, value);
  return append(node, children);
}

const grouped = new Intl.NumberFormat("en-US");
const count = (value) => grouped.format(Math.round(value));
const signed = (value) => (value > 0 ? "+" : value < 0 ? "\u2212" : "\u00b1") + count(Math.abs(value));

function percent(part, whole) {
  if (!whole) return "\u2013";
  const share = (100 * part) / whole;
  return `${share.toFixed(share !== 0 && Math.abs(share) < 0.995 ? 2 : 1)}\u202f%`.replace("-", "\u2212");
}

function short(value) {
  for (const [size, name] of [[1e12, "T"], [1e9, "B"], [1e6, "M"]])
    if (value >= size) return `${(value / size).toPrecision(3)}\u202f${name}`;
  return value >= 1e5 ? `${(value / 1e3).toPrecision(3)}\u202fk` : count(value);
}

function bytes(value) {
  for (const [size, name] of [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"]])
    if (value >= size) return `${(value / size).toPrecision(3)}\u202f${name}`;
  return `${count(value)}\u202fB`;
}

function seconds(value) {
  if (value < 60) return `${value.toFixed(value < 10 ? 2 : 1)}\u202fs`;
  const minutes = Math.floor(value / 60);
  return minutes < 60 ? `${minutes}\u202fmin ${Math.round(value % 60)}\u202fs` : `${Math.floor(minutes / 60)}\u202fh ${minutes % 60}\u202fmin`;
}

function measure(value) {
  if (value === null) return "nothing to measure";
  const size = Math.abs(value);
  if (Number.isInteger(value) || size >= 1000) return count(value);
  return String(Number(value.toPrecision(size < 1 ? 3 : 4)));
}

const plural = (number, one, several) => `${count(number)} ${number === 1 ? one : several}`;
const sum = (values) => values.reduce((total, value) => total + value, 0);
const COLORS = 8;
const sourceColor = (number) => (number >= 0 && number < COLORS ? `var(--s${number})` : "var(--other)");

// Colors for the largest sources, in their own order; where there are more than colors, the others share a grey.
function colorsOf(run) {
  const last = run.funnel.length ? run.funnel[run.funnel.length - 1].left : {};
  const ranked = [...run.sources].sort((one, other) => (last[other] || 0) - (last[one] || 0));
  const named = new Set(ranked.slice(0, run.sources.length > COLORS ? COLORS - 1 : COLORS));
  const order = run.sources.filter((name) => named.has(name));
  return { order, of: (name) => sourceColor(order.indexOf(name)), others: run.sources.length - order.length };
}

function sourceLegend(colors) {
  const others = colors.others ? [[plural(colors.others, "other", "others"), "var(--other)"]] : [];
  return [...colors.order.map((name) => [name, colors.of(name)]), ...others];
}

// A name with dots and underscores, which may be broken behind them.
function code(text) {
  return el("code", null, String(text).split(/(?<=[._])/).map((part, at) => [at ? el("wbr") : null, part]));
}

function section(id, title, note, ...children) {
  return el("section", { id }, el("h2", null, title), note && el("p", { class: "note" }, note), ...children);
}

// `tall`: on a narrow screen the first cell of a row stands above the others.
function table(headings, rows, tall) {
  const cell = (tag) => (content, at) => el(tag, { class: headings[at].kind || null }, content);
  return el("div", { class: "scroll" }, el("table", tall ? { class: "tall", style: `--columns:${headings.filter((heading) => heading.kind === "number").length}` } : null,
    el("thead", null, el("tr", null, headings.map((heading, at) => cell("th")(heading.name, at)))),
    el("tbody", null, rows.map((row) => el("tr", row.total ? { class: "total" } : null, row.cells.map(cell("td")))))));
}

function legend(items) {
  return el("div", { class: "legend" }, items.map(([name, color]) => el("span", null, el("i", { style: `background:${color}` }), name)));
}

// A text in pieces: [text, 0 plain | 1 marked | 2 left out, then the number of characters].
function pieces(parts, found) {
  const shown = parts.map(([text, kind]) => {
    if (kind === 2) return el("span", { class: "cut" }, `\u2026 ${count(Number(text))} characters \u2026`);
    return kind === 1 ? el("mark", null, highlighted(text, found)) : highlighted(text, found);
  });
  return el("p", { class: "text", dir: "auto", tabindex: "0" }, shown);
}

function highlighted(text, found) {
  if (!found) return [text];
  const parts = [];
  const folded = text.toLowerCase();
  let at = 0;
  if (folded.length !== text.length) return [text];
  for (let place = folded.indexOf(found); place >= 0; place = folded.indexOf(found, at)) {
    parts.push(text.slice(at, place), el("mark", { class: "found" }, text.slice(place, place + found.length)));
    at = place + found.length;
  }
  return [...parts, text.slice(at)];
}
