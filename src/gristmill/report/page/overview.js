// The head of the page, the funnel, the mixture, languages, lengths.

function head(run) {
  const documents = run.funnel.filter((step) => step.unit === "documents");
  const read = documents.length ? total(documents[0]) : 0;
  const left = documents.length ? total(documents[documents.length - 1]) : 0;
  const packed = run.packing;
  const work = sum(run.timing.map((row) => row.seconds));
  const peak = Math.max(0, ...run.timing.map((row) => row.peak_memory_bytes));
  const tiles = [
    [short(read), "rows read"],
    [short(left), `documents left, ${percent(left, read)}`],
    packed && [short(packed.tokens), `tokens packed, of ${packed.sources.length} ${packed.sources.length === 1 ? "source" : "sources"}`],
    packed && [percent(packed.tokens, packed.rows * packed.sequence_length), `of ${short(packed.rows)} rows filled`],
    [seconds(work), "at work"],
    [bytes(peak), "at most, a worker"],
  ];
  return el("header", { class: "top" },
    el("p", { class: "eyebrow" }, "Gristmill report"),
    el("h1", null, run.name),
    el("p", { class: "lead" }, sentence(run, read, left)),
    el("div", { class: "tiles", id: "tiles" }, tiles.filter(Boolean).map(([value, name]) => el("div", { class: "tile" }, el("b", null, value), el("span", null, name)))));
}

function sentence(run, read, left) {
  const rules = run.rules.filter((rule) => rule.dropped).sort((one, other) => other.dropped - one.dropped);
  const parts = [`${count(read)} rows of ${run.sources.length} ${run.sources.length === 1 ? "source" : "sources"} were read, `, el("b", null, count(left)), " documents are left"];
  if (rules.length) parts.push("; most fell to ", el("b", null, code(rules[0].rule)), ` (${count(rules[0].dropped)})`);
  const duplicates = sum(run.funnel.filter((step) => step.stage === "dedup").map((step) => sum(Object.values(step.gone).map((counts) => sum(Object.values(counts))))));
  if (duplicates) parts.push(`, and ${count(duplicates)} were duplicates`);
  return [...parts, "."];
}

const total = (step) => sum(Object.values(step.left));

function funnelSection(run) {
  const grid = el("div", { class: "steps" });
  const colors = colorsOf(run);
  for (const unit of ["documents", "tokens"]) {
    const steps = run.funnel.filter((step) => step.unit === unit);
    if (!steps.length) continue;
    const most = Math.max(...steps.map(total));
    grid.append(el("div", { class: "unit" }, unit));
    for (const step of steps) {
      const parts = [...colors.order, ...run.sources.filter((name) => !colors.order.includes(name))].map((name) => ({ name, value: step.left[name] || 0, color: colors.of(name) }));
      append(grid, [
        el("div", { class: "label" }, step.label),
        stackedBar(parts, most),
        el("div", { class: "number" }, count(total(step))),
        el("div", { class: "number soft" }, percent(total(step), total(steps[0]))),
        why(step),
      ]);
    }
  }
  return section("funnel", "From rows to tokens", "What each stage let through, source by source, and what it took away.",
    el("div", { class: "card" }, legend(sourceLegend(colors)), grid, bySource(run)));
}

function why(step) {
  const reasons = Object.entries(step.gone).map(([reason, counts]) => [reason, sum(Object.values(counts))]).sort((one, other) => other[1] - one[1]);
  const cut = step.cut.bytes ? `${bytes(step.cut.bytes)} cut out of ${plural(step.cut.documents, "document", "documents")}` : "";
  if (!reasons.length) return cut ? el("div", { class: "why" }, cut) : null;
  const shown = reasons.slice(0, 4).map(([reason, gone], at) => [at ? ", " : "", code(reason), ` ${count(gone)}`]);
  const rest = reasons.slice(4);
  if (rest.length) shown.push(`, and ${rest.length} more: ${count(sum(rest.map(([, gone]) => gone)))}`);
  return el("div", { class: "why" }, `${signed(-sum(reasons.map(([, gone]) => gone)))}: `, shown, cut && `; ${cut}`);
}

function bySource(run) {
  const headings = [{ name: "source" }, ...run.funnel.map((step) => ({ name: step.label, kind: "number" }))];
  const rows = run.sources.map((name) => ({ cells: [name, ...run.funnel.map((step) => (name in step.left ? count(step.left[name]) : ""))] }));
  rows.push({ total: true, cells: ["all", ...run.funnel.map((step) => count(total(step)))] });
  return el("details", null, el("summary", null, "Numbers by source"), table(headings, rows));
}

