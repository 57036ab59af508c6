from __future__ import annotations

import numpy as np
import pytest

from gristmill.mixture.draws import DrawStream, shuffle_keys
from gristmill.mixture.lengths import collect_lengths

LENGTHS = collect_lengths([[np.full(3000, 7)], [np.full(500, 11)]])
NAMES = ["web", "wiki"]


def documents(stream):
    return {
        (source, document)
        for window in stream
        for source, document in zip(window.source.tolist(), window.document.tolist(), strict=True)
    }


def test_counts_what_it_has_drawn():
    stream = DrawStream(LENGTHS, [700, 110], shuffle_keys(NAMES, 1), window_tokens=100)
    windows = list(stream)
    assert stream.drawn_tokens.tolist() == [700, 110]
    assert stream.drawn_docs.tolist() == [100, 10]
    assert stream.positions.tolist() == [100, 10]
    assert sum(len(window.source) for window in windows) == 110


def test_a_second_stream_goes_on_where_the_first_stopped():
    keys = shuffle_keys(NAMES, 1)
    first = DrawStream(LENGTHS, [7000, 2200], keys, 1000)
    first_documents = documents(first)
    second = DrawStream(LENGTHS, [14_000, 3300], keys, 1000, start=first.positions)
    second_documents = documents(second)
    assert len(first_documents) == 1200 and len(second_documents) == 2300
    assert not first_documents & second_documents
    assert first_documents | second_documents == {(0, n) for n in range(3000)} | {(1, n) for n in range(500)}


def test_another_source_does_not_reshuffle_the_first():
    alone = list(DrawStream(collect_lengths([[np.full(3000, 7)]]), [21_000], shuffle_keys(["web"], 1), 1 << 30))
    both = list(DrawStream(LENGTHS, [21_000, 5500], shuffle_keys(NAMES, 1), 1 << 30))
    assert np.array_equal(alone[0].document, both[0].document[both[0].source == 0])


def test_another_seed_is_another_order():
    one, other = (documents(DrawStream(LENGTHS, [700, 0], shuffle_keys(NAMES, seed), 1000)) for seed in (1, 2))
    assert one != other


def test_a_window_of_short_documents_closes_by_number(monkeypatch):
    monkeypatch.setattr("gristmill.mixture.draws.WINDOW_DRAWS", 64)
    stream = DrawStream(LENGTHS, [7 * 200, 0], None, window_tokens=1 << 30)
    assert [len(window.source) for window in stream] == [64, 64, 64, 8]


def test_a_target_without_tokens_is_caught():
    with pytest.raises(AssertionError, match="without tokens"):
        DrawStream(collect_lengths([[np.zeros(5)]]), [1], None, 10)
