"""The whole route as a generator: yields groups of steps, takes their records back, keeps the ledger.

Whoever drives it decides what "carry out" means: a run brings the steps up to date, a plan only looks.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path

from gristmill.engine.ledger import Entry, Ledger, total
from gristmill.engine.record import Record, WrittenFile
from gristmill.engine.step import Step
from gristmill.recipe import Recipe
from gristmill.route import dedup, mix, pack, sift, tokenize, tokenizer
from gristmill.route.dedup import SiftedChunk
from gristmill.route.shards import SourceShards, of_step

Steps = Generator[list[Step], list[list[Record]], Callable[[], None]]


def steps_of(recipe: Recipe, output: Path, workers: int, ledger: Ledger) -> Steps:
    """sift → dedup → tokenize → mix → pack. Raises a GristmillError where a stage leaves nothing.

    Reads, but writes nothing: what it returns at its end writes the last files.
    """
    sift_steps = [sift.step(recipe, source, sift.chunks_of(source, recipe.output.chunk)) for source in recipe.sources]
    sifted = yield sift_steps
    chunks: list[SiftedChunk] = []
    for source, step, records in zip(recipe.sources, sift_steps, sifted, strict=True):
        if (error := sift.unreadable_error(source, records)) is not None:
            raise error
        chunks += [SiftedChunk(source.name, n, output / step.name, record) for n, record in enumerate(records)]
        ledger.add(_sift_entry(source.name, records))
    ledger.require_some("sift")

    dedup_steps: list[Step] = []
    drop_files: dict[tuple[str, int], list[tuple[Path, WrittenFile]]] = {}
    for unit in recipe.dedup:
        dedup_step = dedup.step(unit, chunks, recipe.engine.memory // 2, max(workers, 1), tuple(sift_steps))
        [[record]] = yield [dedup_step]
        dedup_steps.append(dedup_step)
        for file in record.files:
            source_name, _, file_name = file.path.partition("/")
            place = (source_name, int(file_name.removesuffix(".parquet")))
            drop_files.setdefault(place, []).append((output / dedup_step.name / file.path, file))
        for source in recipe.sources:
            entered = ledger.left(source.name, "documents")
            gone = record.counts["dropped"].get(source.name, 0)
            ledger.add(Entry("dedup", source.name, "documents", entered, entered - gone, {unit.name: gone}))

    upstream = (*sift_steps, *dedup_steps)
    trained: Path | None = None
    if recipe.tokenizer.train is not None:
        training = tokenizer.training_step(recipe.tokenizer.train, chunks, drop_files, upstream)
        yield [training]
        trained = output / training.name
    spec = tokenizer.load(recipe.tokenizer, trained)
    spec_step = tokenizer.spec_step(spec)
    yield [spec_step]

    tokenize_steps = tokenize.steps(chunks, drop_files, spec, output / spec_step.name, (*upstream, spec_step))
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


def _sift_entry(source: str, records: list[Record]) -> Entry:
    counts = total({key: record.counts[key] for key in sift.COUNTS} for record in records)
    gone = total(record.counts["dropped"] for record in records)
    details = {key: counts.get(key, 0) for key in sift.COUNTS if key not in ("rows", "kept")}
    return Entry("sift", source, "documents", counts.get("rows", 0), counts.get("kept", 0), gone, details)
