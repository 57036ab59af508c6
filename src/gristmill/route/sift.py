"""sift: raw files → documents, signals, sketches. One step a source, one task a chunk of its input.

Text is read once and written once: what the rules of this moment keep, and beside it, in `dropped/`, what they
drop. When a bound changes, judge.py judges the saved signals again; which of the two files a text lies in is then
history, and no longer its verdict. Chunks are cut by a recipe constant, so the files are the same for any worker
count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gristmill import sources
from gristmill.cleaning.sequence import CleanerSequence
from gristmill.dedup import sequence
from gristmill.document import ROWS
from gristmill.engine.pool import longest_that_fits, memory_for
from gristmill.engine.record import Record
from gristmill.engine.step import Outcome, Step, Task
from gristmill.errors import SourceError
from gristmill.filters.sequence import FilterSequence, verdicts_of
from gristmill.filters.view import ALL_METADATA, TextView
from gristmill.formats.documents import DocumentWriter
from gristmill.quantities import show_bytes
from gristmill.sources.piece import Chunk, Columns
from gristmill.units import Choice, split_at_first_cut

if TYPE_CHECKING:  # a worker would spend 0.1 s on loading the schema
    from gristmill.recipe import Recipe, Source

VERSION = 1
COUNTS = ("rows", "readable", "read_bytes", "cleaned_bytes", "rewritten_bytes")
NEXT_WORK = "gristmill.route.tokenize:warm_up"  # what idle workers load while others still sift, judge, deduplicate
MOST_EXAMPLES = 3
_FILES = {"documents": "{}.parquet", "signals": "{}.signals.parquet", "dropped": "dropped/{}.parquet"}


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
    memory_bytes: int  # what the run may use; it decides no byte


def check_access(recipe: Recipe) -> None:
    """Ask the hub for all that the recipe reads of it. Raises RecipeError that names every dataset that it may not."""
    wanted = [
        (source.dataset, source.config, sources.split_and_limit(source.split)[0])
        for source in recipe.sources
        if source.dataset and source.files is None and sources.is_on_hub(source.dataset, source.split)
    ]
    if wanted:
        from gristmill.sources import hub

        hub.check_access(wanted)


def chunks_of(source: Source, chunk_bytes: int, tasks: int | None) -> list[Chunk]:
    """Cut a source's input into chunks of that size, or into so many. Raises SourceError where there is none."""
    if source.files is None:
        assert source.dataset is not None
        return sources.dataset_chunks(source.dataset, source.config, source.split, chunk_bytes, source.limit, tasks)
    files, options = sources.find(source.files), {"unit": source.unit}
    if tasks is not None:
        chunk_bytes = sources.even_chunk_bytes(files, options, tasks)
    return sources.split(files, options, chunk_bytes, source.limit)


def columns_of(recipe: Recipe, source: Source) -> Columns:
    """What is read of each row: text, id, and metadata that somebody asked for or a filter looks at."""
    filters = [choice.make("filter") for choice in recipe.filters_of(source)]
    by_filters = [name for unit in filters for name in (unit.column(), *unit.other_columns())]
    by_dedup = sequence.looked_at([choice.make("deduplicator") for choice in recipe.dedup])
    looked_at = [name for name in (*by_filters, *by_dedup) if name not in ("text", "id", ALL_METADATA)]
    metadata = [*source.metadata_columns, *looked_at]
    return Columns(source.text_column, source.id_column, tuple(dict.fromkeys(metadata)), source.max_document)


def cleaners_of(recipe: Recipe) -> tuple[Choice, ...]:
    """The recipe's cleaners, behind the one that every later stage relies on."""
    given = [choice for choice in recipe.clean if choice.name == "unicode"]
    return (*(given or [Choice("unicode")])[:1], *(choice for choice in recipe.clean if choice.name != "unicode"))


def column_of(documents: Mapping[str, Any], name: str) -> Any:
    """What a filter looks at that is not the text: the ids, one key of the metadata, or all of it."""
    from gristmill.sources.metadata import string_values

    if name == ALL_METADATA:
        return documents["metadata"]
    return documents["id"] if name == "id" else string_values(documents["metadata"], name)


def numbers_of(documents: Mapping[str, Any], name: str) -> Any:
    """A key of the metadata that ranks documents."""
    from gristmill.sources.metadata import number_values

    return number_values(documents["metadata"], name)


