from __future__ import annotations

from typing import Any

import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

import gristmill as gm

IDS = [str(number) for number in range(20_000)]


def place(id_: str, seed: int) -> float:
    """The twin: the upper 53 bits of the hash, as a number above 0 and at most 1."""
    return ((xxhash.xxh64_intdigest(id_.encode(), seed) >> 11) + 1) / 2**53


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=70)), st.integers(0, 2**64 - 1))
def test_place_equals_its_twin(ids: list[str], seed: int) -> None:
    found = gm.filters.Sample(0.5, seed=seed).signals(ids)["sample.place"].to_pylist()
    assert found == [place(id_, seed) for id_ in ids]


def test_each_rule() -> None:
    at = place("a", 0)
    assert gm.filters.Sample(at).verdicts(["a"]).to_pylist() == [None]
    assert gm.filters.Sample(at - 2**-53).verdicts(["a"]).to_pylist() == ["sample.not_drawn"]


@pytest.mark.parametrize("rate", [0, 0.01, 0.5, 1])
def test_the_share_is_the_rate(rate: float) -> None:
    kept = gm.filters.Sample(rate).verdicts(IDS).null_count
    assert abs(kept - rate * len(IDS)) <= 5 * (len(IDS) * rate * (1 - rate)) ** 0.5


def test_a_lower_rate_keeps_some_of_the_same_and_another_seed_others() -> None:
    few, many, others = (
        {id_ for id_, verdict in zip(IDS, unit.verdicts(IDS).to_pylist(), strict=True) if verdict is None}
        for unit in (gm.filters.Sample(0.1), gm.filters.Sample(0.3), gm.filters.Sample(0.3, seed=1))
    )
    assert few < many
    assert abs(len(many & others) / len(IDS) - 0.09) < 0.02


def test_it_looks_at_ids_and_a_changed_rate_measures_nothing_anew() -> None:
    assert gm.filters.Sample(0.5).column() == "id"
    assert gm.filters.Sample(0.5).measuring() == gm.filters.Sample(0.1).measuring()


@pytest.mark.parametrize(
    "parameters", [{"rate": -0.1}, {"rate": 1.1}, {"rate": "half"}, {"rate": float("nan")}, {"rate": 0.5, "seed": -1}]
)
def test_impossible_parameters_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected"):
        gm.filters.Sample(**parameters)
