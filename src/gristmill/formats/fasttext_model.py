"""fastText's models on disk, `.bin` and `.ftz`: supervised ones of file versions 11 and 12.

What enters: a local path. What leaves: a `FastTextModel`; big matrices stay in the mapped file, which all processes
that read it share. Guaranteed: every count in the file fits every other, and the file ends where it says. A cut,
damaged or foreign file is a FormatError. The layout is described in docs/fasttext.md.
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from gristmill.errors import FormatError

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]

LOSSES = {1: "hs", 2: "ns", 3: "softmax", 4: "ova"}
LABEL_PREFIX = "__label__"
_MAGIC = 793712314
_VERSIONS = (11, 12)
_SUPERVISED = 3
_CENTROIDS = 256  # of each part of a vector: a code is a byte
_AFTER_WORD_BYTES = 10  # its NUL, its count, its kind
_UNPRUNED = -1


@dataclass(frozen=True)
class DenseRows:
    """Vectors as they stand in the file, float32, not aligned to anything."""

    rows: int
    width: int
    start: int  # of the first, in bytes from the start of the file


@dataclass(frozen=True, eq=False)
class QuantisedRows:
    """Vectors in parts of a few numbers, each part a byte that names one of 256 centroids; and a norm for each row."""

    codes: Bytes  # [row, part]
    centroids: Floats  # [part, code, number in the part]; the last part may be narrower: zeros fill it up
    width: int
    norms: Floats  # of each row; ones where the model has none

    def parts(self, first: int, last: int) -> Floats:
        """Rows first..last without their norms."""
        codes = self.codes[first:last]
        parts = [self.centroids[part][codes[:, part]] for part in range(codes.shape[1])]
        return np.concatenate(parts, axis=1)[:, : self.width] if parts else np.zeros((0, self.width), np.float32)


@dataclass(frozen=True, eq=False)
class FastTextModel:
    """One model. Entries of the dictionary: words first, then labels; rows of `input`: words, then n-grams."""

    data: Bytes  # the file, mapped
    loss: str
    width: int  # of a vector
    word_ngrams: int
    shortest_ngram: int  # of characters
    longest_ngram: int  # 0: words have no n-grams
    buckets: int
    entry_start: npt.NDArray[np.int64]  # of each entry: its bytes in `data`
    entry_stop: npt.NDArray[np.int64]
    words: int
    label_counts: npt.NDArray[np.int64]
    kept_buckets: npt.NDArray[np.int32] | None  # of a pruned model: pairs of a bucket and its row behind the words
    input: DenseRows | QuantisedRows
    output: DenseRows | QuantisedRows

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels, without their prefix, in the model's order."""
        spans = zip(self.entry_start[self.words :].tolist(), self.entry_stop[self.words :].tolist(), strict=True)
        names = [self.data[start:stop].tobytes().decode("utf-8", "replace") for start, stop in spans]
        return tuple(name.removeprefix(LABEL_PREFIX) for name in names)


def read(path: str) -> FastTextModel:
    """Map and check the model at `path`."""
    try:
        with open(path, "rb") as file:
            mapped: Any = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:  # an empty file cannot be mapped: ValueError
        raise FormatError(f"expected a fastText model, found no file that can be read: {path} ({error})") from error
    try:
        return _Reader(mapped, path).model()
    except (struct.error, IndexError) as error:
        raise FormatError(f"expected a whole fastText model, found its first {len(mapped):,} bytes: {path}") from error


