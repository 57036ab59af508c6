"""Packed rows against draw plan and token shards, a window at a time, by arrays.

Of each row file: the rows have their length, and everything in them is what the shards hold at the place that the row
names (so every packed token is traced to its document); and the parts of documents in them are the drawn documents,
each token as often as it was drawn, or it is counted as cropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gristmill.formats.draw_plan import DrawPlan, Draws
from gristmill.formats.row_file import I64, Layout, RowFile
from gristmill.formats.token_shard import TokenShard
from gristmill.kernels.packing import copy_segments
from gristmill.route.shards import SourceShards
from gristmill.verification.check import Check

ROWS, SPANS, DRAWN = "rows are whole", "packed tokens are those of their document", "drawn tokens are packed or cropped"
PLANNED = "draws name documents with so many tokens"


@dataclass(frozen=True)
class WindowWork:
    """One window of a stage: its draws, and the row file made of them."""

    plan: str
    window: int
    file: str
    layout: Layout
    sources: tuple[SourceShards, ...]
    cropped_tokens: int  # as its record counts them


def check_window(work: WindowWork) -> list[Check]:
    """The four statements for one window."""
    rows, spans = Check(ROWS, "rows"), Check(SPANS, "tokens")
    drawn, planned = Check(DRAWN, "tokens"), Check(PLANNED, "draws")
    file = RowFile.open(work.file, work.layout)
    parts = _parts(file, work, rows)
    if rows.wrong == 0:
        _check_spans(file, parts, work, spans)
    with DrawPlan(work.plan) as plan:
        draws = plan.window_draws(work.window)
        _check_plan(draws, work, planned)
        if planned.wrong == 0 and spans.wrong == 0 and rows.wrong == 0:
            if work.layout.strategy == "wrapped":
                _check_stream(plan, parts, len(file), work, drawn)
            else:
                _check_coverage(draws, parts, work, drawn)
    return [rows, spans, planned, drawn]


@dataclass(frozen=True)
class _Parts:
    """The parts of documents in a row file, as columns."""

    row: I64
    start: I64
    length: I64
    source: npt.NDArray[Any]
    document: I64
    token: I64


def _parts(file: RowFile, work: WindowWork, check: Check) -> _Parts:
    """The parts, and whether they fit into their rows."""
    segments, width = file.segments, work.layout.sequence_length
    lengths, offsets = file.lengths.astype(np.int64), segments.offsets
    check.looked(len(file))
    if offsets[0] != 0 or offsets[-1] != len(segments.start) or (np.diff(offsets) < 1).any():
        check.fails(f"{work.file}: its rows and its documents' bounds do not fit", len(file) or 1)
        return _Parts(*(np.zeros(0, np.int64) for _ in range(6)))
    row = np.repeat(np.arange(len(file)), np.diff(offsets))
    start = segments.start.astype(np.int64)
    stop = np.append(start[1:], 0)
    stop[offsets[1:] - 1] = lengths
    bad = (start >= stop) | (stop > width)
    bad[offsets[:-1]] |= start[offsets[:-1]] != 0
    bad |= (segments.source >= len(work.sources)) | (segments.token >= 1 << 62) | (segments.document >= 1 << 62)
    if work.layout.strategy == "wrapped":
        bad |= (lengths != width)[row]
    if (wrong := np.unique(row[bad])).size:
        check.fails(f"{work.file}: row {wrong[0]}", len(wrong))
    document, token = (column.astype(np.int64) for column in (segments.document, segments.token))
    return _Parts(row, start, stop - start, segments.source, document, token)


def _check_spans(file: RowFile, parts: _Parts, work: WindowWork, check: Check) -> None:
    """The rows made again from what they name: the same ids, and padding where nothing is."""
    width = work.layout.sequence_length
    made = np.full(len(file) * width, work.layout.pad_id, work.layout.dtype)
    destination = parts.row * width + parts.start
    check.looked(int(parts.length.sum()))
    order = np.argsort(_firsts(work.sources)[parts.source] + parts.document, kind="stable")
    for number, of_source in _runs(parts.source[order]):
        source = work.sources[number]
        first = np.concatenate([[0], np.cumsum(np.array(source.docs, np.int64))])
        shard_of = np.searchsorted(first, parts.document[order[of_source]], side="right") - 1
        for shard_number, of_shard in _runs(shard_of):
            which = order[of_source][of_shard]
            if shard_number >= len(source.paths):
                check.fails(f"{work.file}: row {parts.row[which[0]]}: no document {parts.document[which[0]]} in "
                            f"source {source.name}", int(parts.length[which].sum()))  # fmt: skip
                continue
            shard = _open(source.paths[shard_number])
            copied = copy_segments(
                shard.ids.astype(made.dtype, copy=False), shard.offsets, int(first[shard_number]),
                parts.document[which], parts.token[which], parts.length[which], destination[which], made,
            )  # fmt: skip
            shard.let_go()
            if copied < len(which):
                bad = which[copied]
                check.fails(f"{work.file}: row {parts.row[bad]}: document {parts.document[bad]} of source "
                            f"{source.name} is shorter than that", int(parts.length[which[copied:]].sum()))  # fmt: skip
    different = np.flatnonzero(made != file.ids.reshape(-1))
    if len(different) and check.wrong == 0:
        row, column = divmod(int(different[0]), width)
        part = np.flatnonzero((parts.row == row) & (parts.start <= column))[-1]
        name = f"document {parts.document[part]} of source {work.sources[parts.source[part]].name}"
        check.fails(f"{work.file}: row {row}, column {column}, {name}", len(different))


def _check_plan(draws: Draws, work: WindowWork, check: Check) -> None:
    """Every drawn document is there and has as many tokens as the plan says."""
    check.looked(len(draws.source))
    for number in np.unique(draws.source):
        which = np.flatnonzero(draws.source == number)
        if number >= len(work.sources):
            check.fails(f"{work.plan}: window {work.window}: source {number}", len(which))
            continue
        document = draws.document[which].astype(np.int64)
        lengths = _lengths(work.sources[number])
        wrong = document >= len(lengths)
        wrong[~wrong] = lengths[document[~wrong]] != draws.tokens[which][~wrong]
        if wrong.any():
            place = document[np.argmax(wrong)]
            check.fails(f"{work.plan}: window {work.window}: document {place} of {work.sources[number].name}",
                        int(wrong.sum()))  # fmt: skip


def _check_coverage(draws: Draws, parts: _Parts, work: WindowWork, check: Check) -> None:
    """Each token of a document lies in as many parts as the document was drawn times.

    Documents are laid end to end on a line; a part covers a stretch of it. What covers changes where a part starts or
    stops, so it is the same number everywhere exactly if, inside, as many parts start at a place as stop there.
    """
    first = _firsts(work.sources)
    places, times = np.unique(first[draws.source] + draws.document.astype(np.int64), return_counts=True)
    lengths = _all_lengths(work.sources, places)
    begins = np.cumsum(lengths + 1) - lengths - 1
    check.looked(int((lengths * times).sum()))
    place = first[parts.source] + parts.document
    which = np.minimum(np.searchsorted(places, place), len(places) - 1)
    strangers = np.flatnonzero(places[which] != place) if len(places) else np.arange(len(place))
    if len(strangers):
        one = strangers[0]
        check.fails(f"{work.file}: row {parts.row[one]}: document {parts.document[one]} was not drawn",
                    int(parts.length[strangers].sum()))  # fmt: skip
        return
    start = begins[which] + parts.token
    opened = np.sort(np.concatenate([start, np.repeat(begins + lengths, times)]))
    closed = np.sort(np.concatenate([start + parts.length, np.repeat(begins, times)]))
    if len(opened) != len(closed) or not np.array_equal(opened, closed):
        shorter = min(len(opened), len(closed))
        differing = np.flatnonzero(opened[:shorter] != closed[:shorter])
        at = min(int(opened[differing[0]]), int(closed[differing[0]])) if len(differing) else int(opened[-1])
        document = places[np.searchsorted(begins, at, side="right") - 1]
        source = int(np.searchsorted(first, document, side="right")) - 1
        missing = int((lengths * times).sum() - parts.length.sum())
        check.fails(f"{work.file}: document {document - first[source]} of source {work.sources[source].name}: not "
                    f"packed as often as drawn", max(1, abs(missing)))  # fmt: skip
    if work.cropped_tokens:
        check.fails(f"{work.file}: {work.cropped_tokens:,} tokens counted as cropped", work.cropped_tokens)


def _check_stream(plan: DrawPlan, parts: _Parts, rows: int, work: WindowWork, check: Check) -> None:
    """Rows of one long stream: a part for each place where a row or a draw begins, and no other."""
    width, window = work.layout.sequence_length, plan.window(work.window)
    begin = -(-window.first_token // width) * width
    end = begin + rows * width
    draws = _read_on(plan, work.window, end - window.first_token)
    starts = window.first_token + np.cumsum(draws.tokens, dtype=np.int64) - draws.tokens
    check.looked(window.tokens)
    place = begin + parts.row * width + parts.start
    inside = starts[(starts >= begin) & (starts < end)]
    expected = np.unique(np.concatenate([begin + np.arange(rows, dtype=np.int64) * width, inside]))
    if not np.array_equal(place, expected):
        check.fails(f"{work.file}: its documents do not begin where the draw plan has them", len(place))
        return
    of_draw = np.searchsorted(starts, place, side="right") - 1
    wrong = np.flatnonzero(
        (draws.source[of_draw] != parts.source)
        | (draws.document[of_draw].astype(np.int64) != parts.document)
        | (starts[of_draw] + parts.token != place)
    )
    if len(wrong):
        check.fails(f"{work.file}: row {parts.row[wrong[0]]}: another document than was drawn",
                    int(parts.length[wrong].sum()))  # fmt: skip
    left = window.first_token + window.tokens - max(end, window.first_token)
    if max(0, left) != work.cropped_tokens and work.window == len(plan) - 1:
        counted = f"{work.cropped_tokens:,} are counted as cropped"
        check.fails(f"{work.file}: {max(0, left):,} tokens of the stream's end lie in no row, {counted}")


def _read_on(plan: DrawPlan, window: int, tokens: int) -> Draws:
    parts = [plan.window_draws(window)]
    have = int(parts[0].tokens.sum(dtype=np.int64))
    while have < tokens and window + 1 < len(plan):
        window += 1
        parts.append(plan.window_draws(window))
        have += int(parts[-1].tokens.sum(dtype=np.int64))
    return Draws.join(parts)


def _firsts(sources: Sequence[SourceShards]) -> I64:
    """The number of each source's first document, over all sources."""
    return np.cumsum([0, *(sum(source.docs) for source in sources)])[:-1]