def step(recipe: Recipe, source: Source, chunks: Sequence[Chunk]) -> Step:
    """The step that sifts one source."""
    columns, clean, filters = columns_of(recipe, source), cleaners_of(recipe), recipe.filters_of(source)
    sketched, _ = split_at_first_cut(recipe.dedup)
    literals = {
        "source": source.name,
        "columns": [columns.text, columns.id, *columns.metadata],
        "max_document": columns.most_bytes,
        "clean": [choice.literals("cleaner") for choice in clean],
        "filters": [
            choice.measuring_literals() if recipe.output.keep_dropped else choice.literals("filter")
            for choice in filters
        ],
        "sketches": [choice.sketching_literals() for choice in sketched],
        "keep_dropped": recipe.output.keep_dropped,
    }
    tasks = [
        Task(
            name=f"{number:05}",
            inputs=piece_inputs(chunk),
            work=SiftWork(
                source.name, chunk, columns, clean, filters, sketched, recipe.output.keep_dropped, recipe.engine.memory
            ),
            bytes=chunk.bytes,
        )
        for number, chunk in enumerate(chunks)
    ]
    return Step(
        f"sift/{source.name}", "gristmill.route.sift:run", VERSION, literals, tasks, meanwhile=NEXT_WORK, in_order=True
    )


def piece_inputs(chunk: Chunk) -> dict[str, Any]:
    """What stands for the raw input of a chunk in fingerprints."""
    pieces = [[piece.format, piece.stamp, piece.start, piece.stop, dict(piece.options)] for piece in chunk.pieces]
    return {"limit": chunk.limit, "pieces": pieces}


def warm_up() -> None:
    """Load what every sift task needs: numba and the kernels of reading, cleaning and hashing take a while."""
    from gristmill.kernels import hashing, utf8  # noqa: F401
    from gristmill.sources import batches, jsonl  # noqa: F401


def run(work: SiftWork, folder: Path, stem: str) -> Outcome:
    """The task: read, clean, measure, judge, sketch, write."""
    sifter = _Sifter(work, f"{work.source}/{stem}/")
    counts: Counter[str] = Counter(dict.fromkeys(COUNTS, 0))
    examples: list[str] = []
    longest_bytes = 0
    names = {table: name.format(stem) for table, name in _FILES.items() if table != "dropped" or work.keep_dropped}
    nothing = sifter.sift(pa.RecordBatch.from_pylist([], schema=ROWS), 0)  # its tables tell the schemas
    with ExitStack() as stack:
        writers = {
            table: stack.enter_context(DocumentWriter(folder / name, nothing.tables[table].schema, table))
            for table, name in names.items()
        }
        for batch in sources.read(work.chunk, work.columns):
            sifted = sifter.sift(batch, counts["rows"])
            longest_bytes = max(longest_bytes, pc.max(pc.binary_length(batch["text"])).as_py() or 0)
            for table, writer in writers.items():
                writer.write(sifted.tables[table])
            counts.update(sifted.counts)
            if len(examples) < MOST_EXAMPLES:
                examples += unreadable_rows(batch, work.chunk)
    notices = [_too_long_to_hold(longest_bytes, work)] if memory_for(longest_bytes) > work.memory_bytes else []
    files = [piece.path for piece in work.chunk.pieces]  # what the column `file` of the signals counts
    more = {"unreadable_rows": examples[:MOST_EXAMPLES], "files": files}
    return Outcome({**counts, **more}, list(names.values()), notices)


def _too_long_to_hold(longest_bytes: int, work: SiftWork) -> str:
    return (
        f"source {work.source} has a document of {show_bytes(longest_bytes)}, for which a run takes up to "
        f"{show_bytes(memory_for(longest_bytes))}, more than `engine.memory`; with `max_document: "
        f"{longest_that_fits(work.memory_bytes) // 1_000_000}MB` such documents are left out and counted"
    )


@dataclass(frozen=True)
class _Sifted:
    tables: dict[str, Any]  # record batches, by the names of _FILES
    counts: dict[str, int]


