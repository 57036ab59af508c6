"""Ids back to the bytes of their text, by a table: nothing is asked of the tokenizer for each document.

What enters: a tokenizer whose ids stand for bytes (byte-level BPE without a normalizer: GPT-2, Llama 3, Qwen without
its NFC, ...). What leaves: texts as Arrow buffers. For other tokenizers there is no table: their text is not what
went in (Llama 2 puts a blank in front; NFC joins characters), so ids are compared with those of the stored document.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt

from gristmill.document import Bytes, Offsets
from gristmill.kernels.lines import gather
from gristmill.kernels.vector import PADDING_BYTES


class ByteTable:
    """The bytes of every id of a vocabulary, end to end."""

    def __init__(self, pieces: dict[int, bytes]) -> None:
        size = max(pieces, default=-1) + 1
        lengths = np.zeros(size, np.int64)
        lengths[list(pieces)] = [len(piece) for piece in pieces.values()]
        self._stops = np.cumsum(lengths)
        self._starts = self._stops - lengths
        self._data = np.frombuffer(b"".join(pieces[id_] for id_ in sorted(pieces)) + bytes(PADDING_BYTES), np.uint8)

    @staticmethod
    def of(json_text: str) -> ByteTable | None:
        """The table of a tokenizer.json; None where ids do not stand for bytes of the text."""
        parsed = json.loads(json_text)
        decoder = parsed.get("decoder") or {}
        if parsed.get("normalizer") or decoder.get("type") != "ByteLevel" or _adds_a_blank(parsed.get("pre_tokenizer")):
            return None
        byte_of = {character: byte for byte, character in enumerate(_characters())}
        added = {token["id"]: token["content"].encode() for token in parsed.get("added_tokens") or ()}
        if any(token.get("lstrip") or token.get("rstrip") for token in parsed.get("added_tokens") or ()):
            return None
        vocabulary = parsed["model"].get("vocab")
        if not isinstance(vocabulary, dict) or parsed["model"].get("type") not in (None, "BPE"):
            return None
        try:
            of_vocabulary = ((token, id_) for token, id_ in vocabulary.items() if id_ not in added)
            learnt = {id_: bytes(byte_of[each] for each in token) for token, id_ in of_vocabulary}
        except KeyError:
            return None
        return ByteTable({**learnt, **added})

    def decode(self, offsets: Offsets, ids: npt.NDArray[Any]) -> tuple[Offsets, Bytes]:
        """The bytes of each run of ids between `offsets` (from 0). Raises IndexError for an id that nobody knows."""
        which = ids.astype(np.int64)
        starts, stops = self._starts[which], self._stops[which]
        bounds = np.empty(len(ids) + 1, np.int64)
        data = np.empty(int((stops - starts).sum()) + PADDING_BYTES, np.uint8)
        gather(self._data, starts, stops, bounds, data)
        return bounds[offsets], data


def _adds_a_blank(pre_tokenizer: Any) -> bool:
    parts = (pre_tokenizer or {}).get("pretokenizers", [pre_tokenizer or {}])
    return any(part.get("add_prefix_space") for part in parts)


def _characters() -> list[str]:
    """The character that stands for each byte in a byte-level vocabulary: printable ones for themselves, the others in
    their order from U+0100 on (OpenAI's GPT-2)."""
    themselves = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(byte if byte in themselves else next(others)) for byte in range(256)]
