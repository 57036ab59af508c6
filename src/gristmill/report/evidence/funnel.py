"""From rows read to tokens packed, by source; and the mixture, asked and achieved. All of it from the ledger."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from gristmill.engine.ledger import Entry, Ledger
from gristmill.route.shares import mixture_shares

_READ = {"documents": "rows read", "tokens": "tokens encoded"}
_LEFT = {"sift": "kept by cleaning and filters", "tokenize": "tokenized", "mix": "drawn", "pack": "packed"}


def funnel(ledger: Ledger) -> list[dict[str, Any]]:
    """A step for each stage that takes something away: what is left by source, and what went and why."""
    steps: list[dict[str, Any]] = []
    for group in _groups(ledger):
        stage, unit = group[0].stage, group[0].unit
        if not any(step["unit"] == unit for step in steps):
            entered = {entry.source: entry.entered for entry in group}
            steps.append({"stage": stage, "unit": unit, "label": _READ[unit], "left": entered, "gone": {}, "cut": {}})
        left = {entry.source: entry.left for entry in group}
        gone = {reason: {} for entry in group for reason in entry.gone}  # type: dict[str, dict[str, int]]
        for entry in group:
            for reason, count in entry.gone.items():
                if count:
                    gone[reason][entry.source] = count
        gone = {reason: counts for reason, counts in gone.items() if counts}
        if stage == "tokenize" and not gone:
            continue  # every document was encoded: the line before says as much
        cut = {name: sum(entry.details.get(f"cut_{name}", 0) for entry in group) for name in ("documents", "bytes")}
        steps.append({"stage": stage, "unit": unit, "label": _label(group), "left": left, "gone": gone, "cut": cut})
    return steps


def mixture(ledger: Ledger) -> list[dict[str, Any]]:
    """Asked and achieved shares, stage by stage."""
    return [asdict(share) for share in mixture_shares(ledger) if share.requested_share or share.tokens]


def _label(group: list[Entry]) -> str:
    if group[0].stage != "dedup":
        return _LEFT.get(group[0].stage, f"left by {group[0].stage}")
    units = dict.fromkeys(reason.split(".")[0] for entry in group for reason in entry.gone)
    return f"left by {', '.join(units)}" if units else "left by deduplication"


def _groups(ledger: Ledger) -> list[list[Entry]]:
    """Entries side by side: one of each source. Several deduplicators make several groups."""
    groups: list[list[Entry]] = []
    for unit in ("documents", "tokens"):
        open_groups: dict[str, list[list[Entry]]] = {}
        for entry in ledger.entries:
            if entry.unit != unit:
                continue
            of_stage = open_groups.setdefault(entry.stage, [])
            place = next((group for group in of_stage if all(one.source != entry.source for one in group)), None)
            if place is None:
                place = []
                of_stage.append(place)
                groups.append(place)
            place.append(entry)
    return groups
