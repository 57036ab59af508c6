"""The registry of units: which cleaners, filters and deduplicators exist, by the names recipes use.

A row is a name and the class behind it. A user's own class, `module:Class`, is a first-class citizen. Classes are
frozen dataclasses: their fields are the parameters, their defaults the published ones.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gristmill.errors import unknown_name

REGISTRY: dict[str, dict[str, str]] = {
    "cleaner": {
        "unicode": "gristmill.cleaning.unicode:Unicode",
        "strip": "gristmill.cleaning.strip:Strip",
        "nfc": "gristmill.cleaning.nfc:Nfc",
        "ftfy": "gristmill.cleaning.ftfy:Ftfy",
    },
    "filter": {
        "length": "gristmill.filters.length:Length",
        "gopher_repetition": "gristmill.filters.gopher_repetition:GopherRepetition",
        "gopher_quality": "gristmill.filters.gopher_quality:GopherQuality",
        "fineweb_quality": "gristmill.filters.fineweb_quality:FineWebQuality",
    },
    "deduplicator": {
        "exact": "gristmill.dedup.exact:Exact",
        "sentences": "gristmill.dedup.sentences:Sentences",
        "substrings": "gristmill.dedup.substrings:Substrings",
    },
}


@dataclass(frozen=True)
class Choice:
    """A unit as a recipe names it: name and parameters, already checked, not yet made."""

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def make(self, kind: str) -> Any:
        """The unit itself."""
        return _usable(kind, self._as_declared(kind))

    def literals(self, kind: str) -> dict[str, Any]:
        """What enters a fingerprint: name, VERSION, every parameter with defaults filled in; for a file its content."""
        unit = self._as_declared(kind)
        contents = unit.contents() if hasattr(unit, "contents") else {}
        return {"name": self.name, "version": getattr(unit, "VERSION", 1), **dataclasses.asdict(unit), **contents}

    def measuring_literals(self) -> dict[str, Any]:
        """What a filter's signals depend on: `literals` without the bounds."""
        unit = self._as_declared("filter")
        parameters = unit.measuring() if hasattr(unit, "measuring") else dataclasses.asdict(unit)
        return {"name": self.name, "version": getattr(unit, "VERSION", 1), **parameters}

    def _as_declared(self, kind: str) -> Any:
        return _class(kind, self.name)(**self.parameters)


def choose(kind: str, item: Any) -> Choice:
    """Check one item of a recipe's list: a name, or {name: parameters}. Raises ValueError as a sentence."""
    if isinstance(item, Choice):
        name, parameters = item.name, item.parameters
    elif isinstance(item, str):
        name, parameters = item, {}
    elif isinstance(item, Mapping) and len(item) == 1:
        name, parameters = next(iter(item.items()))
        parameters = parameters or {}
    else:
        raise ValueError(f"expected a {kind}'s name or one `name: parameters`, found {item!r}")
    if not isinstance(name, str) or not isinstance(parameters, Mapping):
        raise ValueError(f"expected `name: {{parameter: value}}`, found {item!r}")
    unit_class = _class(kind, name)
    known = [parameter.name for parameter in dataclasses.fields(unit_class)]
    for parameter in parameters:
        if parameter not in known and parameter not in getattr(unit_class, "ALIASES", ()):
            raise ValueError(unknown_name(f"parameter of {kind} `{name}`", str(parameter), known))
    try:
        _usable(kind, unit_class(**parameters))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{kind} `{name}`: {error}") from error
    return Choice(name, dict(parameters))


def cuts(unit: Choice) -> bool:
    """Whether a deduplicator cuts text, instead of taking whole documents away."""
    return bool(getattr(_class("deduplicator", unit.name), "CUTS", False))


def split_at_first_cut(deduplicators: Sequence[Choice]) -> tuple[tuple[Choice, ...], tuple[Choice, ...]]:
    """Those that see the text as sift leaves it, and those from the first on that cuts."""
    first = next((number for number, unit in enumerate(deduplicators) if cuts(unit)), len(deduplicators))
    return tuple(deduplicators[:first]), tuple(deduplicators[first:])


def _usable(kind: str, unit: Any) -> Any:
    """The unit in the form in which stages call it: users may write their filters in simpler ones."""
    if kind != "filter":
        return unit
    from gristmill.filters.user_defined import adapted

    return adapted(unit)


def _class(kind: str, name: str) -> Any:
    target = REGISTRY[kind].get(name, name if ":" in name else None)
    if target is None:
        raise ValueError(unknown_name(kind, name, REGISTRY[kind]))
    module_name, _, class_name = target.partition(":")
    try:
        unit_class = getattr(importlib.import_module(module_name), class_name)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"expected a {kind} at `{target}`, found none: {error}") from error
    if not dataclasses.is_dataclass(unit_class):
        raise ValueError(f"expected a dataclass (its fields are the parameters), found {target}")
    return unit_class
