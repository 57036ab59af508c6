// Packed rows, and where the time went.

function packingSection(run) {
  const packed = run.packing;
  if (!packed) return null;
  const places = packed.rows * packed.sequence_length;
  const facts = [
    ["strategy", packed.strategy], ["rows", count(packed.rows)], ["places a row", count(packed.sequence_length)],
    ["tokens", `${count(packed.tokens)} (${percent(packed.tokens, places)} of the places)`],
    ["padding", `${count(packed.padding)} (${percent(packed.padding, places)})`], ["cropped", count(packed.cropped)], ["vocabulary", count(packed.vocabulary)]];
  return section("rows", "Packed rows", "Rows at even distances, as a trainer reads them: a part for each document, in the color of its source; striped where a document goes on from another row.",
    el("div", { class: "facts" }, facts.map(([name, value]) => el("span", null, `${name} `, el("b", null, value)))),
    packed.stages.map((stage) => el("div", { class: "card" },
      stage.name ? el("h3", null, stage.name) : null,
      legend([...sourceLegend(colorsOf(run)), ["padding", "var(--track)"]]),
      rowsPicture(run, stage), documentsARow(stage))));
}

function rowsPicture(run, stage) {
  const { sequence_length: width, sources } = run.packing;
  const colors = colorsOf(run);
  const part = ([start, stop, source, document, token]) => el("i", {
    class: token ? "further" : null,
    style: `left:${(100 * start) / width}%;width:${(100 * (stop - start)) / width}%;background-color:${colors.of(sources[source])}`,
    title: `${sources[source]}, document ${count(document)}${token ? ` from token ${count(token)}` : ""}: ${count(stop - start)} tokens` });
  return el("div", { class: "packed", role: "img", "aria-label": "packed rows" }, stage.picture.map((row) =>
    [el("span", null, count(row.row)), el("div", null, row.parts.map(part))]));
}

function documentsARow(stage) {
  const bins = stage.documents.map((rows, documents) => [documents, rows]).filter(([, rows]) => rows);
  if (bins.length < 2) return el("p", { class: "small soft" }, bins.length ? `Every row holds parts of ${count(bins[0][0])} ${bins[0][0] === 1 ? "document" : "documents"}.` : "");
  const rows = sum(stage.documents);
  const mean = sum(stage.documents.map((number, documents) => number * documents)) / rows;
  const most = bins[bins.length - 1][0];
  let running = 0;
  const median = stage.documents.findIndex((number) => { running += number; return running * 2 >= rows; });
  return el("p", { class: "small soft" }, `Parts of documents in a row: ${mean.toFixed(2)} on average, ${count(median)} in the median, ${count(most)} at most${stage.looked_at < stage.rows ? ` (in ${count(stage.looked_at)} rows at even distances)` : ""}.`);
}

function timeSection(run) {
  if (!run.timing.length) return null;
  const whole = sum(run.timing.map((row) => row.seconds));
  const most = Math.max(...run.timing.map((row) => row.seconds));
  const rows = run.timing.map((row) => ({ cells: [
    row.stage, overlay([{ name: "seconds", value: row.seconds, color: "var(--s0)" }], most), seconds(row.seconds), seconds(row.task_seconds),
    row.input_bytes ? `${bytes(row.input_bytes / Math.max(row.seconds, 1e-3))}/s` : "", count(row.tasks), bytes(row.written_bytes), bytes(row.peak_memory_bytes)] }));
  rows.push({ total: true, cells: ["all", "", seconds(whole), seconds(sum(run.timing.map((row) => row.task_seconds))), "", count(sum(run.timing.map((row) => row.tasks))),
    bytes(sum(run.timing.map((row) => row.written_bytes))), bytes(Math.max(...run.timing.map((row) => row.peak_memory_bytes)))] });
  return section("time", "Time, speed, memory", "From the tasks\u2019 records: the time in which at least one task of a stage was at work, the tasks\u2019 own time added up, and the most that one worker held.",
    el("div", { class: "card" }, table([{ name: "stage" }, { name: "", kind: "wide roomy" }, { name: "time", kind: "number" }, { name: "of tasks", kind: "number" }, { name: "speed", kind: "number" }, { name: "tasks", kind: "number" }, { name: "written", kind: "number" }, { name: "memory", kind: "number" }], rows)));
}

function recipeSection(run) {
  return section("recipe", "Recipe", "As it was carried out, defaults filled in.", el("div", { class: "card" }, el("details", { style: "margin:0" }, el("summary", null, "recipe.yaml"), el("pre", null, run.recipe))));
}
