// Charts: bars only. Everything is drawn in the units of a viewBox and scales with the page.

// Heights: the square root shows a tail beside a peak; counts are proportional.
const heights = { root: Math.sqrt, even: (value) => value };

function stackedBar(parts, whole, thin) {
  return el("div", { class: thin ? "bar thin" : "bar" }, parts.map((part) =>
    el("i", { style: `width:${whole ? (100 * part.value) / whole : 0}%;background:${part.color}`, title: `${part.name}: ${count(part.value)}` })));
}

// Bars over each other, the longest first; `tick` is a mark at a value.
function overlay(parts, whole, tick) {
  return el("div", { class: "overlay" }, tick === undefined ? null : el("b", { style: `left:${(100 * tick) / whole}%` }), parts.map((part) =>
    el("i", { style: `width:${whole ? Math.max((100 * part.value) / whole, part.value ? 0.6 : 0) : 0}%;background:${part.color}`, title: `${part.name}: ${count(part.value)}` })));
}

// Bars in layers over bins side by side. Each layer: {counts, color}; `ticks`: [[bin edge, text]]; `line`: an edge.
function histogram(layers, ticks, options) {
  const width = (options && options.width) || 320, height = (options && options.height) || 92, floor = height + 1;
  const scale = (options && options.scale) || heights.even;
  const bins = layers[0].counts.length;
  const most = Math.max(1, ...layers[0].counts.map((_, bin) => scale(sum(layers.map((layer) => layer.counts[bin])))));
  const step = width / bins;
  const node = svg("svg", { viewBox: `0 0 ${width} ${height + 20}`, role: "img", "aria-label": (options && options.label) || null });
  for (let bin = 0; bin < bins; bin += 1) {
    let below = 0;
    for (const layer of layers) {
      const from = scale(below);
      below += layer.counts[bin];
      const tall = ((scale(below) - from) / most) * height;
      if (layer.counts[bin]) node.append(svg("rect", {
        x: (bin * step + step * 0.06).toFixed(2), width: (step * 0.88).toFixed(2),
        y: (height - (from / most) * height - Math.max(tall, from ? 0 : 1)).toFixed(2), height: Math.max(tall, from ? 0 : 1).toFixed(2),
        fill: typeof layer.color === "function" ? layer.color(bin) : layer.color,
      }));
    }
  }
  node.append(svg("line", { x1: 0, x2: width, y1: floor, y2: floor, stroke: "var(--line)" }));
  for (const [edge, text, anchor] of ticks) node.append(svg("text", {
    x: (edge < bins * 0.04 ? 0 : edge > bins * 0.96 ? width : edge * step).toFixed(2), y: height + 15, "text-anchor": anchor || (edge < bins * 0.04 ? "start" : edge > bins * 0.96 ? "end" : "middle") }, text));
  return node;
}

// The place of a value on an axis of edges, in bins.
function placeOf(value, edges) {
  let at = 0;
  while (at < edges.length - 1 && edges[at + 1] <= value) at += 1;
  const width = edges[at + 1] - edges[at];
  return Math.min(edges.length - 1, at + (width > 0 ? Math.max(0, (value - edges[at]) / width) : 0));
}

function spread(texts, bins) {
  // Keep labels that do not run into each other, the first and the last before those between.
  const kept = [];
  for (const [edge, text] of texts)
    if (kept.every(([other]) => Math.abs(other - edge) > bins * 0.17)) kept.push([edge, text]);
  return kept;
}
