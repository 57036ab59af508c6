from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gristmill as gm
from gristmill.cluster.chain import chain_of, shares_of
from gristmill.drive import Silent, follow
from gristmill.engine.ledger import Ledger
from gristmill.engine.local import Job, LocalEngine
from gristmill.engine.step import Step, Task
from gristmill.recipe import Recipe
from gristmill.route.groups import groups_of, name_of
from gristmill.route.steps import steps_of

EVERYTHING: dict[str, Any] = {
    "dedup": ["exact", {"minhash": {"confirm": 0.7}}, "sentences", {"bloom": {"capacity": "10k"}}, {"substrings": {}}],
    "mixture": {
        "stages": [
            {"name": "first", "tokens": 20_000, "weights": {"web-en": 1}},
            {"name": "second", "tokens": 10_000, "weights": {"web-vi": 1}},
        ]
    },
}


INDEXES: dict[str, Any] = {
    "dedup": [{"exact": {"index": "INDEX"}}, {"minhash": {"confirm": 0.7, "index": "INDEX"}}],
    "output": {"texts": True},
}


def jobs_of(sizes: list[int], in_order: bool = False) -> list[Job]:
    tasks = [Task(f"{number:05}", {}, None, size) for number, size in enumerate(sizes)]
    step = Step("sift/web", "", 1, {}, tasks, in_order=in_order)
    return [Job(step, task, "") for task in tasks]


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=60), st.integers(1, 20), st.booleans())
def test_every_task_has_one_rank_and_no_rank_is_idle(sizes: list[int], ranks: int, in_order: bool) -> None:
    jobs = jobs_of(sizes, in_order)
    shares = shares_of(jobs, ranks)
    assert sorted(job.task.name for share in shares for job in share) == [job.task.name for job in jobs]
    assert len(shares) == min(ranks, len(jobs))
    assert all(shares)
    if in_order:
        assert [job.task.name for share in shares for job in share] == [job.task.name for job in jobs]
    most = max(sum(max(job.task.bytes, 1) for job in share) for share in shares)
    even = sum(max(size, 1) for size in sizes) / len(shares)
    assert most <= even + max(max(sizes), 1) * (2 if in_order else 1)


def test_a_chain_begins_with_what_is_not_done_and_names_what_its_last_ranks_carry_out(make_recipe: Any) -> None:
    recipe = Recipe.from_dict(make_recipe("out"))
    chain = chain_of(recipe, "dedup/exact")
    assert [job.name for job in chain] == [
        "dedup-exact",
        "dedup-minhash.sorted",
        "dedup-minhash.pairs",
        "tokenize",
        "pack",
    ]
    assert chain[2].then == ("dedup/minhash", "tokenizer/training", "tokenizer")
    assert chain[-1].then == ()


@pytest.mark.parametrize("changes", [{}, EVERYTHING, INDEXES])
def test_the_route_yields_the_groups_that_are_known_beforehand(
    tmp_path: Path, make_recipe: Any, changes: dict[str, Any]
) -> None:
    asked = make_recipe(tmp_path / "out")
    for key, change in changes.items():
        asked[key] = {**asked[key], **change} if isinstance(change, dict) and key == "output" else change
    if "mixture" in changes:
        asked["sources"] = [
            {key: value for key, value in source.items() if key != "weight"} for source in asked["sources"]
        ]
    asked["dedup"] = [
        {name: {**each, "index": str(tmp_path / name)} if "index" in each else each for name, each in item.items()}
        if isinstance(item, dict)
        else item
        for item in asked["dedup"]
    ]
    recipe = gm.Recipe.from_dict(asked)
    seen: list[tuple[str, int]] = []

    class Noting(LocalEngine):
        def run(self, steps: Any) -> Any:
            seen.append((name_of(steps), sum(len(step.tasks) for step in steps)))
            return super().run(steps)

    with Noting(tmp_path / "out", 0, Silent()) as engine:
        follow(engine, lambda: steps_of(recipe, tmp_path / "out", 1, Ledger()))
    groups = groups_of(recipe)
    assert [name for name, _ in seen] == [group.name for group in groups]
    assert all(group.wide or tasks == 1 for group, (_, tasks) in zip(groups, seen, strict=True))
