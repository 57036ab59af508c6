// Documents, dropped and kept: searched, filtered, with the offending part marked.

const SHOWN_AT_ONCE = 12;

function samplesSection(run) {
  const all = run.samples || [];
  if (!all.length) return null;
  const texts = all.map((sample) => [sample.id, sample.url || "", ...sample.pieces.map(([text, kind]) => (kind === 2 ? "" : text))].join("").toLowerCase());
  const search = el("input", { type: "search", placeholder: "Search these texts, ids and addresses", "aria-label": "Search samples", id: "search" });
  const reasons = [...new Set(all.map((sample) => sample.reason))];
  const named = (reason) => `${reason || "kept"} (${all.filter((sample) => sample.reason === reason).length})`;
  const reason = el("select", { "aria-label": "Rule", id: "reason" }, el("option", { value: "*" }, "dropped and kept"), el("option", { value: "-" }, "all dropped"), reasons.map((name) => el("option", { value: `=${name}` }, named(name))));
  const source = el("select", { "aria-label": "Source", id: "source" }, el("option", { value: "" }, "all sources"), run.sources.map((name) => el("option", { value: name }, name)));
  const list = el("div", { id: "results" });
  const heading = el("p", { class: "small soft", id: "found", "aria-live": "polite" });
  const more = el("button", { type: "button" }, "Show more");
  let limit = SHOWN_AT_ONCE;

  function matching() {
    const wanted = search.value.trim().toLowerCase();
    return all.filter((sample, at) =>
      (reason.value === "*" || (reason.value === "-" ? sample.reason !== "" : reason.value === `=${sample.reason}`)) &&
      (!source.value || sample.source === source.value) && (!wanted || texts[at].includes(wanted)));
  }
  function show() {
    const found = matching();
    heading.textContent = `${count(found.length)} of ${count(all.length)} samples`;
    list.replaceChildren(...varied(found).slice(0, limit).map((sample) => sampleCard(sample, search.value.trim().toLowerCase())));
    more.hidden = found.length <= limit;
    list.querySelectorAll(".text").forEach(towardsMark);
  }
  for (const control of [search, reason, source]) control.addEventListener("input", () => { limit = SHOWN_AT_ONCE; show(); });
  more.addEventListener("click", () => { limit += 2 * SHOWN_AT_ONCE; show(); });
  show();
  return section("samples", "Samples", "Drawn by hash, the same each time. What a rule objects to is marked; long texts are cut around it.",
    el("div", { class: "controls" }, search, reason, source), heading, list, el("p", null, more));
}

// A text with many lines scrolls by itself: to its first mark.
function towardsMark(text) {
  const mark = text.querySelector("mark.found") || text.querySelector("mark");
  if (mark && text.scrollHeight > text.clientHeight) text.scrollTop = mark.offsetTop - 70;
}

// One of each reason first, then the second of each, and so on.
function varied(samples) {
  const seen = new Map();
  const turn = samples.map((sample) => { const number = seen.get(sample.reason) || 0; seen.set(sample.reason, number + 1); return number; });
  return samples.map((sample, at) => [turn[at], at, sample]).sort((one, other) => one[0] - other[0] || one[1] - other[1]).map(([, , sample]) => sample);
}

function sampleCard(sample, found) {
  const kept = sample.reason === "";
  return el("article", { class: "card sample", "data-reason": sample.reason },
    el("header", null,
      el("span", { class: kept ? "chip kept" : "chip" }, kept ? "kept" : code(sample.reason)),
      sample.measured && el("span", null, measuredText(sample.measured)),
      el("span", null, `${sample.source} \u00b7 `, el("span", { class: "mono" }, sample.id)),
      el("span", null, `${count(sample.characters)} characters`),
      sample.url && sample.url !== sample.id ? el("span", { class: "mono" }, sample.url) : null),
    pieces(sample.pieces, found),
    sample.also.length ? el("p", { class: "small soft", style: "margin:8px 0 0" }, "also breaks ", sample.also.slice(0, 3).map((name, at) => [at ? ", " : "", code(name)]), sample.also.length > 3 ? ` and ${count(sample.also.length - 3)} more` : "") : null);
}

function measuredText([signal, value, minimum, maximum]) {
  const bounds = [minimum !== null && `from ${measure(minimum)}`, maximum !== null && `up to ${measure(maximum)}`].filter(Boolean).join(" ");
  return `${signal.split(".").pop().replace(/_/g, " ")} ${measure(value)}, kept ${bounds}`;
}

function duplicateSection(run) {
  const found = (run.duplicates || []).filter((one) => one.documents || one.bytes);
  if (!found.length) return null;
  return section("duplicates", "Duplicates", "Of each cluster the first document stays. In pairs, words that both have are marked.", found.map(duplicateCard));
}

function duplicateCard(one) {
  const most = Math.max(1, ...one.sizes.map(([, , documents]) => documents));
  const sizes = one.sizes.length ? table(
    [{ name: "in a cluster" }, { name: "", kind: "wide" }, { name: "clusters", kind: "number" }, { name: "documents", kind: "number" }],
    one.sizes.map(([name, clusters, documents]) => ({ cells: [name, overlay([{ name: "documents", value: documents, color: "var(--s6)" }], most), count(clusters), count(documents)] }))) : null;
  const largest = one.largest.filter((cluster) => cluster.pieces);
  return el("div", { class: "card" },
    el("h3", null, el("code", null, one.name), ` took away ${count(one.documents)} documents, ${bytes(one.bytes)}`), sizes,
    largest.length ? el("details", null, el("summary", null, "The largest clusters"), largest.map((cluster) => el("div", { class: "card sample" },
      el("header", null, el("span", { class: "chip" }, `${count(cluster.size)} alike`), el("span", { class: "mono" }, cluster.id), el("span", null, cluster.place)), pieces(cluster.pieces)))) : null,
    one.pairs.length ? el("details", { open: "" }, el("summary", null, "Some pairs"), one.pairs.map(pairCard)) : null);
}

function pairCard(pair) {
  const side = (name, kind, one) => el("div", null, el("header", null, el("span", { class: `chip${kind}` }, name), el("span", { class: "mono" }, one.id), el("span", null, one.place)), pieces(one.pieces));
  return el("div", { class: "card sample" }, el("p", { class: "small soft", style: "margin:0 0 8px" }, `${percent(pair.share, 1)} of the words in common`),
    el("div", { class: "pair common" }, side("goes", "", pair.gone), side("stays", " kept", pair.stays)));
}
