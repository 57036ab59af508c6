from __future__ import annotations

import numba
import numpy as np

from gristmill.kernels.characters import CHARACTERS, DIGIT, INSIDE, PREFIX, SPACE, SUFFIX, code_points
from gristmill.kernels.vector import address
from gristmill.kernels.words_plain import special64

_SURROGATES = range(0xD800, 0xE000)


@numba.njit
def masks(data, starts, out):  # type: ignore[no-untyped-def]  # compiled
    base = address(data)
    for index in range(starts.size):
        out[index] = special64(base, starts[index])


def masks_of(codes: list[int]) -> list[int]:
    """The mask of each character, with a letter behind it."""
    encoded = [chr(code).encode() + b"a" for code in codes]
    starts = np.cumsum([0, *map(len, encoded)])[:-1]
    out = np.zeros(len(codes), np.uint64)
    masks(np.frombuffer(b"".join(encoded) + bytes(128), np.uint8).copy(), starts, out)
    widths = [len(one) for one in encoded]
    return [mask & (1 << width) - 1 for mask, width in zip(out.tolist(), widths, strict=True)]


def test_every_character_that_the_rule_looks_at_has_a_bit() -> None:
    assert CHARACTERS.size == 1
    looked_at = set(code_points(SPACE | PREFIX | SUFFIX | INSIDE | DIGIT).tolist())
    others = [code for code in range(0x110000) if code not in _SURROGATES and (code in looked_at or code % 97 == 0)]
    for code, mask in zip(others, masks_of(others), strict=True):
        assert mask in (0, 1), hex(code)
        assert mask == 1 or code not in looked_at, hex(code)


def test_letters_of_english_and_vietnamese_have_none() -> None:
    letters = [*range(0x41, 0x5B), *range(0x61, 0x7B), *range(0xC0, 0x250), *range(0x1E00, 0x1F00)]
    assert set(masks_of(letters)) == {0}
