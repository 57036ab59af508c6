from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from prose_texts import LONG
from prose_texts import texts as any_texts

from gristmill.document import buffers, large_strings
from gristmill.kernels.anchors import find_anchors, hash_blocks, key_bytes_of
from gristmill.kernels.places import COUNT_BITS, MOST_COUNT, PLACE_BITS
from reference import anchors as twin

few_letters: Any = st.lists(st.sampled_from(["a", "b", "aaaaaa", "ab", "é"]), max_size=40).map("".join)


@settings(max_examples=200)
@given(st.lists(st.one_of(few_letters, any_texts), max_size=4), st.integers(2, 20), st.integers(0, 9))
@example(["a" * 300, "", "ab" * 100, "x", "\0" * 50], 8, 0)
def test_equals_its_twin(texts: list[str], window_bytes: int, first_byte: int) -> None:
    found = find_anchors(*buffers(large_strings(["before", *texts]).slice(1)), first_byte, window_bytes)
    expected, repeats = [], []
    start = first_byte
    for text in texts:
        previous: Any = None
        for key, context, window, distance, windows in twin.anchors(
            text.encode(), window_bytes, key_bytes_of(window_bytes)
        ):
            if (key, context) == previous:
                repeats += range(start + window, start + window + windows)
            else:
                place = (start + window) << PLACE_BITS | distance << COUNT_BITS | windows
                expected.append((key, context, place))
            previous = (key, context)
        start += len(text.encode())
    assert list(zip(found.key.tolist(), found.context.tolist(), found.place.tolist(), strict=True)) == expected
    assert [at for place in found.repeats.tolist() for at in _windows(place)] == repeats


def _windows(place: int) -> range:
    first = place >> PLACE_BITS
    return range(first, first + (place & MOST_COUNT))


@given(st.binary(min_size=20, max_size=60), st.integers(2, 9), st.integers(1, 9), st.integers(0, 7), st.data())
def test_blocks_equal_their_twin(
    data: bytes, window_bytes: int, block_windows: int, first_byte: int, drawn: st.DataObject
) -> None:
    """Any windows whose anchor's key lies in all of them."""
    anchor = drawn.draw(st.integers(window_bytes, 11))
    first = drawn.draw(st.integers(anchor - window_bytes + 1, anchor))
    windows = drawn.draw(st.integers(1, anchor - first + 1))
    block_windows = min(block_windows, window_bytes)
    place = (first_byte + first) << PLACE_BITS | (anchor - first) << COUNT_BITS | windows
    found = hash_blocks(
        np.frombuffer(data, np.uint8), np.array([place, place]), first_byte, window_bytes, block_windows
    )
    expected = twin.blocks(data, anchor, range(first, first + windows), window_bytes, block_windows)
    packed = [(key, context, (first_byte + at) << PLACE_BITS | count) for key, context, at, count in expected]
    assert list(zip(*(column.tolist() for column in found), strict=True)) == packed * 2


@pytest.mark.parametrize("name", LONG)
def test_anchors_are_few(name: str) -> None:
    """In text with a period none but the first; else two for each distance between windows and keys."""
    text = LONG[name].encode()
    found = find_anchors(*buffers(large_strings([LONG[name]])), 0, 200)
    assert len(found.key) + len(found.repeats) < 3 * len(text) / 100