class _Reader:
    """Goes through the file once, from its first byte to its last."""

    def __init__(self, mapped: Any, path: str) -> None:
        self.mapped = mapped
        self.data = np.frombuffer(mapped, np.uint8)
        self.path = path
        self.at = 0

    def model(self) -> FastTextModel:
        magic, version = self._numbers("<ii")
        self._expect(magic == _MAGIC, "a fastText model", f"another kind of file (it begins with {magic:#x})")
        self._expect(version in _VERSIONS, f"a fastText model of version {_VERSIONS}", f"version {version}")
        width, _, _, _, _, word_ngrams, loss, kind, buckets, shortest, longest, _ = self._numbers("<12i")
        self._numbers("<d")
        self._expect(kind == _SUPERVISED, "a supervised fastText model", "one of word vectors, which has no labels")
        self._expect(loss in LOSSES, f"one of the losses {sorted(LOSSES)}", f"{loss}")
        self._expect(width > 0 and buckets >= 0, "sizes above 0", f"{width} by {buckets}")
        longest = 0 if version == 11 else longest  # models of that time had no n-grams of characters
        self._expect(buckets > 0 or (word_ngrams < 2 and longest < 1), "buckets for n-grams", "none")

        entries, words, labels, _, pruned = self._numbers("<iiiqq")
        self._expect(
            labels > 0 and words >= 0 and entries == words + labels,
            "a dictionary of words and labels",
            f"{entries} entries, {words} words, {labels} labels",
        )
        start, stop = self._entries(entries)
        kinds = self.data[stop + _AFTER_WORD_BYTES - 1]
        self._expect(not kinds[:words].any() and bool((kinds[words:] == 1).all()), "words, then labels", "a mixture")
        counts = [struct.unpack_from("<q", self.mapped, at + 1)[0] for at in stop[words:].tolist()]
        kept = self._kept_buckets(pruned, buckets)
        ngram_rows = buckets if kept is None else len(kept)

        (quantised,) = self._numbers("<?")
        self._expect(quantised or kept is None, "all n-grams where vectors are not quantised", "a pruned dictionary")
        input_rows = self._quantised_rows() if quantised else self._dense_rows()
        self._check_shape("input", input_rows, words + ngram_rows, width)
        (quantised_output,) = self._numbers("<?")
        output_rows = self._quantised_rows() if quantised and quantised_output else self._dense_rows()
        self._check_shape("output", output_rows, labels, width)
        self._expect(self.at == len(self.data), f"{self.at:,} bytes", f"{len(self.data):,}")
        return FastTextModel(
            self.data, LOSSES[loss], width, word_ngrams, shortest, longest, buckets, start, stop, words,
            np.array(counts, np.int64), kept, input_rows, output_rows,
        )  # fmt: skip

    def _expect(self, holds: bool, expected: str, found: str) -> None:
        if not holds:
            raise FormatError(f"expected {expected}, found {found}: {self.path}")

    def _numbers(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from(layout, self.mapped, self.at)
        self.at += struct.calcsize(layout)
        return values

    def _array(self, kind: type, *shape: int) -> Any:
        """Numbers from here on: in the mapped file where they can be, else copied."""
        count = int(np.prod(shape, dtype=np.int64))
        size_bytes = count * np.dtype(kind).itemsize
        if count < 0 or self.at + size_bytes > len(self.data):
            raise IndexError
        found = self.data[self.at : self.at + size_bytes]
        self.at += size_bytes
        return (found if kind is np.uint8 else np.frombuffer(found.tobytes(), kind)).reshape(shape)

    def _entries(self, count: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        if count * (_AFTER_WORD_BYTES + 1) > len(self.data):
            raise IndexError
        stops = np.empty(count, np.int64)
        find = self.mapped.find
        at = self.at
        for entry in range(count):
            stop = find(b"\0", at)
            if stop < 0:
                raise IndexError
            stops[entry] = stop
            at = stop + _AFTER_WORD_BYTES
        starts = np.concatenate([[self.at], stops[:-1] + _AFTER_WORD_BYTES])
        if at > len(self.data):
            raise IndexError
        self.at = at
        return starts, stops

    def _kept_buckets(self, count: int, buckets: int) -> npt.NDArray[np.int32] | None:
        if count == _UNPRUNED:
            return None
        self._expect(0 <= count <= buckets, f"0 to {buckets} n-grams that are left", f"{count}")
        pairs: npt.NDArray[np.int32] = self._array(np.int32, count, 2)
        pairs = pairs[np.argsort(pairs[:, 0])]
        sensible = bool(((pairs >= 0) & (pairs < [buckets, count])).all() and (np.diff(pairs[:, 0]) > 0).all())
        self._expect(sensible, "a row for each n-gram that is left", "n-grams or rows that are not there")
        return pairs

    def _dense_rows(self) -> DenseRows:
        rows, width = self._numbers("<qq")
        self._expect(rows >= 0 and width > 0, "a matrix", f"one of {rows} by {width}")
        start = self.at
        self._array(np.uint8, rows, width, 4)
        return DenseRows(rows, width, start)

    def _quantised_rows(self) -> QuantisedRows:
        has_norms, rows, width, code_bytes = self._numbers("<?qqi")
        self._expect(rows >= 0 and width > 0 and code_bytes >= 0, "a matrix", f"one of {rows} by {width}")
        codes = self._array(np.uint8, code_bytes)
        centroids, parts = self._centroids(width)
        self._expect(code_bytes == rows * parts, f"{rows * parts:,} codes", f"{code_bytes:,}")
        norms = np.ones(rows, np.float32)
        if has_norms:
            norm_codes = self._array(np.uint8, rows)
            norms = self._centroids(1)[0][0, norm_codes, 0]
        return QuantisedRows(codes.reshape(rows, parts), centroids, width, norms)

    def _centroids(self, width: int) -> tuple[Floats, int]:
        of_width, parts, part_width, last_width = self._numbers("<4i")
        self._expect(
            of_width == width and 0 < last_width <= part_width and (parts - 1) * part_width + last_width == width,
            f"parts that make up {width} numbers",
            f"{parts} of {part_width}, the last of {last_width}",
        )
        found = self._array(np.float32, width * _CENTROIDS)
        centroids = np.zeros((parts, _CENTROIDS, part_width), np.float32)
        full = (parts - 1) * _CENTROIDS * part_width
        centroids[:-1] = found[:full].reshape(parts - 1, _CENTROIDS, part_width)
        centroids[-1, :, :last_width] = found[full:].reshape(_CENTROIDS, last_width)
        return centroids, parts

    def _check_shape(self, name: str, found: DenseRows | QuantisedRows, rows: int, width: int) -> None:
        count = found.rows if isinstance(found, DenseRows) else len(found.codes)
        self._expect((count, found.width) == (rows, width), f"{name} of {rows} by {width}", f"{count} by {found.width}")
