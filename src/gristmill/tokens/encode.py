"""Texts to ids: gigatoken where it agrees with `tokenizers`, `tokenizers` where not.

Enters: a large_string column. Leaves: a `TokenBatch`, the ids of all documents end to end, in 16 or 32 bits as
the vocabulary needs, with 64-bit bounds.
Guaranteed: the ids are those of `tokenizers` for the same text (and EOS where the policy says so), whatever the
batch size, the engine and what was encoded before.

How equality is held: the two engines are compared on nasty texts when an encoder is made and on the first
documents of each task (`check`); documents with characters of an uncertain Unicode age always go to `tokenizers`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.document import Bytes, Offsets, buffers, strings
from gristmill.tokens.affixes import with_affixes
from gristmill.tokens.gigatoken_engine import GigatokenEngine
from gristmill.tokens.newer_characters import documents_with_newer
from gristmill.tokens.probes import probes
from gristmill.tokens.reference import Reference
from gristmill.tokens.tokenizer import TokenizerSpec

CHECKED_DOCS = 8
CHECKED_BYTES = 16 << 10  # they take `tokenizers` about 5 ms, the chunk they stand for 200
_PIECE_BYTES = 4 << 20  # of text encoded at once: bounds what lies beside the result, up to 16 bytes a character

Ids = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class TokenBatch:
    """The ids of documents, end to end. Document i is `ids[offsets[i]:offsets[i + 1]]`."""

    offsets: Offsets
    ids: npt.NDArray[Any]  # uint16 or uint32

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def document(self, index: int) -> npt.NDArray[Any]:
        return self.ids[self.offsets[index] : self.offsets[index + 1]]


class Encoder:
    """Encodes with one spec. Costly to make (0.1 to 1 s) and faster when warm: see `encoder`."""

    def __init__(self, spec: TokenizerSpec) -> None:
        self.spec = spec
        self.notice: str | None = None  # one sentence, where gigatoken does not serve
        self._reference = Reference(spec)
        self._eos = np.array(self._reference.eos_suffix, np.uint32)
        self._gigatoken: GigatokenEngine | None = None
        if self._reference.affixes is None:
            self._fall_back("which cannot follow this tokenizer's post-processor")
            return
        try:
            self._gigatoken = GigatokenEngine(spec.json_text)
        except Exception as error:  # noqa: BLE001 - gigatoken has no exception class of its own
            reason = str(error).strip().split("\n", 1)[0]
            self._fall_back(f"which does not support this tokenizer ({reason})")
            return
        self._compare(pa.array(probes(self._reference.added_tokens), pa.large_string()))

    @property
    def engine(self) -> str:
        """Who encodes: `gigatoken` or `tokenizers`."""
        return "tokenizers" if self._gigatoken is None else "gigatoken"

    def encode(self, texts: Any) -> TokenBatch:
        """The ids of each text of a large_string array. A null counts as an empty text."""
        return _joined(list(self.encode_piecewise(texts)))

    def encode_piecewise(self, texts: Any) -> Iterator[TokenBatch]:
        """The same in runs of documents, for who would only copy them on: at least one run."""
        offsets, data = buffers(texts)
        encode_piece = self._with_tokenizers if self._gigatoken is None else self._with_gigatoken
        for piece in _pieces(offsets):
            yield encode_piece(piece, data)

    def check(self, texts: Any) -> None:
        """Compare the engines on the first documents of `texts`; from a difference on, `tokenizers` encodes."""
        if self._gigatoken is not None:
            self._compare(_sample(texts))

    def decode(self, ids: npt.ArrayLike) -> str:
        """The text behind ids, special tokens spelled out."""
        return self._reference.decode(ids)

    def _fall_back(self, why: str) -> None:
        self._gigatoken = None
        self.notice = f"`tokenizers` encodes here, at about 3 MB/s a core and not 200, instead of gigatoken, {why}."

    def _compare(self, texts: Any) -> None:
        offsets, data = buffers(texts)
        ours, theirs = self._with_gigatoken(offsets, data), self._with_tokenizers(offsets, data)
        for index in range(len(ours)):
            if not np.array_equal(ours.document(index), theirs.document(index)):
                self._fall_back(f"which gives other ids for {texts[index].as_py()[:60]!r}")
                return

    def _with_gigatoken(self, offsets: Offsets, data: Bytes) -> TokenBatch:
        affixes = self._reference.affixes
        assert self._gigatoken is not None and affixes is not None
        bounds, ids = self._gigatoken.encode(offsets, data)
        newer = documents_with_newer(offsets, data)
        if len(newer):
            texts = strings(offsets, data).take(pa.array(newer)).to_pylist()
            bounds, ids = _replaced(bounds, ids, newer, self._reference.content(texts))
        prefix = np.array(affixes.prefix, np.uint32)
        suffix = np.append(np.array(affixes.suffix, np.uint32), self._eos)
        return TokenBatch(*with_affixes(bounds, ids, prefix, suffix, self.spec.bytes_per_id))

    def _with_tokenizers(self, offsets: Offsets, data: Bytes) -> TokenBatch:
        bounds, ids = _end_to_end(self._reference.documents(strings(offsets, data).to_pylist()))
        none = np.zeros(0, np.uint32)
        return TokenBatch(*with_affixes(bounds, ids, none, none, self.spec.bytes_per_id))


_ENCODERS: dict[str, Encoder] = {}


def encoder(spec: TokenizerSpec) -> Encoder:
    """This process's encoder for the spec: made once, then kept warm for all its tasks."""
    if spec.fingerprint not in _ENCODERS:
        _ENCODERS[spec.fingerprint] = Encoder(spec)
    return _ENCODERS[spec.fingerprint]


def _pieces(offsets: Offsets) -> Iterator[Offsets]:
    """The offsets cut into runs of documents of about _PIECE_BYTES; at least one run, each of whole documents."""
    first, count = 0, len(offsets) - 1
    while True:
        last = int(np.searchsorted(offsets, offsets[first] + _PIECE_BYTES, side="right")) - 1
        last = min(max(last, first + 1), count)
        yield offsets[first : last + 1]
        if last == count:
            return
        first = last


def _sample(texts: Any) -> Any:
    """The first documents of `texts`, up to CHECKED_BYTES in all; the last is cut between two characters."""
    sample: list[str] = []
    left_bytes = CHECKED_BYTES
    for text in texts.slice(0, CHECKED_DOCS):
        content = text.as_buffer()[:left_bytes].to_pybytes() if text.is_valid else b""
        sample.append(content.decode("utf-8", "ignore"))
        left_bytes -= len(content)
    return pa.array(sample, pa.large_string())


def _end_to_end(documents: Sequence[Ids]) -> tuple[Offsets, Ids]:
    bounds = np.zeros(len(documents) + 1, np.int64)
    np.cumsum([len(ids) for ids in documents], out=bounds[1:])
    return bounds, np.concatenate([np.zeros(0, np.uint32), *documents])


def _replaced(
    bounds: Offsets, ids: Ids, which: npt.NDArray[np.int64], replacements: Sequence[Ids]
) -> tuple[Offsets, Ids]:
    documents = np.split(ids, bounds[1:-1])
    for index, replacement in zip(which, replacements, strict=True):
        documents[index] = replacement
    return _end_to_end(documents)


def _joined(batches: Sequence[TokenBatch]) -> TokenBatch:
    if len(batches) == 1:
        return batches[0]
    lengths = np.concatenate([np.diff(batch.offsets) for batch in batches])
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return TokenBatch(offsets, np.concatenate([batch.ids for batch in batches]))