function mixtureSection(run) {
  if (!run.mixture.length) return null;
  const stages = [...new Set(run.mixture.map((share) => share.stage))];
  const most = 1.02 * Math.max(...run.mixture.map((share) => Math.max(share.requested_share, share.achieved_share)));
  const colors = colorsOf(run);
  const cards = stages.map((stage) => {
    const shares = run.mixture.filter((share) => share.stage === stage);
    const rows = shares.map((share) => ({ cells: [
      share.source,
      overlay([{ name: "achieved", value: share.achieved_share, color: colors.of(share.source) }], most, share.requested_share),
      percent(share.requested_share, 1), percent(share.achieved_share, 1), short(share.tokens), share.epochs.toFixed(2)] }));
    return el("div", { class: "card" }, stage && el("h3", null, stage), table(
      [{ name: "source" }, { name: "", kind: "wide" }, { name: "asked", kind: "number" }, { name: "achieved", kind: "number" }, { name: "tokens", kind: "number" }, { name: "epochs", kind: "number" }], rows));
  });
  return section("mixture", "Mixture", "The share of tokens that the recipe asks of each source, and the share that it got; a line marks what was asked. Epochs: how often its documents were drawn.", cards);
}

function languageSection(run) {
  if (!run.languages.length) return null;
  const read = sum(run.languages.map((row) => row.read));
  const most = Math.max(...run.languages.map((row) => row.read));
  const rows = run.languages.map((row) => ({ cells: [
    code(row.label),
    overlay([{ name: "read", value: row.read, color: "var(--gone-soft)" }, { name: "kept", value: row.kept, color: "var(--kept)" }], most),
    percent(row.read, read), count(row.read), count(row.kept), percent(row.kept, row.read)] }));
  return section("languages", "Languages", "As the language filter labels them: rows that could be read, and those that all filters keep.",
    el("div", { class: "card" }, legend([["kept", "var(--kept)"], ["dropped", "var(--gone-soft)"]]), table(
      [{ name: "label" }, { name: "", kind: "wide" }, { name: "share", kind: "number" }, { name: "read", kind: "number" }, { name: "kept", kind: "number" }, { name: "kept of read", kind: "number" }], rows)));
}

function lengthCard(title, data, kinds, lines) {
  if (!data) return null;
  const bins = data.edges.length - 1;
  const layers = kinds.filter(([kind]) => data.kinds[kind]).map(([kind, color]) => ({ counts: data.kinds[kind].counts, color }));
  const ticks = [[0, short(Math.round(data.edges[0]))], [bins, short(Math.round(data.edges[bins]))]];
  const powers = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((power) => 10 ** power).filter((value) => value > data.edges[0] && value < data.edges[bins]);
  const node = histogram(layers, spread([...ticks, ...powers.map((value) => [placeOf(value, data.edges), short(value)])], bins), { width: 470, height: 150, label: title });
  for (const [value, name] of lines || []) {
    if (value < data.edges[0] || value > data.edges[bins]) continue;
    const x = ((placeOf(value, data.edges) / bins) * 470).toFixed(2);
    const early = Number(x) < 330;
    node.append(svg("line", { x1: x, x2: x, y1: -4, y2: 151, stroke: "var(--bound)", "stroke-width": 1.5, "stroke-dasharray": "3 3" }),
      svg("text", { x: Number(x) + (early ? 4 : -4), y: 6, "text-anchor": early ? "start" : "end", style: "fill:var(--bound)" }, name));
  }
  const facts = kinds.filter(([kind]) => data.kinds[kind] && data.kinds[kind].documents).map(([kind]) => {
    const [low, middle, high, most] = data.kinds[kind].quantiles;
    return [kind === "tokens" ? "documents" : kind, count(data.kinds[kind].documents), count(low), count(middle), count(high), count(most)];
  });
  return el("div", { class: "card" }, el("h3", null, title), kinds.length > 1 ? legend(kinds) : null, node,
    el("div", { style: "margin-top:10px" }, table(["", "number", "5\u202f%", "median", "95\u202f%", "most"].map((name, at) => ({ name, kind: at ? "number" : null })), facts.map((cells) => ({ cells })))));
}

function lengthSection(run) {
  const row = run.packing ? [[run.packing.sequence_length, `row: ${count(run.packing.sequence_length)}`]] : [];
  const cards = [
    lengthCard("Bytes a document", run.lengths.bytes, [["kept", "var(--kept)"], ["dropped", "var(--gone)"]]),
    lengthCard("Tokens a document", run.lengths.tokens, [["tokens", "var(--s0)"]], row),
  ].filter(Boolean);
  return cards.length ? section("lengths", "Lengths", seenNote(run, "Documents by length, on a logarithmic axis."), el("div", { class: "columns" }, cards)) : null;
}

// Says where a chapter's counts are of some chunks only.
function seenNote(run, text) {
  const { chunks, of_chunks, rows, of_rows } = run.seen;
  return chunks < of_chunks ? `${text} Counted in ${count(chunks)} of ${count(of_chunks)} chunks: ${count(rows)} of ${count(of_rows)} rows.` : text;
}
