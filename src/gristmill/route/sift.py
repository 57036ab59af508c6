"""sift: raw files → kept documents, verdicts, signals, sketches. Every row read is kept or carries a reason.

One step a source, one task a chunk of its input; the chunk is cut by a recipe constant, so the files are the same
for any worker count. Text is read once, judged once and written once here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gristmill import sources
from gristmill.document import DOCUMENTS, ROWS
from gristmill.engine.record import Record
from gristmill.engine.step import Outcome, Step, Task
from gristmill.errors import SourceError
from gristmill.filters.view import TextView
from gristmill.formats.documents import DocumentWriter
from gristmill.recipe import Recipe, Source
from gristmill.sources.piece import Chunk, Columns
from gristmill.units import Choice

VERSION = 1
COUNTS = ("rows", "kept", "read_bytes", "cleaned_bytes", "kept_bytes")
EMPTY = "clean.empty"
_EXAMPLES = 3
_TABLES = {"documents": "", "signals": ".signals", "dropped": ".dropped"}  # -> what the file name adds


@dataclass(frozen=True)
class SiftWork:
    """One chunk, and what is to be done with it."""

    source: str
    chunk: Chunk
    columns: Columns
    clean: tuple[Choice, ...]
    filters: tuple[Choice, ...]
    dedup: tuple[Choice, ...]
    keep_dropped: bool


def chunks_of(source: Source, chunk_bytes: int) -> list[Chunk]:
    """Cut a source's input into chunks. Raises SourceError where there is none."""
    if source.dataset is not None:
        return sources.dataset_chunks(source.dataset, source.config, source.split, chunk_bytes, source.limit)
    assert source.path is not None
    return sources.split(sources.find(source.path), {"unit": source.unit}, chunk_bytes, source.limit)


def step(recipe: Recipe, source: Source, chunks: Sequence[Chunk]) -> Step:
    """The step that sifts one source."""
    columns = Columns(source.text_column, source.id_column, source.metadata_columns)
    clean = tuple(choice for choice in (Choice("unicode"), *recipe.clean) if choice.name != "unicode")
    clean = (Choice("unicode"), *clean)
    literals = {
        "source": source.name,
        "columns": [columns.text, columns.id, *columns.metadata],
        "clean": [choice.literals("cleaner") for choice in clean],
        "filters": [choice.literals("filter") for choice in recipe.filters],
        "sketches": [choice.literals("deduplicator") for choice in recipe.dedup],
        "keep_dropped": recipe.output.keep_dropped,
    }
    tasks = [
        Task(
            name=f"{number:05}",
            inputs={"limit": chunk.limit, "pieces": [[p.format, p.stamp, p.start, p.stop, dict(p.options)]
                                                     for p in chunk.pieces]},
            work=SiftWork(source.name, chunk, columns, clean, recipe.filters, recipe.dedup, recipe.output.keep_dropped),
            bytes=chunk.bytes,
        )
        for number, chunk in enumerate(chunks)
    ]  # fmt: skip
    return Step(f"sift/{source.name}", "gristmill.route.sift:run", VERSION, literals, tasks)


def run(work: SiftWork, folder: Path, stem: str) -> Outcome:
    """The task: read, clean, measure, judge, sketch, write."""
    sifter = _Sifter(work, f"{work.source}/{stem}/")
    counts: Counter[str] = Counter(dict.fromkeys(COUNTS, 0))
    reasons: Counter[str] = Counter()
    examples: list[str] = []
    names = {table: f"{stem}{suffix}.parquet" for table, suffix in _TABLES.items()}
    if not work.keep_dropped:
        del names["dropped"]
    nothing = sifter.sift(pa.RecordBatch.from_pylist([], schema=ROWS), 0)  # its tables tell the schemas
    with ExitStack() as stack:
        writers = {
            table: stack.enter_context(DocumentWriter(folder / name, nothing.tables[table].schema, table))
            for table, name in names.items()
        }
        for batch in sources.read(work.chunk, work.columns):
            sifted = sifter.sift(batch, counts["rows"])
            for table, writer in writers.items():
                writer.write(sifted.tables[table])
            counts.update(sifted.counts)
            reasons.update(sifted.reasons)
            if len(examples) < _EXAMPLES:
                examples += _unreadable_rows(batch, work.chunk)
    dropped = dict(sorted(reasons.items()))
    return Outcome({**counts, "dropped": dropped, "unreadable_rows": examples[:_EXAMPLES]}, list(names.values()))


@dataclass(frozen=True)
class _Sifted:
    tables: dict[str, Any]  # record batches, by the names of _TABLES
    counts: dict[str, int]
    reasons: dict[str, int]


