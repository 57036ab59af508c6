// What rules drop, and what other thresholds would keep.

function rulesSection(run) {
  if (!run.rules.length) return null;
  const ranked = [...run.rules].sort((one, other) => other.broken - one.broken || other.dropped - one.dropped);
  const active = ranked.filter((rule) => rule.broken || rule.dropped);
  const idle = ranked.filter((rule) => !rule.broken && !rule.dropped);
  const most = Math.max(1, ...active.map((rule) => rule.broken));
  const rows = active.map((rule) => ({ cells: [
    code(rule.rule),
    overlay([
      { name: "break it", value: rule.broken, color: "var(--gone-soft)" },
      { name: "break only this one", value: rule.alone || 0, color: "var(--gone)" }], most),
    count(rule.broken), rule.alone === null ? "" : count(rule.alone), count(rule.dropped)] }));
  const card = el("div", { class: "card" },
    legend([["caught by this rule only", "var(--gone)"], ["and by others too", "var(--gone-soft)"]]),
    table([{ name: "rule" }, { name: "", kind: "wide" }, { name: "break it", kind: "number" }, { name: "only it", kind: "number" }, { name: "counted for it", kind: "number" }], rows, true),
    idle.length ? el("details", null, el("summary", null, `${plural(idle.length, "rule", "rules")} dropped nothing`), el("p", { class: "small soft" }, idle.map((rule, at) => [at ? ", " : "", code(rule.rule)]))) : null);
  return section("rules", "What was dropped, and by which rule",
    "Every rule looks at every row. A row that breaks several is counted for the first of them; without one rule, only the rows that it alone caught would be kept.", card);
}

const FIRST_SHOWN = 9;

function thresholdSection(run) {
  if (!run.bounds.length) return null;
  const cards = run.bounds.map((bound) => thresholdCard(run, bound));
  const redraw = (scale) => cards.forEach((card) => card.draw(scale));
  const grids = [el("div", { class: "grid" }, cards.slice(0, FIRST_SHOWN).map((card) => card.node))];
  if (cards.length > FIRST_SHOWN) grids.push(el("details", null, el("summary", null, `${cards.length - FIRST_SHOWN} more thresholds, which drop less`),
    el("div", { class: "grid" }, cards.slice(FIRST_SHOWN).map((card) => card.node))));
  return section("thresholds", "Thresholds, and what others would keep",
    seenNote(run, "Rows by what the rule looks at. Move a threshold and read what the recipe would keep then, before deduplication, with all other rules as they are; that counts each row exactly, also those that other rules drop anyway."),
    el("div", { class: "legend" }, legend([["kept", "var(--kept)"], ["dropped by this rule", "var(--gone)"], ["dropped by another one", "var(--other)"]]), heightSwitch(redraw)),
    grids);
}

function heightSwitch(redraw) {
  const buttons = [["root", "root of counts"], ["even", "counts"]].map(([name, text]) => {
    const button = el("button", { type: "button", "aria-pressed": String(name === "root") }, text);
    button.addEventListener("click", () => {
      buttons.forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
      redraw(heights[name]);
    });
    return button;
  });
  return el("span", { class: "switch", "aria-label": "Heights" }, buttons);
}

function thresholdCard(run, bound) {
  const isMaximum = bound.side === "maximum";
  const bins = bound.all.length;
  const keeps = (bin, at) => (isMaximum ? bin <= at : bin > at);
  const others = bound.all.map((all, bin) => all - bound.spared[bin]);
  const keptAt = (at) => sum(bound.spared.filter((_, bin) => keeps(bin, at)));
  const breakAt = (at) => sum(bound.all.filter((_, bin) => !keeps(bin, at))) + bound.missing;
  const now = keptAt(bound.at);
  const rows = sum(bound.all) + bound.missing;

  const chart = el("div");
  // The thumb's middle stands under the line: it is 16 pixels wide, and the first edge is behind the first bin.
  const slider = el("input", { type: "range", style: `margin-left:calc(${100 / bins}% - 8px);width:calc(${(100 * (bins - 2)) / bins}% + 16px)`, min: 0, max: bound.edges.length - 1, step: 1, "aria-label": `threshold of ${bound.rule}` });
  slider.value = String(bound.at);
  const says = el("div", { class: "says", "aria-live": "polite" });
  const back = el("button", { type: "button" }, "as it is");
  const part = bound.sources.length < run.sources.length ? ` \u00b7 ${bound.sources.length > 3 ? `${bound.sources.length} sources` : bound.sources.join(", ")}` : "";
  const node = el("div", { class: "card threshold", "data-rule": bound.rule, "data-side": bound.side },
    el("div", { class: "head" }, el("h3", null, code(bound.rule)), back),
    el("p", { class: "signal" }, `${bound.signal.replace(/_/g, " ").split(".").pop()}, kept ${isMaximum ? "up to" : "from"} ${measure(bound.bound)}${part}`),
    chart, slider, says,
    bound.exact ? null : el("p", { class: "small note warn" }, "This rule looks at more than this one number, so the counts are near, not exact."));
  let scale = heights.root;

  function draw() {
    const at = Number(slider.value);
    const edge = (bin) => (bin < bound.edges.length ? measure(bound.edges[bin]) : "");
    const ticks = spread([[1, edge(0)], [bound.at + 1, edge(bound.at)], [bound.edges.length, edge(bound.edges.length - 1)]].map(([place, text]) => [Math.min(place, bins), text]), bins);
    const picture = histogram([
      { counts: bound.spared, color: (bin) => (keeps(bin, at) ? "var(--kept)" : "var(--gone)") },
      { counts: others, color: "var(--other)" }], ticks, { scale, label: `${bound.rule}: rows by ${bound.signal}` });
    const line = (place, dashed) => svg("line", { class: dashed ? "was" : "bound", x1: ((place + 1) * 320) / bins, x2: ((place + 1) * 320) / bins, y1: -3, y2: 94, stroke: "var(--bound)", "stroke-width": dashed ? 1 : 2, "stroke-dasharray": dashed ? "2 3" : null });
    append(picture, [at !== bound.at && line(bound.at, true), line(at, false)]);
    chart.replaceChildren(picture);
    const kept = keptAt(at);
    const change = kept - now;
    says.replaceChildren(
      el("span", null, `kept ${isMaximum ? "up to" : "from"} `, el("strong", { class: "at" }, measure(bound.edges[at]))),
      el("b", { class: "kept-count" }, `${count(kept)} of ${count(rows)}`),
      el("span", { class: "soft" }, "break this rule"), el("b", { class: "broken-count soft" }, count(breakAt(at))),
      el("span", { class: "soft" }, "against now"), el("b", null, el("em", { class: change > 0 ? "plus" : change < 0 ? "minus" : "soft" }, signed(change))));
    node.classList.toggle("moved", at !== bound.at);
  }
  slider.addEventListener("input", draw);
  back.addEventListener("click", () => { slider.value = String(bound.at); draw(); });
  draw();
  return { node, draw: (wanted) => { scale = wanted; draw(); } };
}
