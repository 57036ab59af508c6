"""Rows as Megatron-LM's indexed dataset, `tokens.bin` and `tokens.idx`: little-endian, prefix `FOLDER/tokens`.

    .bin   the ids of all sequences end to end: uint16 below 65,500 entries in the vocabulary, else int32
    .idx   "MMIDIDX\\0\\0", version 1 (uint64), dtype code (uint8: 8 uint16, 4 int32), sequences (uint64),
           document bounds (uint64); then each sequence's ids (int32), its byte offset in .bin (int64), and the
           numbers of the sequences at which documents begin, and behind the last (int64)

A row is a sequence and a document. Padding is left out: Megatron knows none.
What is guaranteed: memory is bounded by a batch; the lengths pass through the .idx itself, block by block.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from gristmill.errors import FormatError
from gristmill.formats import files
from gristmill.formats.row_batch import About, RowBatch
from gristmill.formats.row_columns import attention_mask
from gristmill.formats.training_sets import Options, Part

STEM = "tokens"
_MAGIC = b"MMIDIDX\x00\x00"
_HEAD = struct.Struct("<9sQBQQ")
_CODES: dict[np.dtype[Any], int] = {np.dtype(np.uint16): 8, np.dtype(np.int32): 4}
_SMALL_VOCABULARY = 65_500  # Megatron's own bound
_BLOCK_ROWS = 1 << 20


def dtype_of(vocab_size: int) -> np.dtype[Any]:
    """What Megatron stores ids of such a vocabulary in."""
    return np.dtype(np.uint16 if vocab_size < _SMALL_VOCABULARY else np.int32)


class MegatronRows:
    """Writes and reads .bin and .idx."""

    def write_part(
        self, folder: Path, stem: str, about: About, options: Options, batches: Iterable[RowBatch]
    ) -> tuple[list[str], Mapping[str, Any]]:
        """Both files. The .bin grows batch by batch, and so do the lengths in the .idx."""
        dtype = dtype_of(about.vocab_size)

        def written(tokens: IO[bytes]) -> Iterator[npt.NDArray[np.int32]]:
            for batch in batches:
                real = batch.ids[attention_mask(batch).view(np.bool_)] if about.may_pad else batch.ids
                tokens.write(real.astype(dtype, copy=False).data)
                yield _lengths(batch)

        with files.atomic_file(folder / f"{STEM}.bin") as tokens, files.atomic(folder / f"{STEM}.idx") as temporary:
            _write_index(temporary, dtype, written(tokens))
        return [f"{STEM}.bin", f"{STEM}.idx"], {"padded": about.may_pad}

    def write_index(self, folder: Path, about: About, options: Options, parts: Sequence[Part]) -> list[str]:
        """Nothing: the one part has its index."""
        return []

    def count(self, folder: Path, part: Part) -> tuple[int, int]:
        """By the .idx and the size of the .bin. Padding was left out and counts as written."""
        index = MegatronIndex(folder / f"{STEM}.idx")
        ids = (folder / f"{STEM}.bin").stat().st_size // index.dtype.itemsize
        return index.rows, ids + part.ids - part.tokens

    def read(self, folder: Path, files: Sequence[str]) -> Iterator[Any]:
        """The ids of every sequence."""
        index = MegatronIndex(folder / f"{STEM}.idx")
        tokens = np.memmap(folder / f"{STEM}.bin", index.dtype, "r") if index.lengths.any() else np.zeros(0)
        for length, offset in zip(index.lengths, index.offsets, strict=True):
            first = int(offset) // index.dtype.itemsize
            yield tokens[first : first + int(length)]


class MegatronIndex:
    """An .idx, memory-mapped."""

    def __init__(self, path: Path) -> None:
        """Raises FormatError where it is none."""
        content: npt.NDArray[np.uint8] = np.memmap(path, np.uint8, "r")
        magic, version, code, self.rows, documents = _HEAD.unpack(content[: _HEAD.size].tobytes())
        if (magic, version) != (_MAGIC, 1) or len(content) != _HEAD.size + self.rows * 12 + documents * 8:
            raise FormatError(f"expected Megatron's index of version 1, found something else or a part of one: {path}")
        self.dtype: np.dtype[Any] = next(dtype for dtype, known in _CODES.items() if known == code)
        self.lengths = np.frombuffer(content.data, np.int32, self.rows, _HEAD.size)
        self.offsets = np.frombuffer(content.data, np.int64, self.rows, _HEAD.size + self.rows * 4)
        self.documents = np.frombuffer(content.data, np.int64, documents, _HEAD.size + self.rows * 12)


def _lengths(batch: RowBatch) -> npt.NDArray[np.int32]:
    if batch.rows and batch.lengths.max() > np.iinfo(np.int32).max:
        raise FormatError(
            f"expected documents of at most 2,147,483,647 tokens, found one of {batch.lengths.max():,}\n"
            "  Pack it: give a sequence length."
        )
    return batch.lengths.astype(np.int32)


def _write_index(path: Path, dtype: np.dtype[Any], lengths: Iterable[npt.NDArray[np.int32]]) -> None:
    rows = 0
    with open(path, "w+b") as index:
        index.write(_HEAD.pack(_MAGIC, 1, _CODES[dtype], 0, 0))
        for block in lengths:
            index.write(block.data)
            rows += len(block)
        _write_offsets(index, rows, dtype.itemsize)
        for first in range(0, rows + 1, _BLOCK_ROWS):
            index.write(np.arange(first, min(first + _BLOCK_ROWS, rows + 1), dtype=np.int64).data)
        index.seek(0)
        index.write(_HEAD.pack(_MAGIC, 1, _CODES[dtype], rows, rows + 1))


def _write_offsets(index: IO[bytes], rows: int, id_bytes: int) -> None:
    """Read the lengths back, block by block, and write where in .bin each sequence begins."""
    end_bytes = 0
    for first in range(0, rows, _BLOCK_ROWS):
        block = min(_BLOCK_ROWS, rows - first)
        index.seek(_HEAD.size + first * 4)
        ends = np.cumsum(np.frombuffer(index.read(block * 4), np.int32).astype(np.int64)) * id_bytes + end_bytes
        offsets = np.append(np.int64(end_bytes), ends[:-1])
        index.seek(_HEAD.size + rows * 4 + first * 8)
        index.write(offsets.data)
        end_bytes = int(ends[-1])