@lru_cache(maxsize=256)
def _open(path: str) -> TokenShard:
    return TokenShard.open(path)


@lru_cache(maxsize=64)
def _lengths(source: SourceShards) -> npt.NDArray[np.uint32]:
    """The tokens of each document, four bytes each."""
    return np.concatenate([np.zeros(0, np.uint32), *(_shard_lengths(path) for path in source.paths)])


def _shard_lengths(path: str) -> npt.NDArray[np.uint32]:
    shard = TokenShard.open(Path(path))
    return shard.lengths.astype(np.uint32)


def forget_files() -> None:
    """What was looked at before may have been made again since: this process is to open it anew."""
    _open.cache_clear()
    _lengths.cache_clear()


def _all_lengths(sources: Sequence[SourceShards], places: I64) -> I64:
    """The tokens of documents numbered over all sources, ascending."""
    first = _firsts(sources)
    bounds = [*np.searchsorted(places, first).tolist(), len(places)]
    found = [
        _lengths(source)[places[begin:end] - first[number]].astype(np.int64)
        for number, (source, (begin, end)) in enumerate(zip(sources, pairwise(bounds), strict=True))
    ]
    return np.concatenate([np.zeros(0, np.int64), *found])


def _runs(values: npt.NDArray[Any]) -> Iterator[tuple[int, slice]]:
    """Each value of an ascending array, and where it stands."""
    cuts = [0, *(np.flatnonzero(values[1:] != values[:-1]) + 1).tolist(), len(values)]
    for begin, end in pairwise(cuts):
        if begin < end:
            yield int(values[begin]), slice(begin, end)
