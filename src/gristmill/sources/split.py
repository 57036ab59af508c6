"""From files to chunks, the units of work and of resuming.

What enters: files as `find` found them, in order. What leaves: chunks of about `chunk_bytes` of uncompressed data: big
files are cut, small ones are put together. The cuts are a function of the files and of `chunk_bytes`, never of the
number of workers. Only files that may need a cut are opened: footers are read, and the first megabyte of compressed
files.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from gristmill.errors import SourceError
from gristmill.sources.decompress import DamagedError, DecompressedFile
from gristmill.sources.opening import open_bytes
from gristmill.sources.piece import Chunk, InputFile, Piece
from gristmill.sources.registry import (
    COMPRESSIONS,
    FORMATS,
    Cut,
    check_options,
    compression,
    format_name,
    known_suffixes,
    unit_bytes,
)

_SAMPLE_BYTES = 1 << 20
_MOST_EXPANSION = 64.0  # what a sample may say at most: a bomb's first megabyte need not be read to its end
_OPENING_BYTES = 16 << 10  # opening a file takes as long as reading so many bytes
_OPEN_AT_ONCE = 16


def split(
    files: Sequence[InputFile],
    format_options: Mapping[str, str],
    chunk_bytes: int,
    limit_docs: int | None = None,
) -> list[Chunk]:
    """The files as chunks. A limit makes it one chunk, read from the front until it is reached."""
    check_options(format_options)
    whole = [_whole(file, format_options) for file in files]
    if limit_docs is not None:
        return [Chunk(tuple(whole), limit_docs)]
    large = [piece for piece in whole if _cost_bytes(piece) > chunk_bytes]
    with ThreadPoolExecutor(_OPEN_AT_ONCE) as pool:
        cuts = dict(zip(large, pool.map(lambda piece: _cut(piece, chunk_bytes), large), strict=True))
    return list(_grouped(whole, cuts, chunk_bytes))


def even_chunk_bytes(files: Sequence[InputFile], format_options: Mapping[str, str], tasks: int) -> int:
    """The `chunk_bytes` that cuts these files into about so many chunks."""
    return max(1, int(sum(_cost_bytes(_whole(file, format_options)) for file in files) / tasks))


def _whole(file: InputFile, format_options: Mapping[str, str]) -> Piece:
    name = format_name(file.path, format_options)
    if name is None:
        raise SourceError(f"expected a file of a known suffix, found {file.path}\n  Known: {known_suffixes()}.")
    return Piece(file.path, name, 0, None, file.bytes, file.stamp)


def _cost_bytes(piece: Piece) -> float:
    """What reading a whole file costs, in bytes of uncompressed data: a guess made without opening it."""
    return _OPENING_BYTES + piece.bytes * COMPRESSIONS.get(compression(piece.path) or "", 1.0) * (
        FORMATS[piece.format].expansion
    )


def _grouped(whole: Sequence[Piece], cuts: Mapping[Piece, list[Piece]], chunk_bytes: int) -> Iterator[Chunk]:
    """A chunk for each piece of a large file, and for each run of small files that fits into one."""
    group: list[Piece] = []
    group_bytes = 0.0
    for file in whole:
        cost_bytes = _cost_bytes(file)
        if group and group_bytes + cost_bytes > chunk_bytes:
            yield Chunk(tuple(group))
            group, group_bytes = [], 0.0
        if file in cuts:
            yield from (Chunk((piece,)) for piece in cuts[file])
        else:
            group.append(file)
            group_bytes += cost_bytes
    if group:
        yield Chunk(tuple(group))


def _cut(piece: Piece, chunk_bytes: int) -> list[Piece]:
    """A large file's pieces."""
    cut = FORMATS[piece.format].cut
    if cut is Cut.UNITS:
        return _unit_ranges(piece, unit_bytes(piece.format)(piece.path), chunk_bytes)
    if cut in (Cut.BYTES, Cut.STREAM):
        return _byte_ranges(piece, piece.bytes * _expansion(piece), chunk_bytes)
    return [piece]


def _unit_ranges(piece: Piece, sizes: Sequence[int], chunk_bytes: int) -> list[Piece]:
    """Runs of units of `chunk_bytes` at least, each ended by the unit that reaches it."""
    pieces = []
    start = 0
    run_bytes = 0
    for number, size in enumerate(sizes, 1):
        run_bytes += size
        if run_bytes >= chunk_bytes or number == len(sizes):
            share = int(piece.bytes * run_bytes / max(1, sum(sizes)))
            pieces.append(_range(piece, start, number, share))
            start, run_bytes = number, 0
    return pieces or [piece]


def _byte_ranges(piece: Piece, expected_bytes: float, chunk_bytes: int) -> list[Piece]:
    """Ranges of `chunk_bytes` each, the last one open, for nobody knows where a compressed file ends."""
    count = max(1, -int(-expected_bytes // chunk_bytes))
    bounds = [number * chunk_bytes for number in range(count)]
    stops: list[int | None] = [*bounds[1:], None]
    return [_range(piece, start, stop, piece.bytes // count) for start, stop in zip(bounds, stops, strict=True)]


def _range(piece: Piece, start: int, stop: int | None, piece_bytes: int) -> Piece:
    return Piece(piece.path, piece.format, start, stop, piece_bytes, piece.stamp, piece.options)


def _expansion(piece: Piece) -> float:
    """Bytes that come out for a byte that goes in, in the first megabyte of the file."""
    suffix = compression(piece.path)
    if suffix is None:
        return 1.0
    with open_bytes(piece.path) as file:
        sample = file.read(_SAMPLE_BYTES)
    stream = DecompressedFile(io.BytesIO(sample), suffix, piece.path)
    block = memoryview(bytearray(_SAMPLE_BYTES))
    total = 0
    with suppress(DamagedError):  # a sample ends in the middle of something
        while total < _MOST_EXPANSION * len(sample) and (count := stream.readinto(block)):
            total += count
    return total / len(sample) if total else COMPRESSIONS[suffix]
