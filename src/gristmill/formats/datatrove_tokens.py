"""Rows as datatrove's and nanotron's tokenized files: one stream of tokens, and where in it documents end.

    00000.ds            ids end to end, little-endian: uint16, or uint32 for a vocabulary over 65,535
    00000.ds.index      uint64 a document: the number of tokens up to its end
    00000.ds.metadata   three lines: `tokenizer|bytes of an id`, the number of tokens, the same for people

Packed rows keep their padding, so that the reader's window i, asked for `sequence_length` - 1, is row i; each part of
a document is a document of its own here, and so is the padding behind the last one of a row.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gristmill.formats import files
from gristmill.formats.row_batch import About, RowBatch
from gristmill.formats.training_sets import Options, Part

_UNITS = ["", "k", "M", "G", "T", "P", "E"]


class DatatroveTokens:
    """Writes and reads .ds files."""

    def write_part(
        self, folder: Path, stem: str, about: About, options: Options, batches: Iterable[RowBatch]
    ) -> tuple[list[str], Mapping[str, Any]]:
        """Tokens and index side by side, batch by batch; then the metadata."""
        name = f"{stem}.ds"
        rows = tokens = 0
        with files.atomic_file(folder / name) as stream, files.atomic_file(folder / f"{name}.index") as index:
            for batch in batches:
                stream.write(batch.ids.astype(about.dtype, copy=False).data)
                index.write((_document_ends(batch) + np.uint64(tokens)).data)
                rows += batch.rows
                tokens += len(batch.ids)
        with files.atomic_file(folder / f"{name}.metadata") as metadata:
            lines = [f"{about.tokenizer}|{about.dtype.itemsize}", str(tokens), _for_people(tokens)]
            metadata.write("\n".join(lines).encode())
        written = [name, f"{name}.index", f"{name}.metadata"]
        return written, {"id_bytes": about.dtype.itemsize, "sequence_length": about.sequence_length}

    def write_index(self, folder: Path, about: About, options: Options, parts: Sequence[Part]) -> list[str]:
        """Nothing: each file has its index."""
        return []

    def count(self, folder: Path, part: Part) -> tuple[int, int]:
        """By the size of the file and the last document's end. Rows of one length need no index to be counted."""
        name, index, _ = part.files
        ids = (folder / name).stat().st_size // part.details["id_bytes"]
        ends = _ends(folder / index)
        if (int(ends[-1]) if len(ends) else 0) != ids:
            return 0, ids
        length = part.details["sequence_length"]
        return (len(ends) if length is None else ids // length), ids

    def read(self, folder: Path, files: Sequence[str]) -> Iterator[Any]:
        """The ids of every document that the index knows."""
        for name in files:
            if not name.endswith(".ds"):
                continue
            id_bytes = int((folder / f"{name}.metadata").read_text("utf-8").split("\n")[0].rpartition("|")[2])
            ends = _ends(folder / f"{name}.index")
            if len(ends):
                stream = np.memmap(folder / name, f"<u{id_bytes}", "r")
                yield from np.split(stream, ends[:-1].astype(np.int64))


def _document_ends(batch: RowBatch) -> npt.NDArray[np.uint64]:
    """Where, in the batch's ids, each document part ends, and where padding does."""
    row_of_part = np.repeat(np.arange(batch.rows), np.diff(batch.segments.offsets))
    ends = batch.offsets[:-1][row_of_part] + batch.segments.start + batch.part_lengths()
    padded = batch.offsets[1:][batch.lengths < np.diff(batch.offsets)]
    return np.sort(np.concatenate([ends, padded])).astype(np.uint64) if len(padded) else ends.astype(np.uint64)


def _ends(path: Path) -> npt.NDArray[np.uint64]:
    return np.memmap(path, "<u8", "r") if path.stat().st_size else np.zeros(0, np.uint64)


def _for_people(tokens: int) -> str:
    """4482161 -> 4.48 MT, as datatrove writes it."""
    thousands = int(math.log10(tokens)) // 3 if tokens else 0
    number = tokens / 1000**thousands
    decimals = 2 - int(math.log10(number)) if number else 2
    return f"{number:.{decimals}f} {_UNITS[thousands]}T"
