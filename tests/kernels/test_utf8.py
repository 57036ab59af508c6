from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from gristmill.document import buffers
from gristmill.kernels import utf8
from reference import texts as twin

NASTY_BYTES = [
    b"", b"\0", b"\xff", b"\xc0\x80", b"\xc2", b"a\xc2", b"\xed\xa0\x80", b"\xed\xb0\x80x", b"\xed\x9f\xbf",
    b"\xe0\x80\x80",
    b"\xe0\xa0\x80", b"\xf0\x80\x80\x80", b"\xf0\x90\x80\x80", b"\xf4\x8f\xbf\xbf", b"\xf4\x90\x80\x80",
    b"\xf5\x80\x80\x80",
    b"\xe1\x80", b"\xf1\x80\x80", b"\xf1\x80\x80a", b"ok\x80ok", "Tiếng Việt 漢字 🙂".encode(),
    b"x" * 100 + b"\0" + b"y" * 100,
]  # fmt: skip
SPACES = "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u200a\u200b\u2028\u2029\u202f\u205f\u3000\ufeff"


def apply(kernel, values: list[bytes], *more: int) -> list[bytes]:  # type: ignore[no-untyped-def]
    offsets, data = buffers(pa.array(values, pa.large_binary()))
    new_offsets = np.empty(len(offsets), np.int64)
    out = np.empty(int(offsets[-1]), np.uint8)
    written = kernel(offsets, data, *more, new_offsets, out)
    assert written == new_offsets[-1]
    return [bytes(out[a:b]) for a, b in pairwise(new_offsets)]


@given(st.lists(st.one_of(st.sampled_from(NASTY_BYTES), st.binary(max_size=40)), max_size=6))
@example(NASTY_BYTES)
def test_repair_equals_its_twin(values: list[bytes]) -> None:
    assert apply(utf8.repair, values, 1) == [twin.repair(value).encode() for value in values]
    assert apply(utf8.repair, values, 0) == [twin.repair_keeping_nul(value).encode() for value in values]


def test_repair_does_not_join_neighbours() -> None:
    assert apply(utf8.repair, [b"a\xc3", b"\xa9b"], 1) == [b"a", b"b"]


@given(
    st.lists(
        st.text(st.one_of(st.sampled_from(SPACES + "aé漢🙂"), st.characters(exclude_categories=["Cs"]))), max_size=5
    )
)
@example([SPACES, SPACES + "x" + SPACES, "", "x", "\u200b x \u200b"])
def test_strip_and_words_equal_their_twins(values: list[str]) -> None:
    raw = [value.encode() for value in values]
    assert apply(utf8.strip, raw) == [twin.strip(value).encode() for value in values]
    offsets, data = buffers(pa.array(values, pa.large_string()))
    words = np.empty(len(values), np.int64)
    utf8.count_words(offsets, data, words)
    assert words.tolist() == [twin.count_words(value) for value in values]


def test_every_space_of_unicode_is_known() -> None:
    texts = [f"{chr(code)}x{chr(code)}" for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    assert apply(utf8.strip, [text.encode() for text in texts]) == [text.strip().encode() for text in texts]


def test_slices_of_arrays_work() -> None:
    values = pa.array([b"one", b" two ", b"three\xff"], pa.large_binary())[1:]
    offsets, data = buffers(values)
    new_offsets, out = np.empty(3, np.int64), np.empty(20, np.uint8)
    assert bytes(out[: utf8.repair(offsets, data, 1, new_offsets, out)]) == b" two three"