class _Sifter:
    """Takes batches of raw rows apart. Pure: opens no file."""

    def __init__(self, work: SiftWork, id_prefix: str) -> None:
        self.source = work.source
        self.id_prefix = id_prefix
        self.cleaners = CleanerSequence([choice.make("cleaner") for choice in work.clean])
        self.filters = FilterSequence([choice.make("filter") for choice in work.filters])
        self.deduplicators = sequence.named([choice.make("deduplicator") for choice in work.dedup])

    def sift(self, batch: Any, first_row: int) -> _Sifted:
        """One batch of document.ROWS, whose first row has this number in its chunk."""
        numbers = pa.array(np.arange(first_row, first_row + len(batch), dtype=np.int32))
        readable = pc.is_null(batch["unreadable"])
        all_rows = _Spread(readable)
        raw = all_rows.selected(batch["text"])
        texts, empty = self.cleaners.clean(raw)
        documents = {
            "row": all_rows.selected(numbers),
            "id": self._ids(all_rows.selected(batch["id"]), all_rows.selected(numbers)),
            "text": texts,
            "source": pa.DictionaryArray.from_arrays(pa.array(np.zeros(len(texts), np.int16)), [self.source]),
            "metadata": all_rows.selected(batch["metadata"]),
        }

        cleaned = TextView(texts)
        signals, left = self.filters.measure(cleaned, partial(column_of, documents))
        verdicts = verdicts_of(empty, self.filters.broken_rules(signals))
        documents["text"] = left.texts
        ranks = partial(numbers_of, documents)
        signals.update(sequence.sketches(self.deduplicators, left.texts, partial(column_of, documents), ranks))
        keep = pc.is_null(verdicts)
        kept = _Spread(keep)  # copies nothing where all are kept
        drop = pc.and_(pc.invert(keep), pc.is_null(empty))
        tables = {
            "documents": pa.record_batch({name: kept.selected(column) for name, column in documents.items()}),
            "dropped": pa.record_batch(
                {name: column.filter(drop) for name, column in {**documents, "verdict": verdicts}.items()}
            ),
            "signals": pa.record_batch(
                {
                    "row": numbers,
                    "file": batch["file"],
                    "position": batch["position"],
                    "verdict": pc.coalesce(batch["unreadable"], all_rows.spread(empty)).dictionary_encode(),
                    **{
                        name: all_rows.spread(column if isinstance(column, pa.Array) else pa.array(column))
                        for name, column in signals.items()
                    },
                }
            ),
        }
        read_bytes = int(pc.sum(pc.binary_length(raw)).as_py() or 0)
        counts = {
            "rows": len(batch),
            "readable": len(texts),
            "read_bytes": read_bytes,
            "cleaned_bytes": read_bytes - int(cleaned.lengths_bytes.sum()),
            "rewritten_bytes": int(cleaned.lengths_bytes.sum() - left.lengths_bytes.sum()),
        }
        return _Sifted(tables, counts)

    def _ids(self, given: Any, numbers: Any) -> Any:
        """The documents' own ids, and `source/chunk/row` where they have none."""
        if given.null_count == 0:
            return given
        prefix, nothing = (pa.scalar(text, pa.large_string()) for text in (self.id_prefix, ""))
        made = pc.binary_join_element_wise(prefix, numbers.cast(pa.large_string()), nothing)
        return pc.coalesce(given, made)


def _arrow(column: Any) -> Any:
    return column if isinstance(column, pa.Array) else pa.array(column)


class _Spread:
    """Some rows of a batch: takes them out of a column, and puts a column of them back among all rows."""

    def __init__(self, chosen: Any) -> None:
        mask = chosen.to_numpy(zero_copy_only=False)
        self._mask = None if mask.all() else chosen
        self._places = None if mask.all() else pa.array(np.cumsum(mask) - 1, mask=~mask)

    def selected(self, column: Any) -> Any:
        """The chosen rows of a column."""
        return column if self._mask is None else column.filter(self._mask)

    def spread(self, column: Any) -> Any:
        """A column of the chosen rows as one of all rows, null elsewhere."""
        return column if self._places is None else column.take(self._places)


def unreadable_rows(batch: Any, chunk: Chunk) -> list[str]:
    """Where the first unreadable rows of a batch are, for people."""
    unreadable = pc.starts_with(batch["unreadable"], "unreadable.").fill_null(False)
    bad = batch.filter(unreadable).slice(0, MOST_EXAMPLES).to_pylist()
    return [f"{chunk.pieces[row['file']].path} at {row['position']:,}: {row['unreadable']}" for row in bad]


def unreadable_error(source: Source, records: Sequence[Record], gone: Mapping[str, int]) -> SourceError | None:
    """The error of a source of which too much could not be read, or None."""
    rows = sum(record.counts["rows"] for record in records)
    reasons = {reason: count for reason, count in gone.items() if reason.startswith("unreadable.")}
    unreadable = sum(reasons.values())
    if unreadable <= source.max_unreadable_ratio * rows:
        return None
    places = [place for record in records for place in record.counts["unreadable_rows"]][:MOST_EXAMPLES]
    listed = ", ".join(f"{reason} {count:,}" for reason, count in sorted(reasons.items(), key=lambda item: -item[1]))
    return SourceError(
        f"source `{source.name}`: expected at most {source.max_unreadable_ratio:.2%} unreadable rows, "
        f"found {unreadable:,} of {rows:,} ({unreadable / rows:.2%}): {listed}\n  "
        + "\n  ".join(places)
        + "\n  Mend the input, or raise `max_unreadable_ratio` of this source."
    )
