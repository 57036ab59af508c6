// Two runs side by side.

function comparePage(evidence) {
  const [one, other] = evidence.runs;
  const top = el("header", { class: "top" }, el("p", { class: "eyebrow" }, "Gristmill report: two runs"), el("h1", null, `${one.name} and ${other.name}`),
    el("p", { class: "lead" }, "The first is ", el("b", null, one.name), ", the second ", el("b", null, other.name), "; differences are second minus first."));
  page(top, [changesSection(evidence), compareFunnel(one, other), compareRules(one, other), compareMixture(one, other), compareLengths(one, other), compareTime(one, other)], one.version);
}

// Green where more is left, red where less is; `gone`: of what is dropped, the other way round.
function difference(value, from, gone) {
  const better = gone ? from - value : value - from;
  return el("span", { class: better > 0 ? "plus" : better < 0 ? "minus" : "soft" }, signed(value - from));
}
const twoColumns = (one, other) => [{ name: one.name, kind: "number" }, { name: other.name, kind: "number" }, { name: "difference", kind: "number" }];

function changesSection(evidence) {
  const rows = evidence.changes.map(({ place, before, after }) => ({ cells: [code(place), el("code", null, before), el("code", null, after)] }));
  return section("recipe", "What changed in the recipe", null, el("div", { class: "card" },
    rows.length ? table([{ name: "where" }, { name: evidence.runs[0].name }, { name: evidence.runs[1].name }], rows) : el("p", { class: "soft", style: "margin:0" }, "Nothing: both recipes are the same.")));
}

function compareFunnel(one, other) {
  const key = (step) => `${step.unit}: ${step.label}`;
  const names = [...new Set([...one.funnel, ...other.funnel].map(key))];
  const rows = names.map((name) => {
    const [from, to] = [one, other].map((run) => sum(run.funnel.filter((step) => key(step) === name).map(total)));
    return { cells: [name, count(from), count(to), difference(to, from), from ? percent(to - from, from) : ""] };
  });
  return section("funnel", "From rows to tokens", null, el("div", { class: "card" }, table([{ name: "" }, ...twoColumns(one, other), { name: "", kind: "number" }], rows, true)));
}

function compareRules(one, other) {
  const of = (run, name) => run.rules.find((rule) => rule.rule === name) || { broken: 0, dropped: 0 };
  const names = [...new Set([...one.rules, ...other.rules].map((rule) => rule.rule))];
  const changed = names.map((name) => [name, of(one, name).broken, of(other, name).broken]).filter(([, from, to]) => from || to)
    .sort((first, second) => Math.abs(second[2] - second[1]) - Math.abs(first[2] - first[1]));
  if (!changed.length) return null;
  const most = Math.max(1, ...changed.map(([, from, to]) => Math.abs(to - from)));
  const headings = [{ name: "rule" }, { name: "", kind: "wide" }, ...twoColumns(one, other)];
  const listed = (some) => table(headings, some.map(([name, from, to]) => ({ cells: [code(name), diverging(to - from, most), count(from), count(to), difference(to, from, true)] })), true);
  const same = changed.filter(([, from, to]) => from === to);
  const moved = changed.filter(([, from, to]) => from !== to);
  return section("rules", "Rows that break each rule", "To the left fewer than in the first run, to the right more.", el("div", { class: "card" },
    moved.length ? listed(moved) : null,
    same.length ? el("details", null, el("summary", null, `${plural(same.length, "rule", "rules")} as before`), listed(same)) : null));
}

function diverging(value, most) {
  const wide = (50 * Math.abs(value)) / most;
  return el("div", { class: "diverge" }, el("i", { style: `width:${wide}%;${value < 0 ? "right" : "left"}:50%;background:${value < 0 ? "var(--kept)" : "var(--gone)"}` }));
}

function compareMixture(one, other) {
  const key = (share) => [share.stage, share.source].filter(Boolean).join(": ");
  const names = [...new Set([...one.mixture, ...other.mixture].map(key))];
  if (!names.length) return null;
  const rows = names.map((name) => {
    const [from, to] = [one, other].map((run) => run.mixture.find((share) => key(share) === name));
    const share = (of, field) => (of ? percent(of[field], 1) : "");
    return { cells: [name, share(from, "requested_share"), share(from, "achieved_share"), share(to, "requested_share"), share(to, "achieved_share"), difference(to ? to.tokens : 0, from ? from.tokens : 0)] };
  });
  return section("mixture", "Mixture", null, el("div", { class: "card" }, table([{ name: "source" }, ...[one, other].flatMap((run) => [{ name: `${run.name}: asked`, kind: "number" }, { name: "achieved", kind: "number" }]), { name: "tokens", kind: "number" }], rows)));
}

function compareLengths(one, other) {
  const cards = [one, other].map((run, at) => lengthCard(`Tokens a document, ${run.name}`, run.lengths.tokens, [["tokens", sourceColor(at)]])).filter(Boolean);
  return cards.length ? section("lengths", "Lengths", null, el("div", { class: "columns" }, cards)) : null;
}

function compareTime(one, other) {
  const names = [...new Set([...one.timing, ...other.timing].map((row) => row.stage))];
  const of = (run, name) => sum(run.timing.filter((row) => row.stage === name).map((row) => row.seconds));
  const rows = names.map((name) => ({ cells: [name, seconds(of(one, name)), seconds(of(other, name))] }));
  return names.length ? section("time", "Time", null, el("div", { class: "card" }, table([{ name: "stage" }, { name: one.name, kind: "number" }, { name: other.name, kind: "number" }], rows))) : null;
}
