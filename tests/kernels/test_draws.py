"""The kernel is driven through mixture/draws.py, which owns its state."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from gristmill.kernels.draws import LOOKAHEAD
from gristmill.mixture.draws import DrawStream
from gristmill.mixture.lengths import collect_lengths
from reference import draws as twin

sizes = st.lists(st.integers(0, 50), min_size=1, max_size=12).filter(any)
seeds = st.integers(0, 2**64 - 1)


def drawn(lengths, targets, keys, window_tokens=1 << 40):
    stream = DrawStream(
        collect_lengths([[source] for source in lengths]),
        targets,
        None if keys is None else np.array(keys, np.uint64),
        window_tokens,
    )
    windows = [list(zip(*(column.tolist() for column in window), strict=True)) for window in stream]
    return windows, stream


@st.composite
def mixtures(draw):
    lengths = draw(st.lists(sizes, min_size=1, max_size=5))
    targets = [draw(st.integers(0, 4 * sum(source))) for source in lengths]
    return lengths, targets, draw(st.none() | st.lists(seeds, min_size=len(lengths), max_size=len(lengths)))


@given(mixtures(), st.integers(1, 500))
@example(([[0, 0, 3], [3, 0, 0]], [9, 9], None), 1)
@example(([[1] * (LOOKAHEAD + 1), [0] * LOOKAHEAD + [5]], [3 * LOOKAHEAD, 20], None), 100)
def test_agrees_with_its_twin_whatever_the_window(mixture, window_tokens):
    windows, _ = drawn(*mixture, window_tokens)
    assert [draw for window in windows for draw in window] == twin.draws(*mixture)
    for window in windows:
        tokens = [tokens for _, _, tokens in window]
        assert sum(tokens[:-1]) < window_tokens
    assert all(sum(tokens for _, _, tokens in window) >= window_tokens for window in windows[:-1])


@given(mixtures())
def test_a_source_ends_within_half_a_document_of_its_target(mixture):
    lengths, targets, _ = mixture
    _, stream = drawn(*mixture)
    for source, target, tokens in zip(lengths, targets, stream.drawn_tokens, strict=True):
        assert 2 * abs(int(tokens) - target) <= max(source)


@given(mixtures())
def test_every_prefix_has_the_shares(mixture):
    """At any moment there is a point on the line that every source has reached, give or take half a document."""
    lengths, targets, _ = mixture
    progress = [0] * len(targets)
    for source, _, tokens in (draw for window in drawn(*mixture)[0] for draw in window):
        reached = (progress[source] + tokens / 2) / targets[source]
        progress[source] += tokens
        for other, target in enumerate(targets):
            if target:
                assert abs(progress[other] - reached * target) <= max(lengths[other]) / 2 + 1e-6


@given(sizes, seeds, st.integers(1, 3))
def test_whole_epochs_draw_every_document_equally_often(source, key, epochs):
    windows, _ = drawn([source], [epochs * sum(source)], [key])
    documents = [document for window in windows for _, document, _ in window]
    with_tokens = [number for number, tokens in enumerate(source) if tokens]
    for epoch in range(epochs):
        of_epoch = documents[epoch * len(with_tokens) : (epoch + 1) * len(with_tokens)]
        assert sorted(of_epoch) == with_tokens
    assert len(documents) == epochs * len(with_tokens)


def test_each_epoch_has_an_order_of_its_own():
    windows, _ = drawn([[1] * 1000], [2000], [5])
    documents = [document for window in windows for _, document, _ in window]
    assert documents[:1000] != documents[1000:]
    assert documents[:1000] != sorted(documents[:1000])


def test_stored_order_without_keys():
    windows, _ = drawn([[1, 2, 3]], [12], None)
    assert [document for _, document, _ in windows[0]] == [0, 1, 2, 0, 1, 2]
