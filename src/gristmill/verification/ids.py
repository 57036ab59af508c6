"""Ids against tokenizer and text: of every document (or of a sample) tokens → text → tokens are the same again.

The tokens of a shard are decoded by a table and compared with the bytes of the stored text, then that text is encoded
again and compared with the tokens. Where a tokenizer does not give its text back, only the second. A sample is encoded
by `tokenizers` itself, which is right by definition; everything by the run's encoder, which is checked against it at
the beginning of each chunk.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.document import buffers
from gristmill.formats.token_shard import TokenShard
from gristmill.route.survivors import surviving
from gristmill.tokens.encode import TokenBatch, encoder
from gristmill.tokens.reference import Reference
from gristmill.tokens.tokenizer import TokenizerSpec
from gristmill.verification.byte_table import ByteTable
from gristmill.verification.check import Check
from gristmill.verification.run_folder import RunChunk

ENCODED, DECODED = "ids are those of the document's text", "ids decode to the document's text"
LOSSY = "does not apply: this tokenizer's ids do not give the text back as it was"
_PIECE_TOKENS = 1 << 20  # decoded at once: bounds what lies beside them


@dataclass(frozen=True)
class IdsWork:
    """One chunk; all of its documents, or so many, evenly spread."""

    chunk: RunChunk
    spec: TokenizerSpec
    sample: int | None


def check_ids(work: IdsWork) -> list[Check]:
    """The two statements for one chunk."""
    encoded, decoded = Check(ENCODED, "documents"), Check(DECODED, "documents")
    shard = TokenShard.open(work.chunk.shard)
    if shard.tokenizer_fingerprint != work.spec.fingerprint:
        encoded.looked(len(shard))
        encoded.fails(f"{work.chunk.shard}: made with another tokenizer", len(shard))
        return [encoded]
    table, affixes = _table(work.spec)
    chosen = _chosen(len(shard) + int(work.chunk.tokenized.counts["short_docs"]), work.sample)
    for rows, texts in _documents(work.chunk, chosen):
        at = 0
        for tokens in _encoded(work, texts):
            here = slice(at, at + len(tokens))
            _compare(work.chunk, shard, rows[here], tokens, encoded)
            if table is not None:
                _decode(work.chunk, shard, rows[here], texts.slice(at, len(tokens)), table, affixes, decoded)
            at += len(tokens)
        shard.let_go()
    if table is None:
        decoded.note = LOSSY
    return [encoded, decoded]


@lru_cache(maxsize=2)
def _reference(spec: TokenizerSpec) -> Reference:
    return Reference(spec)


@lru_cache(maxsize=2)
def _table(spec: TokenizerSpec) -> tuple[ByteTable | None, tuple[int, int]]:
    """The table, and how many ids stand before and after those of the text."""
    reference = _reference(spec)
    if reference.affixes is None:
        return None, (0, 0)
    after = len(reference.affixes.suffix) + len(reference.eos_suffix)
    return ByteTable.of(spec.json_text), (len(reference.affixes.prefix), after)


def _chosen(documents: int, sample: int | None) -> npt.NDArray[np.int64] | None:
    if sample is None or sample >= documents:
        return None
    return np.unique(np.linspace(0, documents - 1, sample).astype(np.int64))


def _documents(chunk: RunChunk, chosen: npt.NDArray[np.int64] | None) -> Iterator[tuple[Any, Any]]:
    """Row numbers and texts of the documents that are left, or of the chosen ones of them."""
    first = 0
    for batch in surviving(chunk.files, ["text"]):
        rows, texts = batch.column("row").to_numpy(), batch.column("text")
        if chosen is not None:
            begin, end = np.searchsorted(chosen, [first, first + len(rows)])
            which = chosen[begin:end] - first
            rows, texts, first = rows[which], texts.take(pa.array(which)), first + len(rows)
        if len(rows):
            yield rows, texts


def _encoded(work: IdsWork, texts: Any) -> Iterator[TokenBatch]:
    if work.sample is not None:
        documents = _reference(work.spec).documents(texts.to_pylist())
        offsets = np.concatenate([[0], np.cumsum([len(ids) for ids in documents])]).astype(np.int64)
        yield TokenBatch(offsets, np.concatenate(documents))
        return
    tokenizer = encoder(work.spec)
    tokenizer.check(texts)
    yield from tokenizer.encode_piecewise(texts)


def _places(shard: TokenShard, rows: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Where in the shard the documents of these rows are, and which are there at all."""
    at = np.minimum(np.searchsorted(shard.rows, rows), max(0, len(shard) - 1))
    there = shard.rows[at] == rows if len(shard) else np.zeros(len(rows), np.bool_)
    return at, there


