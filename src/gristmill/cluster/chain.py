"""Which jobs a recipe becomes on a cluster, one behind the other, and how a job's tasks are shared among ranks."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from gristmill.engine.local import Job
from gristmill.recipe import Recipe
from gristmill.route.groups import groups_of


@dataclass(frozen=True)
class ChainJob:
    """One job of the cluster: a group of steps; and those of one task that its last rank carries out afterwards."""

    group: str
    then: tuple[str, ...]

    @property
    def name(self) -> str:
        """As schedulers and folders can call it."""
        return self.group.replace("/", "-")


def chain_of(recipe: Recipe, first: str) -> list[ChainJob]:
    """The jobs from the group on that is not done yet; it becomes one even if it is a single task."""
    groups = groups_of(recipe)
    begin = [group.name for group in groups].index(first)
    chain: list[ChainJob] = []
    for number, group in enumerate(groups[begin:]):
        if number == 0 or group.wide:
            chain.append(ChainJob(group.name, ()))
        else:
            chain[-1] = ChainJob(chain[-1].group, (*chain[-1].then, group.name))
    return chain


def ranks_of(recipe: Recipe, tasks: int | None) -> int:
    """How many ranks a job has: what the recipe says, never more than tasks, where these are known."""
    asked = recipe.engine.tasks or 1
    return asked if tasks is None else min(asked, tasks)


def shares_of(jobs: Sequence[Job], ranks: int) -> list[list[Job]]:
    """A share for each rank, of about equal bytes; none is empty. Tasks that go on in one another's files stay
    neighbours; else the largest are given first, each to whoever has least."""
    ranks = min(ranks, len(jobs))
    if jobs[0].step.in_order:
        return _stretches(jobs, ranks)
    shares: list[list[Job]] = [[] for _ in range(ranks)]
    least = [(0, rank) for rank in range(ranks)]
    for job in sorted(jobs, key=lambda job: -job.task.bytes):
        size_bytes, rank = heapq.heappop(least)
        shares[rank].append(job)
        heapq.heappush(least, (size_bytes + max(job.task.bytes, 1), rank))
    return shares


def _stretches(jobs: Sequence[Job], ranks: int) -> list[list[Job]]:
    total = sum(max(job.task.bytes, 1) for job in jobs)
    shares: list[list[Job]] = [[]]
    given = 0
    for number, job in enumerate(jobs):
        left = len(jobs) - number  # jobs that are still to be given
        full = given * ranks >= total * len(shares)
        if shares[-1] and len(shares) < ranks and (full or left <= ranks - len(shares)):
            shares.append([])
        shares[-1].append(job)
        given += max(job.task.bytes, 1)
    return shares
