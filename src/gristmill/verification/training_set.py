"""A training set that `gristmill export` or `tokenize` wrote: files, counts, row lengths, and ids there and back.

Neither the run nor the raw files need be there, so ids are decoded and what they say is encoded again: of rows that are
documents all of each; of packed rows the documents that lie whole in one, as far as the format tells them from the
last parts of documents that began in other rows: Gristmill's own by the bounds that it keeps, others by EOS where
nothing but the row's beginning can be a last part (`wrapped`, `padded`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np

from gristmill.engine.record import WrittenFile
from gristmill.errors import TokenizerError
from gristmill.export import HIDDEN, SET_FILE, TOKENIZER_FILE, TrainingSet
from gristmill.formats import files
from gristmill.formats.packed_rows import PackedRows
from gristmill.sources.rows import readable
from gristmill.tokens import tokenizer
from gristmill.tokens.encode import encoder
from gristmill.tokens.reference import Reference
from gristmill.tokens.tokenizer import TokenizerSpec
from gristmill.verification.byte_table import ByteTable
from gristmill.verification.check import Check
from gristmill.verification.recorded_files import check_listed

ROWS, IDS = "rows are whole, and as many as listed", "ids are of the vocabulary"
THERE_AND_BACK = "tokens → text → the same tokens"
_BATCH_TOKENS = 1 << 20
_Whole = Callable[[int, Any], list[Any]]  # a row's number and ids → those of the documents that lie in it as a whole
_WITHOUT_PADDING = ("megatron",)  # formats that keep a row's real tokens only
_PARTS_AS_ROWS = ("datatrove",)  # formats in whose files each part of a document stands for itself


def verify_training_set(folder: Path, sample: int | None, threads: int) -> list[Check]:
    """The checks of an export. `sample`: there and back for so many documents instead of all."""
    about = files.read_json(folder / HIDDEN / SET_FILE)
    listed = [
        (folder / file["path"], WrittenFile(file["path"], file["bytes"], file["checksum"])) for file in about["files"]
    ]
    checks = [check_listed(listed, threads)]
    if checks[0].wrong:
        return checks
    rows, ids, back = Check(ROWS, "rows"), Check(IDS, "tokens"), Check(THERE_AND_BACK, "documents")
    kind, texts = about["format"], about["format"] == "jsonl"
    there_and_back = None if texts else _ThereAndBack.of(folder, about, back, sample)
    if there_and_back is None:
        why = "rows are texts" if texts else "rows do not tell documents, or ids not the text"
        back.note = f"does not apply: {why}"
    width = None if kind in (*_WITHOUT_PADDING, *_PARTS_AS_ROWS) else about["sequence_length"]
    places = 0
    for first, batch in _batches(TrainingSet.open(folder).read_rows()):
        rows.looked(len(batch))
        if texts:
            continue
        lengths = np.array([len(row) for row in batch], np.int64)
        places += int(lengths.sum())
        if width is not None and (lengths != width).any():
            number = int(np.argmax(lengths != width))
            rows.fails(f"row {first + number:,} has {lengths[number]:,} places", int((lengths != width).sum()))
        flat = np.concatenate([np.zeros(0, np.uint16), *batch])
        ids.looked(len(flat))
        if len(flat) and int(flat.max()) >= about["vocab_size"]:
            ids.fails(f"near row {first:,}: id {flat.max()}", int((flat >= about["vocab_size"]).sum()))
        elif there_and_back is not None:
            there_and_back.look(first, batch)
    if rows.checked != about["rows"] and kind not in _PARTS_AS_ROWS:
        rows.fails(f"{rows.checked:,} rows where {about['rows']:,} are listed", abs(rows.checked - about["rows"]))
    expected = about["tokens" if kind in _WITHOUT_PADDING else "ids"]
    if not texts and places != expected:
        rows.fails(f"{places:,} places where {expected:,} are listed")
    return [*checks, rows, *([] if texts else [ids]), back]


def _batches(rows: Iterator[Any]) -> Iterator[tuple[int, list[Any]]]:
    """Rows, about _BATCH_TOKENS ids at a time, and the number of the first."""
    held: list[Any] = []
    first = held_tokens = 0
    for row in rows:
        held.append(row if isinstance(row, str) else np.asarray(row))
        held_tokens += len(row)
        if held_tokens >= _BATCH_TOKENS:
            yield first, held
            first, held, held_tokens = first + len(held), [], 0
    yield first, held


class _ThereAndBack:
    """Decodes documents and encodes what they say."""

    def __init__(
        self, spec: TokenizerSpec, table: ByteTable, whole: _Whole, check: Check, sample: int | None, rows: int
    ) -> None:
        self._encoder, self._table, self._check, self._whole = encoder(spec), table, check, whole
        reference = Reference(spec)
        assert reference.affixes is not None
        self._before = len(reference.affixes.prefix)
        self._after = len(reference.affixes.suffix) + len(reference.eos_suffix)
        self._every = 1 if sample is None else max(1, rows // sample)

    @staticmethod
    def of(folder: Path, about: dict[str, Any], check: Check, sample: int | None) -> _ThereAndBack | None:
        """None where ids do not stand for bytes, or where nothing tells documents apart."""
        spec = _spec(folder, about)
        table = ByteTable.of(spec.json_text) if spec is not None else None
        if spec is None or table is None or Reference(spec).affixes is None:
            return None
        whole: _Whole
        if about["sequence_length"] is None:
            whole = _each
        elif about["format"] == "gristmill":
            whole = _by_bounds(folder, spec)
        elif spec.append_eos and about["strategy"] != "best_fit" and about["format"] not in _PARTS_AS_ROWS:
            whole = _by_eos(spec)
        else:
            return None
        return _ThereAndBack(spec, table, whole, check, sample, about["rows"])

    def look(self, first: int, batch: list[Any]) -> None:
        """One batch of rows."""
        which = [number for number in range(len(batch)) if (first + number) % self._every == 0]
        documents = [(first + at, part) for at in which for part in self._whole(first + at, batch[at])]
        if not documents:
            return
        contents = [ids[self._before : len(ids) - self._after] for _, ids in documents]
        offsets = np.concatenate([[0], np.cumsum([len(ids) for ids in contents])]).astype(np.int64)
        bounds, data = self._table.decode(offsets, np.concatenate(contents))
        tokens = self._encoder.encode(readable(bounds, data))
        self._check.looked(len(documents))
        for number, (row, ids) in enumerate(documents):
            if not np.array_equal(tokens.document(number), ids):
                self._check.fails(f"row {row:,}")


def _each(_: int, row: Any) -> list[Any]:
    return [row]


def _by_eos(spec: TokenizerSpec) -> _Whole:
    """Between one EOS and the next: before the first, a document may have begun in another row."""

    def whole(_: int, row: Any) -> list[Any]:
        ends = np.flatnonzero(row == spec.eos_id) + 1
        return [row[begin:end] for begin, end in pairwise(ends) if end - begin > 1]

    return whole


def _by_bounds(folder: Path, spec: TokenizerSpec) -> _Whole:
    """Parts that begin with a document's first token, and end with an EOS or before the row does."""
    packed = PackedRows.open(folder)

    def whole(number: int, row: Any) -> list[Any]:
        segments, length = packed.segments(number), packed.length(number)
        stops = [*segments.start[1:].tolist(), length]
        ranges = zip(segments.start.tolist(), stops, segments.token.tolist(), strict=True)
        return [row[begin:end] for begin, end, token in ranges if token == 0 and end < len(row)]

    return whole


def _spec(folder: Path, about: dict[str, Any]) -> TokenizerSpec | None:
    """The tokenizer with the policy that its fingerprint tells."""
    content = (folder / HIDDEN / TOKENIZER_FILE).read_bytes()
    named = {token["content"] for token in files.read_json(folder / HIDDEN / TOKENIZER_FILE).get("added_tokens") or ()}
    for append_eos, special, eos in product((True, "always", False), (False, True), (None, *sorted(named))):
        try:
            spec = tokenizer.from_json(content, append_eos=append_eos, special_tokens=special, eos_token=eos)  # type: ignore[arg-type]
        except TokenizerError:
            continue
        if spec.fingerprint == about["tokenizer_fingerprint"]:
            return spec
    return None