def _compare(chunk: RunChunk, shard: TokenShard, rows: Any, tokens: TokenBatch, check: Check) -> None:
    """Documents in the shard have these ids; the others are too short to be there."""
    at, there = _places(shard, rows)
    check.looked(len(rows))
    lengths = np.diff(tokens.offsets)
    least = int(chunk.tokenized.made_from["min_tokens"])
    wrong = np.where(there, np.diff(shard.offsets)[at] != lengths if len(shard) else False, lengths >= least)
    same = np.flatnonzero(there & ~wrong)
    ours = _of_documents(shard.offsets, shard.ids, at[same])
    theirs = _of_documents(tokens.offsets, tokens.ids, same)
    if not np.array_equal(ours, theirs):
        document = np.repeat(same, lengths[same])
        wrong[document[ours != theirs]] = True
    _report(chunk, rows, wrong, check)


def _decode(
    chunk: RunChunk, shard: TokenShard, rows: Any, texts: Any, table: ByteTable, affixes: tuple[int, int], check: Check
) -> None:
    """The shard's ids, without what stands before and after the text, are the text."""
    at, there = _places(shard, rows)
    which = np.flatnonzero(there)
    at, texts, rows = at[which], texts.take(pa.array(which)), rows[which]
    lengths = shard.offsets[at + 1] - shard.offsets[at]
    check.looked(len(at))
    for start, stop in _runs(lengths):
        ids = _of_documents(shard.offsets, shard.ids, at[start:stop])
        offsets, ids = _without_affixes(np.concatenate([[0], np.cumsum(lengths[start:stop])]), ids, affixes)
        bounds, data = table.decode(offsets, ids)
        text_bounds, text_data = buffers(texts.slice(start, stop - start))
        wrong = np.diff(bounds) != np.diff(text_bounds)
        if wrong.any() or not np.array_equal(data[: bounds[-1]], text_data[text_bounds[0] : text_bounds[-1]]):
            for number in range(stop - start):  # only where something is wrong
                decoded = data[bounds[number] : bounds[number + 1]]
                wrong[number] |= not np.array_equal(decoded, text_data[text_bounds[number] : text_bounds[number + 1]])
        _report(chunk, rows[start:stop], wrong, check)


def _of_documents(offsets: Any, ids: Any, which: npt.NDArray[np.int64]) -> Any:
    """The ids of some documents, end to end; a view where they lie so already."""
    if len(which) == 0:
        return ids[:0]
    if which[-1] - which[0] + 1 == len(which):
        return ids[offsets[which[0]] : offsets[which[-1] + 1]]
    return np.concatenate([ids[offsets[one] : offsets[one + 1]] for one in which])


def _without_affixes(offsets: Any, ids: Any, affixes: tuple[int, int]) -> tuple[Any, Any]:
    """The same without the first and last ids of each document."""
    before, after = affixes
    text = np.ones(len(ids), np.bool_)
    for number in range(before):
        text[np.minimum(offsets[:-1] + number, offsets[1:] - 1)] = False
    for number in range(after):
        text[np.maximum(offsets[1:] - 1 - number, offsets[:-1])] = False
    left = np.maximum(np.diff(offsets) - before - after, 0)
    return np.concatenate([[0], np.cumsum(left)]), ids[text]


def _runs(lengths: npt.NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Runs of documents of about _PIECE_TOKENS tokens."""
    ends = np.cumsum(lengths)
    start = 0
    while start < len(lengths):
        before = int(ends[start - 1]) if start else 0
        stop = max(int(np.searchsorted(ends, before + _PIECE_TOKENS, side="right")), start + 1)
        yield start, stop
        start = stop


def _report(chunk: RunChunk, rows: npt.NDArray[np.int32], wrong: npt.NDArray[np.bool_], check: Check) -> None:
    for number in np.flatnonzero(wrong):
        check.fails(f"{chunk.name}/{rows[number]}")