class _Sifter:
    """Takes batches of raw rows apart. Pure: opens no file."""

    def __init__(self, work: SiftWork, id_prefix: str) -> None:
        self.source = work.source
        self.id_prefix = id_prefix
        self.cleaners = [choice.make("cleaner") for choice in work.clean]
        self.filters = [choice.make("filter") for choice in work.filters]
        self.deduplicators = [choice.make("deduplicator") for choice in work.dedup]

    def sift(self, batch: Any, first_row: int) -> _Sifted:
        """One batch of document.ROWS, whose first row has this number in its chunk."""
        numbers = pa.array(np.arange(first_row, first_row + len(batch), dtype=np.int32))
        readable = pc.is_null(batch["unreadable"])
        some_unreadable = pc.any(pc.invert(readable)).as_py() is True
        read = batch.filter(readable) if some_unreadable else batch
        texts = read["text"]
        for cleaner in self.cleaners:
            texts = cleaner.clean(texts)
        view = TextView(texts)
        verdicts = pc.if_else(view.lengths_bytes == 0, EMPTY, pa.scalar(None, pa.string()))
        signals: dict[str, Any] = {}
        for unit in self.filters:
            measured = unit.measure(view)
            signals.update({name: pa.array(values) for name, values in measured.items()})
            verdicts = pc.coalesce(verdicts, unit.judge(measured))
        keep = pc.is_null(verdicts)
        kept_texts = texts.filter(keep)
        sketches = {
            name: pa.array(values) for unit in self.deduplicators for name, values in unit.sketch(kept_texts).items()
        }
        all_rows = _Spread(readable, some_unreadable)
        kept_rows = _Spread(keep, some_out=True)
        all_verdicts = pc.coalesce(batch["unreadable"], all_rows.spread(verdicts))
        ids = self._ids(read["id"], numbers.filter(readable) if some_unreadable else numbers)
        read_columns = {
            "row": numbers.filter(readable) if some_unreadable else numbers,
            "id": ids,
            "text": texts,
            "metadata": read["metadata"],
        }
        drop = pc.invert(keep)
        tables = {
            "documents": self._documents(read_columns, keep),
            "signals": pa.record_batch(
                {
                    "row": numbers,
                    "file": batch["file"],
                    "position": batch["position"],
                    "verdict": all_verdicts.dictionary_encode(),
                    **{name: all_rows.spread(column) for name, column in signals.items()},
                    **{name: all_rows.spread(kept_rows.spread(column)) for name, column in sketches.items()},
                }
            ),
            "dropped": pa.record_batch(
                {
                    **{name: read_columns[name].filter(drop) for name in ("row", "id", "text")},
                    "verdict": verdicts.filter(drop).dictionary_encode(),
                }
            ),
        }
        counted = pc.value_counts(all_verdicts.drop_null())
        offsets_bytes = int(view.offsets[-1] - view.offsets[0])
        read_bytes = int(pc.sum(pc.binary_length(read["text"])).as_py() or 0)
        return _Sifted(
            tables,
            counts={
                "rows": len(batch),
                "kept": len(kept_texts),
                "read_bytes": read_bytes,
                "cleaned_bytes": read_bytes - offsets_bytes,
                "kept_bytes": int(pc.sum(pc.binary_length(kept_texts)).as_py() or 0),
            },
            reasons={item["values"].as_py(): item["counts"].as_py() for item in counted},
        )

    def _ids(self, given: Any, numbers: Any) -> Any:
        """The documents' own ids, and `source/chunk/row` where they have none."""
        if given.null_count == 0:
            return given
        prefix, nothing = (pa.scalar(text, pa.large_string()) for text in (self.id_prefix, ""))
        made = pc.binary_join_element_wise(prefix, numbers.cast(pa.large_string()), nothing)
        return pc.coalesce(given, made)

    def _documents(self, columns: dict[str, Any], keep: Any) -> Any:
        count = int(pc.sum(keep).as_py() or 0)
        source = pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int16)), [self.source])
        kept = {name: column.filter(keep) for name, column in columns.items()}
        return pa.record_batch([*kept.values(), source], names=[*kept, "source"]).select(DOCUMENTS.names)


class _Spread:
    """Puts a column of selected rows back among all rows, null where a row was not selected."""

    def __init__(self, selected: Any, some_out: bool) -> None:
        self.places: Any = None
        if some_out:
            chosen = selected.to_numpy(zero_copy_only=False)
            self.places = pa.array(np.cumsum(chosen) - 1, mask=~chosen)

    def spread(self, column: Any) -> Any:
        """As long as the selection was made from."""
        return column if self.places is None else column.take(self.places)


def _unreadable_rows(batch: Any, chunk: Chunk) -> list[str]:
    """Where the first unreadable rows of a batch are, for people."""
    bad = batch.filter(pc.is_valid(batch["unreadable"])).slice(0, _EXAMPLES).to_pylist()
    return [f"{chunk.pieces[row['file']].path} at {row['position']:,}: {row['unreadable']}" for row in bad]


def unreadable_error(source: Source, records: Sequence[Record]) -> SourceError | None:
    """The error of a source of which too much could not be read, or None."""
    rows = sum(record.counts["rows"] for record in records)
    reasons: Counter[str] = Counter()
    for record in records:
        reasons.update({k: n for k, n in record.counts["dropped"].items() if k.startswith("unreadable.")})
    unreadable = sum(reasons.values())
    if unreadable <= source.max_unreadable_ratio * rows:
        return None
    places = [place for record in records for place in record.counts["unreadable_rows"]][:_EXAMPLES]
    listed = ", ".join(f"{reason} {count:,}" for reason, count in reasons.most_common())
    return SourceError(
        f"source `{source.name}`: expected at most {source.max_unreadable_ratio:.2%} unreadable rows, "
        f"found {unreadable:,} of {rows:,} ({unreadable / rows:.2%}): {listed}\n  "
        + "\n  ".join(places)
        + "\n  Mend the input, or raise `max_unreadable_ratio` of this source."
    )
