from __future__ import annotations

import numpy as np
import pytest

from gristmill.errors import LedgerError
from gristmill.formats.draw_plan import DrawPlan
from gristmill.mixture.lengths import collect_lengths
from gristmill.mixture.mix import mix

RNG = np.random.default_rng(0)
NAMES = ["web", "wiki", "code"]
LENGTHS = collect_lengths([[RNG.integers(0, 400, docs)] for docs in (20_000, 3000, 5000)])


def test_achieved_shares_are_the_requested_ones(tmp_path):
    books = mix(tmp_path / "plan.arrow", NAMES, [0.6, 0.1, 0.3], LENGTHS, 50_000, seed=1, tokens=2_000_000)
    plan = DrawPlan(tmp_path / "plan.arrow")
    assert plan.sources == tuple(NAMES)
    assert (plan.tokens, plan.draws) == (books.drawn_tokens, books.drawn_docs)
    assert abs(books.drawn_tokens - 2_000_000) < 600
    for number, source in enumerate(books.sources):
        assert abs(source.achieved_share - source.requested_share) < 0.0002
        drawn = [draws.tokens[draws.source == number] for draws in map(plan.window_draws, range(len(plan)))]
        assert sum(int(tokens.sum()) for tokens in drawn) == source.drawn_tokens
        assert sum(len(tokens) for tokens in drawn) == source.drawn_docs
    for window in range(len(plan)):
        draws = plan.window_draws(window)
        share = draws.tokens[draws.source == 1].sum() / draws.tokens.sum()
        assert abs(share - 0.1) < 0.02


def test_books_balance_without_a_budget(tmp_path):
    books = mix(tmp_path / "plan.arrow", NAMES, [None] * 3, LENGTHS, 50_000, seed=1)
    for source in books.sources:
        assert source.drawn_tokens == source.available_tokens == source.target_tokens
        assert source.available_docs == source.drawn_docs + source.empty_docs
        assert source.empty_docs > 0
        assert (source.epochs, source.unused_tokens, source.unused_docs) == (1, 0, 0)


def test_unused_documents_are_in_the_books(tmp_path):
    books = mix(tmp_path / "plan.arrow", NAMES, [1, 1, 0], LENGTHS, 50_000, seed=1)
    web, wiki, code = books.sources
    assert web.unused_tokens == web.available_tokens - web.drawn_tokens > 0
    assert web.unused_docs == web.available_docs - web.empty_docs - web.drawn_docs > 0
    assert wiki.unused_tokens == 0
    assert (code.drawn_tokens, code.unused_tokens) == (0, code.available_tokens)
    assert books.notes == ("the weights sum to 2 and were divided by that",)


def test_the_bytes_depend_on_the_seed_alone(tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2), ("d", None)):
        mix(tmp_path / name, NAMES, [None] * 3, LENGTHS, 50_000, seed=seed)
    a, b, c, d = ((tmp_path / name).read_bytes() for name in "abcd")
    assert a == b
    assert len({a, c, d}) == 3


def test_a_failed_mix_leaves_no_file(tmp_path):
    with pytest.raises(LedgerError):
        mix(tmp_path / "plan.arrow", ["none"], [1], collect_lengths([[]]), 100, seed=1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("seed", [None, 1])
def test_concatenated_sources_come_one_behind_the_other(tmp_path, seed):
    mixed = mix(tmp_path / "mixed", NAMES, [None] * 3, LENGTHS, 50_000, seed)
    books = mix(tmp_path / "plan", NAMES, [None] * 3, LENGTHS, 50_000, seed, concatenated=True)
    assert books == mixed
    with DrawPlan(tmp_path / "plan") as plan, DrawPlan(tmp_path / "mixed") as interleaved:
        parts = [[each.window_draws(number) for number in range(len(each))] for each in (plan, interleaved)]
        order, other = (np.concatenate([draws.source for draws in part]) for part in parts)
        documents, others = (np.concatenate([draws.document for draws in part]) for part in parts)
        assert plan.tokens == books.drawn_tokens
    assert (np.diff(order.astype(int)) >= 0).all()
    for source in range(3):
        assert (documents[order == source] == others[other == source]).all()
