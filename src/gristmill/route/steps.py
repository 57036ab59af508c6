"""The whole route as a generator: yields groups of steps, takes their records back, keeps the ledger.

Whoever drives it decides what "carry out" means: a run brings the steps up to date, a plan only looks.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import NamedTuple

from gristmill.engine.ledger import Entry, Ledger, total
from gristmill.engine.record import Record
from gristmill.engine.step import Step
from gristmill.formats.row_file import Layout
from gristmill.recipe import Recipe
from gristmill.route import dedup, judge, mix, pack, sift, texts, tokenize, tokenizer
from gristmill.route.shards import SourceShards, of_step
from gristmill.route.survivors import SiftedChunk
from gristmill.tokens.tokenizer import TokenizerSpec

Steps = Generator[list[Step], list[list[Record]], Callable[[], list[Path]]]


def steps_of(recipe: Recipe, output: Path, workers: int, ledger: Ledger) -> Steps:
    """sift → dedup → tokenize → mix → pack. Raises a GristmillError where a stage leaves nothing.

    Reads, but writes nothing: what it returns at its end writes the last files, and says which.
    """
    spec = tokenizer.load(recipe.tokenizer, None) if recipe.tokenizer.train is None else None
    sift.check_access(recipe)
    chunk_bytes, tasks = recipe.output.chunk, recipe.output.tasks
    sift_steps = [sift.step(recipe, source, sift.chunks_of(source, chunk_bytes, tasks)) for source in recipe.sources]
    sifted = yield sift_steps
    judge_steps = [
        judge.step(recipe, source, sift_step, records, output)
        for source, sift_step, records in zip(recipe.sources, sift_steps, sifted, strict=True)
    ]
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

    deduplicated = yield from dedup.steps_of(recipe, output, chunks, (*sift_steps, *judge_steps), workers, ledger)
    upstream = deduplicated.reads

    if recipe.output.texts:
        yield texts.steps(recipe, chunks, upstream)

    if recipe.tokenizer.train is not None:
        training = tokenizer.training_step(recipe.tokenizer.train, chunks, upstream)
        yield [training]
        spec = tokenizer.load(recipe.tokenizer, output / training.name)
    assert spec is not None, "a recipe names a tokenizer or trains one"
    spec_step = tokenizer.spec_step(spec)
    yield [spec_step]

    tokenize_steps = tokenize.steps(
        chunks, spec, output / spec_step.name, recipe.tokenizer.min_tokens, (*upstream, spec_step)
    )
    tokenized = yield tokenize_steps
    shards: list[SourceShards] = []
    for source, step, records in zip(recipe.sources, tokenize_steps, tokenized, strict=True):
        shards.append(of_step(source.name, step, records, output))
        for entry in tokenize.entries(source.name, records, recipe.tokenizer.min_tokens):
            ledger.add(entry)
    ledger.require_some("tokenize")

    packed = yield from mixed_and_packed(recipe, output, shards, spec, tuple(tokenize_steps), ledger)

    def finish() -> list[Path]:
        written = pack.write_manifests(output, packed.layout, spec, packed.stages, packed.records)
        for publish in deduplicated.publish:
            publish()
        return written

    return finish


class Packed(NamedTuple):
    """What the end of the route left, stage by stage."""

    stages: list[mix.Asked]
    layout: Layout
    steps: list[Step]
    records: list[list[Record]]


def mixed_and_packed(
    recipe: Recipe,
    output: Path,
    shards: Sequence[SourceShards],
    spec: TokenizerSpec,
    tokenize_steps: tuple[Step, ...],
    ledger: Ledger,
) -> Generator[list[Step], list[list[Record]], Packed]:
    """mix → pack: the end of the route, from token shards on."""
    stages = list(mix.stages_of(recipe))
    mix_steps: list[Step] = []
    mixed: list[Record] = []
    for asked in stages:
        mix_steps.append(mix.step(recipe, asked, shards, mixed, tokenize_steps))
        [[record]] = yield [mix_steps[-1]]
        mixed.append(record)
    for entry in mix.entries(stages, mixed):
        ledger.add(entry)
    ledger.require_some("mix")

    layout = pack.layout_of(recipe, shards, spec)
    pack_steps = [
        pack.step(layout, asked, record, output, shards, (*tokenize_steps, mix_step))
        for asked, record, mix_step in zip(stages, mixed, mix_steps, strict=True)
    ]
    packed = yield pack_steps
    for entry in pack.entries(shards, packed, layout.sequence_length):
        ledger.add(entry)
    ledger.require_some("pack")
    return Packed(stages, layout, pack_steps, packed)


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
