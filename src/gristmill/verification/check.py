"""What was checked: one line of the table that `gristmill verify` ends with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import TypeVar

import pyarrow as pa

from gristmill.errors import GristmillError

MOST_PLACES = 5
READABLE = "everything that was to be checked could be read"
Item = TypeVar("Item")


@dataclass
class Check:
    """One statement, how many times it was looked at, and where it does not hold."""

    what: str
    unit: str
    checked: int = 0
    wrong: int = 0
    places: list[str] = field(default_factory=list)  # the first ones
    note: str = ""

    def looked(self, count: int) -> None:
        """So many more were looked at."""
        self.checked += count

    def fails(self, place: str, count: int = 1) -> None:
        """So many of them are wrong; the place of the first."""
        self.wrong += count
        if len(self.places) < MOST_PLACES:
            self.places.append(place)

    def add(self, other: Check) -> None:
        """What was found elsewhere for the same statement."""
        self.checked += other.checked
        self.wrong += other.wrong
        self.places = [*self.places, *other.places][:MOST_PLACES]
        self.note = self.note or other.note


def joined(found: Iterable[Sequence[Check]]) -> list[Check]:
    """One check for each statement, in the order of their first appearance."""
    by_name: dict[str, Check] = {}
    for checks in found:
        for check in checks:
            if check.what in by_name:
                by_name[check.what].add(check)
            else:
                by_name[check.what] = check
    return list(by_name.values())


class Lookers:
    """Those who look: this process, or several others. Use as a context manager."""

    def __init__(self, workers: int) -> None:
        self._pool = ProcessPoolExecutor(workers, get_context("spawn")) if workers > 1 else None
        self.readable = Check(READABLE, "tasks")

    def __enter__(self) -> Lookers:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def look(self, function: Callable[[Item], list[Check]], items: Iterable[Item]) -> list[Check]:
        """What the function finds for all items. Where one cannot be looked at (its files are damaged, cut short,
        gone), `readable` says so."""
        guarded = _Guarded(function)
        outcomes = map(guarded, items) if self._pool is None else self._pool.map(guarded, items)
        return joined(self._well(outcomes))

    def _well(self, outcomes: Iterable[list[Check] | str]) -> Iterator[list[Check]]:
        for outcome in outcomes:
            self.readable.looked(1)
            if isinstance(outcome, str):
                self.readable.fails(outcome)
            else:
                yield outcome


@dataclass(frozen=True)
class _Guarded:
    """The function, for whom a damaged file is something to report and no reason to stop."""

    function: Callable[..., list[Check]]

    def __call__(self, item: object) -> list[Check] | str:
        try:
            return self.function(item)
        except GristmillError as error:
            return str(error).split("\n", 1)[0]
        except (OSError, pa.ArrowException, AssertionError, ValueError, IndexError, KeyError) as error:
            return f"{type(error).__name__}: {error}: {str(item)[:200]}"
