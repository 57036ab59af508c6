"""The slow, obvious twins of the packed-row format and the loader, and packs small enough to read by eye."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gristmill.formats import packed_rows
from gristmill.formats.packed_rows import Layout, Manifest, Segments


class Part(NamedTuple):
    """A document, or a stretch of one, in a row."""

    source: int
    document: int
    token: int
    ids: list[int]


Row = list[Part]


def layout(sequence_length: int, vocab_size: int = 1000) -> Layout:
    return Layout(sequence_length, "wrapped", 0, vocab_size, "f" * 64, ("web", "wiki"))


def random_rows(count: int, sequence_length: int, seed: int, vocab_size: int = 1000) -> list[Row]:
    """Rows of every kind: full and padded ones, one part and many, whole documents and continued ones, empty ones."""
    rng = random.Random(seed)
    rows, document, token = [], 0, 0
    for _ in range(count):
        row, left = [], rng.choice([sequence_length, sequence_length, rng.randint(0, sequence_length)])
        while left:
            size = min(left, rng.randint(1, sequence_length))
            row.append(Part(rng.randrange(2), document, token, [rng.randrange(vocab_size) for _ in range(size)]))
            left -= size
            goes_on = not left and rng.random() < 0.5
            document, token = (document, token + size) if goes_on else (document + 1, 0)
        rows.append(row)
    return rows


def wrapped_rows(documents: list[list[int]], sequence_length: int) -> list[Row]:
    """Documents end to end, cut where a row is full; the last row is padded."""
    rows: list[Row] = [[]]
    room = sequence_length
    for number, ids in enumerate(documents):
        token = 0
        while token < len(ids):
            if not room:
                rows.append([])
                room = sequence_length
            some = ids[token : token + room]
            rows[-1].append(Part(0, number, token, some))
            token += len(some)
            room -= len(some)
    return rows


def write_pack(folder: Path, rows: list[Row], kind: Layout, rows_a_file: int = 7) -> Manifest:
    """The rows through our own writer, `rows_a_file` in each file but the last."""
    entries = []
    for begin in range(0, len(rows), rows_a_file):
        some = rows[begin : begin + rows_a_file]
        parts = [part for row in some for part in row]
        starts = [sum(len(before.ids) for before in row[:at]) for row in some for at in range(len(row))]
        segments = Segments(
            np.cumsum([0, *(len(row) for row in some)]).astype(np.int64),
            np.array(starts, np.uint32),
            np.array([part.source for part in parts], np.uint16),
            np.array([part.document for part in parts], np.uint64),
            np.array([part.token for part in parts], np.uint64),
        )
        ids = np.array([padded_ids(row, kind) for row in some], kind.dtype)
        lengths = np.array([sum(len(part.ids) for part in row) for row in some], np.uint32)
        path = folder / f"{len(entries):05d}.arrow"
        entries.append(packed_rows.write(path, kind, ids, lengths, segments))
    return packed_rows.write_manifest(folder, kind, entries)


def padded_ids(row: Row, kind: Layout) -> list[int]:
    ids = [token for part in row for token in part.ids]
    return ids + [kind.pad_id] * (kind.sequence_length - len(ids))


def batch(rows: list[Row], kind: Layout, ignore_first_tokens: bool) -> dict[str, Any]:
    """The twin of loader/collate.py, as lists."""
    found: dict[str, Any] = {"input_ids": [], "labels": [], "position_ids": [], "cu_seqlens": [], "max_seqlen": 0}
    for number, row in enumerate(rows):
        labels, positions, bounds = [], [], []
        for part in row:
            bounds.append(number * kind.sequence_length + len(labels))
            labels += [-100, *part.ids[1:]] if ignore_first_tokens else part.ids
            positions += range(len(part.ids))
        padding = kind.sequence_length - len(labels)
        if padding:
            bounds.append(number * kind.sequence_length + len(labels))
        found["input_ids"].append(padded_ids(row, kind))
        found["labels"].append(labels + [-100] * padding)
        found["position_ids"].append(positions + list(range(padding)))
        found["cu_seqlens"] += bounds
        found["max_seqlen"] = max([found["max_seqlen"], padding, *(len(part.ids) for part in row)])
    found["cu_seqlens"].append(len(rows) * kind.sequence_length)
    return found


def shares(positions: list[int], world_size: int, batch_size: int, drop_last: bool) -> list[list[list[int]]]:
    """The twin of Share: for each rank, its batches of these positions."""
    ranks: list[list[list[int]]] = [[] for _ in range(world_size)]
    while positions:
        block, positions = positions[: world_size * batch_size], positions[world_size * batch_size :]
        if len(block) < world_size * batch_size and drop_last:
            break
        for rank in range(world_size):
            size = len(block) // world_size + (rank < len(block) % world_size)
            before = sum(len(block) // world_size + (other < len(block) % world_size) for other in range(rank))
            if size:
                ranks[rank].append(block[before : before + size])
    return ranks
