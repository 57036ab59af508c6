from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.errors import LedgerError
from gristmill.mixture.budget import Available, plan_budget


def sources(*rows):
    return [Available(name, weight, tokens, docs=tokens // 100) for name, weight, tokens in rows]


def targets(budget):
    return [portion.tokens for portion in budget.portions]


def test_without_weights_every_document_is_drawn_once():
    budget = plan_budget(sources(("web", None, 700), ("wiki", None, 300)))
    assert targets(budget) == [700, 300]
    assert [portion.share for portion in budget.portions] == [0.7, 0.3]
    assert [portion.epochs for portion in budget.portions] == [1, 1]
    assert budget.notes == ()


def test_without_weights_epochs_multiply():
    assert targets(plan_budget(sources(("web", None, 700), ("wiki", None, 300)), epochs=2.5)) == [1750, 750]


def test_without_weights_a_source_without_tokens_gives_nothing():
    assert targets(plan_budget(sources(("web", None, 700), ("wiki", None, 0)))) == [700, 0]


def test_a_budget_without_weights_keeps_natural_shares():
    assert targets(plan_budget(sources(("web", None, 700), ("wiki", None, 300)), tokens=100)) == [70, 30]


def test_without_a_budget_the_scarcest_source_sets_it():
    budget = plan_budget(sources(("web", 0.5, 10_000), ("wiki", 0.5, 300)))
    assert targets(budget) == [300, 300]
    assert [portion.epochs for portion in budget.portions] == [0.03, 1]
    assert targets(plan_budget(sources(("web", 0.5, 10_000), ("wiki", 0.5, 300)), epochs=2)) == [600, 600]


def test_weight_zero_is_not_drawn_even_without_tokens():
    budget = plan_budget(sources(("web", 1, 1000), ("old", 0, 500), ("none", 0, 0)), tokens=100)
    assert targets(budget) == [100, 0, 0]
    assert budget.notes == ()


def test_weights_that_do_not_sum_to_one_are_normalised_and_reported():
    budget = plan_budget(sources(("web", 0.7, 10_000), ("wiki", 0.35, 10_000)), tokens=300)
    assert targets(budget) == [200, 100]
    assert budget.notes == ("the weights sum to 1.05 and were divided by that",)


def test_decimal_weights_sum_exactly():
    rows = [(f"s{i}", 0.1, 10_000) for i in range(10)]
    assert plan_budget(sources(*rows), tokens=1000).notes == ()


def test_exhausted_redistributes():
    budget = plan_budget(
        sources(("web", 0.5, 10_000), ("wiki", 0.3, 100), ("code", 0.2, 10_000)), tokens=7000, max_epochs=4
    )
    assert targets(budget) == [4714, 400, 1886]
    assert [portion.exhausted for portion in budget.portions] == [False, True, False]
    assert budget.notes == (
        (
            "source `wiki` is exhausted: 2,100 tokens asked (21.00 epochs), 400 given (4.00 epochs); "
            "the other sources take over the rest"
        ),
    )


def test_exhausted_redistributes_in_a_chain():
    """What wiki cannot give exhausts code, which was within its limit before."""
    budget = plan_budget(
        sources(("web", 0.4, 10_000), ("wiki", 0.4, 10), ("code", 0.2, 250)), tokens=1000, max_epochs=1
    )
    assert targets(budget) == [740, 10, 250]
    assert [portion.exhausted for portion in budget.portions] == [False, True, True]


def test_everything_exhausted_shrinks_the_budget_and_says_so():
    budget = plan_budget(sources(("web", 0.5, 100), ("wiki", 0.5, 50)), tokens=10_000, max_epochs=2)
    assert targets(budget) == [200, 100]
    assert (budget.tokens, budget.asked_tokens) == (300, 10_000)
    assert budget.notes[-1] == "the sources give 300 of the 10,000 tokens asked for"


def test_exhausted_repeats():
    budget = plan_budget(sources(("web", 0.5, 900), ("wiki", 0.5, 10)), tokens=1000, when_exhausted="repeat")
    assert targets(budget) == [500, 500]
    assert budget.portions[1].epochs == 50
    assert len(budget.notes) == 1 and "repeated all the same" in budget.notes[0]


def test_exhausted_stops():
    budget = plan_budget(sources(("web", 0.75, 900), ("wiki", 0.25, 10)), tokens=1000, when_exhausted="stop")
    assert targets(budget) == [120, 40]
    assert "the whole budget shrinks" in budget.notes[0]
    assert budget.notes[-1] == "the sources give 160 of the 1,000 tokens asked for"


def test_the_limit_itself_is_allowed():
    budget = plan_budget(sources(("web", 0.5, 100), ("wiki", 0.5, 100)), tokens=800, max_epochs=4)
    assert targets(budget) == [400, 400]
    assert budget.notes == ()


def test_a_weight_without_tokens_names_the_source():
    with pytest.raises(LedgerError, match=r"tokens of source `wiki` \(weight 0.3\), found none in its 12 documents"):
        plan_budget([Available("web", 0.7, 100, 3), Available("wiki", 0.3, 0, 12)])


def test_nothing_to_draw_from():
    with pytest.raises(LedgerError, match=r"tokens and a weight above 0, found none: `web` \(0 tokens\)"):
        plan_budget([Available("web", None, 0, 0)])


def test_room_for_no_token():
    with pytest.raises(LedgerError, match="at least one token"):
        plan_budget(sources(("web", None, 3)), epochs=0.1)


supplies = st.lists(
    st.tuples(st.floats(0, 10).map(lambda weight: round(weight, 4)), st.integers(1, 10**13)), min_size=1, max_size=8
).filter(lambda rows: any(weight for weight, _ in rows))


@given(supplies, st.integers(1, 10**13), st.sampled_from(["redistribute", "repeat", "stop"]), st.sampled_from([1, 4]))
def test_promises_of_every_budget(rows, tokens, policy, max_epochs):
    available = [Available(f"s{i}", weight, count, 1) for i, (weight, count) in enumerate(rows)]
    weights = [Fraction(str(weight)) for weight, _ in rows]
    try:
        budget = plan_budget(available, tokens, max_epochs=max_epochs, when_exhausted=policy)
    except LedgerError:
        assert policy == "stop"  # shrunk to nothing
        return
    assert sum(targets(budget)) == budget.tokens <= tokens
    for portion, source, weight in zip(budget.portions, available, weights, strict=True):
        share = weight / sum(weights)
        if weight == 0:
            assert portion.tokens == 0
        if policy != "repeat":
            assert portion.tokens <= max_epochs * source.tokens
        if policy != "redistribute" or not any(other.exhausted for other in budget.portions):
            assert abs(portion.tokens - budget.tokens * share) < 1
        if policy == "redistribute" and portion.exhausted:
            assert portion.tokens == max_epochs * source.tokens
    if policy == "repeat":
        assert budget.tokens == tokens
    if policy == "redistribute":
        positive = [source for source, weight in zip(available, weights, strict=True) if weight]
        assert budget.tokens == min(tokens, sum(max_epochs * source.tokens for source in positive))
        free = [(p, w) for p, w in zip(budget.portions, weights, strict=True) if w and not p.exhausted]
        ratios = [(portion.tokens - 1, portion.tokens + 1, weight) for portion, weight in free]
        assert all(low / w <= high / v for low, _, w in ratios for _, high, v in ratios)
