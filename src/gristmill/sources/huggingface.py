"""Hugging Face datasets: from the hub, from its cache, or saved to disk.

What enters: a hub id, or the folder of a `save_to_disk`; a config; a split, which may be a slice (`train[:1000]`) or a
sum (`train+test`). What leaves: chunks that are ranges of rows, and their rows, read from the mapped Arrow files
without a copy unless the dataset carries an indices mapping. A position is the number of the row in the split.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from gristmill.errors import SourceError
from gristmill.sources.columnar import table_rows
from gristmill.sources.piece import SAVED_DATASET_MARKS, Chunk, Columns, Piece
from gristmill.sources.rows import require_columns

_FORMAT = "huggingface"
_MOST_ROWS_AT_ONCE = 1024


def chunks(
    dataset: str,
    config: str | None,
    split: str | None,
    chunk_bytes: int,
    limit_docs: int | None = None,
    tasks: int | None = None,
) -> list[Chunk]:
    """The rows of a split, cut into chunks of about `chunk_bytes`, or into so many `tasks`; a single chunk where there
    is a limit."""
    options = tuple((key, value) for key, value in (("config", config), ("split", split)) if value)
    with _explained(dataset, config, split):
        opened = _open(dataset, options)
    row_bytes = _row_bytes(opened)
    at_once = max(1, opened.num_rows if limit_docs is not None else chunk_bytes // row_bytes)
    if tasks is not None and limit_docs is None:
        at_once = max(1, -(-opened.num_rows // tasks))
    pieces = [
        Piece(dataset, _FORMAT, start, stop, (stop - start) * row_bytes, _stamp(opened), options)
        for start in range(0, opened.num_rows, at_once)
        for stop in [min(start + at_once, opened.num_rows)]
    ]
    return [Chunk((piece,), limit_docs) for piece in pieces]


def read(piece: Piece, columns: Columns, batch_bytes: int) -> Iterator[pa.RecordBatch]:
    """The rows of the piece."""
    with _explained(piece.path, piece.option("config"), piece.option("split")):
        opened = _open(piece.path, piece.options)
    if _stamp(opened) != piece.stamp:
        raise SourceError(
            f"expected the dataset as it was when this run was planned ({piece.stamp}), found another "
            f"({_stamp(opened)}): {piece.path}\n  Run the same command again to plan anew."
        )
    require_columns(piece.path, columns, opened.column_names)
    wanted = opened.select_columns(list(dict.fromkeys(columns.wanted))).with_format("arrow")
    at_once = max(1, min(batch_bytes // _row_bytes(opened), _MOST_ROWS_AT_ONCE))
    stop = opened.num_rows if piece.stop is None else piece.stop
    for start in range(piece.start, stop, at_once):
        yield from table_rows(wanted[start : min(start + at_once, stop)], start, columns, batch_bytes)


@functools.lru_cache(maxsize=1)
def _open(dataset: str, options: tuple[tuple[str, str], ...]) -> Any:
    """The split, its Arrow files mapped into memory. A worker keeps the last one open."""
    datasets = _library()
    config, split = dict(options).get("config"), dict(options).get("split", "train")
    if any((Path(dataset) / mark).is_file() for mark in SAVED_DATASET_MARKS):
        return _saved_split(datasets.load_from_disk(dataset), split)
    return datasets.load_dataset(dataset, config, split=split)


def _saved_split(saved: Any, split: str) -> Any:
    """The rows of a saved dataset that the split names. One that was saved without splits answers to any name."""
    datasets = _library()
    if not isinstance(saved, dict):
        names = {str(saved.split)} if saved.split else {part.partition("[")[0] for part in split.split("+")}
        saved = dict.fromkeys(names, saved)
    sizes = {name: rows.num_rows for name, rows in saved.items()}
    ranges = datasets.ReadInstruction.from_spec(split).to_absolute(sizes)
    parts = [saved[each.splitname].select(range(each.from_, each.to)) for each in ranges]
    return parts[0] if len(parts) == 1 else datasets.concatenate_datasets(parts)


def _library() -> Any:
    try:
        import datasets
    except ImportError as error:
        raise SourceError(
            "a `dataset` source needs the package `datasets`, which is not installed\n"
            "  Run `pip install 'gristmill[hf]'`."
        ) from error
    return datasets


@contextmanager
def _explained(dataset: str, config: str | None, split: str | None) -> Iterator[None]:
    errors = _library().exceptions
    try:
        yield
    except (OSError, ValueError, errors.DatasetsError) as error:
        named = f"{dataset}, config {config or 'default'}, split {split or 'train'}"
        raise SourceError(f"expected a dataset that can be loaded, found `{error}`: {named}") from error


def _row_bytes(opened: Any) -> int:
    return int(opened.data.nbytes // max(1, opened.data.num_rows)) + 1


def _stamp(opened: Any) -> str:
    return f"{opened._fingerprint}-{opened.num_rows}"
