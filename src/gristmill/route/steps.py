"""The whole route as a generator: yields groups of steps, takes their records back, keeps the ledger.

Whoever drives it decides what "carry out" means: a run brings the steps up to date, a plan only looks.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path

from gristmill.engine.ledger import Entry, Ledger, total
from gristmill.engine.record import Record
from gristmill.engine.step import Step
from gristmill.recipe import Recipe
from gristmill.route import cut_dedup, dedup, judge, mix, pack, sift, sketch, tokenize, tokenizer
from gristmill.route.shards import SourceShards, of_step
from gristmill.route.survivors import SiftedChunk
from gristmill.units import cuts, split_at_first_cut

FIRST_WORK = "gristmill.route.sift:warm_up"
Steps = Generator[list[Step], list[list[Record]], Callable[[], None]]


def steps_of(recipe: Recipe, output: Path, workers: int, ledger: Ledger) -> Steps:
    """sift → dedup → tokenize → mix → pack. Raises a GristmillError where a stage leaves nothing.

    Reads, but writes nothing: what it returns at its end writes the last files.
    """
    spec = tokenizer.load(recipe.tokenizer, None) if recipe.tokenizer.train is None else None
    sift_steps = [sift.step(recipe, source, sift.chunks_of(source, recipe.output.chunk)) for source in recipe.sources]
    sifted = yield sift_steps
    judge_steps = [judge.step(recipe, *both, output) for both in zip(sift_steps, sifted, strict=True)]
    judged = yield judge_steps
    chunks: list[SiftedChunk] = []
    for source, sift_records, judge_records in zip(recipe.sources, sifted, judged, strict=True):
        entry = _sift_entry(source.name, sift_records, judge_records)
        if (error := sift.unreadable_error(source, sift_records, entry.gone)) is not None:
            raise error
        ledger.add(entry)
        chunks += [
            SiftedChunk(source.name, number, output, *both)
            for number, both in enumerate(zip(sift_records, judge_records, strict=True))
        ]
    ledger.require_some("sift")

    upstream: tuple[Step, ...] = (*sift_steps, *judge_steps)
    sketched, _ = split_at_first_cut(recipe.dedup)
    for number, unit in enumerate(recipe.dedup):
        if cuts(unit):
            upstream = yield from cut_dedup.steps_of(unit, chunks, upstream, ledger)
            continue
        sketches = dedup.of_sift(chunks)
        if number >= len(sketched):
            sketch_steps = sketch.steps(unit, chunks, upstream)
            made = yield sketch_steps
            sketches = [
                (step.name, file)
                for step, records in zip(sketch_steps, made, strict=True)
                for record in records
                for file in record.files
            ]
            upstream = (*upstream, *sketch_steps)
        dedup_step = dedup.step(unit, chunks, sketches, recipe.engine.memory // 2, max(workers, 1), upstream)
        [[record]] = yield [dedup_step]
        upstream = (*upstream, dedup_step)
        by_place = {f"{chunk.source}/{chunk.stem}.parquet": chunk for chunk in chunks}
        for file in record.files:
            by_place[file.path].drops.append((dedup_step.name, file))
        for source in recipe.sources:
            entered = ledger.left(source.name, "documents")
            gone = record.counts["dropped"].get(source.name, 0)
            ledger.add(Entry("dedup", source.name, "documents", entered, entered - gone, {unit.name: gone}))
    if recipe.dedup:
        ledger.require_some("dedup")

    if recipe.tokenizer.train is not None:
        training = tokenizer.training_step(recipe.tokenizer.train, chunks, upstream)
        yield [training]
        spec = tokenizer.load(recipe.tokenizer, output / training.name)
    assert spec is not None, "a recipe names a tokenizer or trains one"
    spec_step = tokenizer.spec_step(spec)
    yield [spec_step]

    tokenize_steps = tokenize.steps(chunks, spec, output / spec_step.name, (*upstream, spec_step))
    tokenized = yield tokenize_steps
    shards: list[SourceShards] = []
    for source, step, records in zip(recipe.sources, tokenize_steps, tokenized, strict=True):
        shards.append(of_step(source.name, step, records, output))
        docs = sum(record.counts["docs"] for record in records)
        tokens = sum(record.counts["tokens"] for record in records)
        ledger.add(Entry("tokenize", source.name, "documents", docs, docs))
        ledger.add(Entry("tokenize", source.name, "tokens", tokens, tokens))

    mix_step = mix.step(recipe, shards, tuple(tokenize_steps))
    [[mixed]] = yield [mix_step]
    for book in mixed.counts["books"]["sources"]:
        ledger.add(mix.entry(book))
    ledger.require_some("mix")

    pack_step = pack.step(recipe, mixed, output / mix_step.name, shards, spec, (*tokenize_steps, mix_step))
    [packed] = yield [pack_step]
    for entry in pack.entries(shards, packed, recipe.pack.sequence_length):
        ledger.add(entry)
    ledger.require_some("pack")
    return lambda: pack.write_manifest(output / pack_step.name, pack.layout_of(recipe, shards, spec), spec, packed)


def _sift_entry(source: str, sifted: list[Record], judged: list[Record]) -> Entry:
    counts = total({key: record.counts[key] for key in sift.COUNTS} for record in sifted)
    gone = total(record.counts["dropped"] for record in judged)
    kept = total({key: record.counts[key] for key in ("kept", "kept_bytes")} for record in judged)
    tables: dict[str, dict[str, dict[str, int]]] = {"rules": {}, "histograms": {}}
    for table, summed in tables.items():
        for record in judged:
            for name, numbers in record.counts[table].items():
                summed[name] = total([summed.get(name, {}), numbers])
    details = {
        "read_bytes": counts.get("read_bytes", 0),
        "cleaned_bytes": counts.get("cleaned_bytes", 0),
        "rewritten_bytes": counts.get("rewritten_bytes", 0),
        "kept_bytes": kept.get("kept_bytes", 0),
        "bounds": judged[0].counts["bounds"] if judged else {},
        **tables,
    }
    return Entry("sift", source, "documents", counts.get("rows", 0), kept.get("kept", 0), gone, details)
