"""The registry of units: which cleaners, filters and deduplicators exist, by the names recipes use.

A row is a name and the class behind it. A user's own class, `module:Class`, is a first-class citizen. Classes are
frozen dataclasses: their fields are the parameters, their defaults the published ones.
"""

from __future__ import annotations

import dataclasses
import importlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gristmill import foreign_code
from gristmill.errors import FormatError, unknown_name

REGISTRY: dict[str, dict[str, str]] = {
    "cleaner": {
        "unicode": "gristmill.cleaning.unicode:Unicode",
        "strip": "gristmill.cleaning.strip:Strip",
        "nfc": "gristmill.cleaning.nfc:Nfc",
        "ftfy": "gristmill.cleaning.ftfy:Ftfy",
        "html": "gristmill.cleaning.html:Html",
        "pii": "gristmill.cleaning.pii:Pii",
        "symbol_lines": "gristmill.cleaning.symbol_lines:SymbolLines",
    },
    "filter": {
        "length": "gristmill.filters.length:Length",
        "language": "gristmill.filters.language:Language",
        "fasttext_classifier": "gristmill.filters.fasttext_classifier:FastTextClassifier",
        "gopher_repetition": "gristmill.filters.gopher_repetition:GopherRepetition",
        "gopher_quality": "gristmill.filters.gopher_quality:GopherQuality",
        "bad_words": "gristmill.filters.bad_words:BadWords",
        "c4_paragraphs": "gristmill.filters.c4_paragraphs:C4Paragraphs",
        "c4_quality": "gristmill.filters.c4_quality:C4Quality",
        "fineweb_quality": "gristmill.filters.fineweb_quality:FineWebQuality",
        "spam": "gristmill.filters.spam:Spam",
        "url": "gristmill.filters.url:Url",
        "character_ratio": "gristmill.filters.character_ratio:CharacterRatio",
        "regex": "gristmill.filters.regex:Regex",
        "sample": "gristmill.filters.sample:Sample",
    },
    "deduplicator": {
        "exact": "gristmill.dedup.exact:Exact",
        "minhash": "gristmill.dedup.minhash:MinHash",
        "bloom": "gristmill.dedup.bloom:Bloom",
        "sentences": "gristmill.dedup.sentences:Sentences",
        "substrings": "gristmill.dedup.substrings:Substrings",
    },
}


OURS, DATATROVE = "own", "datatrove"  # who judges
_OF_DATATROVE = "datatrove.pipeline.filters."  # holds filters, and runs nothing that a stranger's recipe says
_PRESETS = {"preset": "preset", "parameters_file": "preset_of_file"}  # see filters/presets.py


@dataclass(frozen=True)
class Choice:
    """A unit as a recipe names it: name and parameters, already checked, not yet made."""

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    by: str = OURS  # of a filter: who judges

    def make(self, kind: str) -> Any:
        """The unit itself."""
        unit = _usable(kind, self._as_declared(kind))
        if self.by == OURS:
            return unit
        from gristmill.filters.datatrove_blocks import in_place_of

        return in_place_of(unit)

    def judged_by(self, by: str) -> Choice:
        """The same filter, judged by somebody else."""
        return dataclasses.replace(self, by=by)

    def literals(self, kind: str) -> dict[str, Any]:
        """What enters a fingerprint: name, VERSION, every parameter with defaults filled in; for a file its content."""
        unit = self._as_declared(kind)
        contents = unit.contents() if hasattr(unit, "contents") else {}
        literals = {"name": self.name, "version": getattr(unit, "VERSION", 1), **dataclasses.asdict(unit), **contents}
        return literals if self.by == OURS else {**literals, "blocks": self.by}

    def measuring_literals(self) -> dict[str, Any]:
        """What a filter's signals depend on: `literals` without the bounds."""
        if self.by != OURS:
            return self.literals("filter")  # datatrove gives verdicts, no numbers
        unit = self._as_declared("filter")
        parameters = unit.measuring() if hasattr(unit, "measuring") else dataclasses.asdict(unit)
        return {"name": self.name, "version": getattr(unit, "VERSION", 1), **parameters}

    def sketching_literals(self) -> dict[str, Any]:
        """What a deduplicator's sketches depend on: `literals` without what only decides who stays."""
        unit = self._as_declared("deduplicator")
        parameters = unit.sketching() if hasattr(unit, "sketching") else dataclasses.asdict(unit)
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
    parameters = _with_preset(kind, name, unit_class, parameters)
    known = [parameter.name for parameter in dataclasses.fields(unit_class)]
    for parameter in parameters:
        if parameter not in known and parameter not in getattr(unit_class, "ALIASES", ()):
            raise ValueError(unknown_name(f"parameter of {kind} `{name}`", str(parameter), known))
    try:
        _usable(kind, unit_class(**parameters))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{kind} `{name}`: {error}") from error
    return Choice(name, dict(parameters))


def _with_preset(kind: str, name: str, unit_class: Any, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """The parameters with those put in that a filter's `preset` or `parameters_file` stands for."""
    own = {parameter.name for parameter in dataclasses.fields(unit_class)}
    named = [key for key in _PRESETS if key in parameters and key not in own]
    if kind != "filter" or not named:
        return parameters
    from gristmill.filters import presets

    if len(named) > 1:
        raise ValueError(f"filter `{name}`: expected either {' or '.join(named)}, found both")
    given = {key: value for key, value in parameters.items() if key != named[0]}
    aliases = getattr(unit_class, "ALIASES", {})
    decided = {aliases.get(key, key) for key in given}
    try:
        found = getattr(presets, _PRESETS[named[0]])(name, parameters[named[0]])
    except (FormatError, ValueError) as error:
        raise ValueError(f"filter `{name}`: {error}") from error
    return {**{key: value for key, value in found.items() if key not in decided}, **given}


def is_foreign(item: Any) -> bool:
    """Whether one item of a recipe's list names code that Gristmill does not ship."""
    return ":" in str(item if isinstance(item, str) else next(iter(item)))


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
    if name not in REGISTRY[kind] and not f"{module_name}.".startswith(_OF_DATATROVE):
        foreign_code.require_allowed(target)
    try:
        unit_class = getattr(importlib.import_module(module_name), class_name)
    except (ImportError, AttributeError) as error:
        install = "; run `pip install 'gristmill[datatrove]'`" if _lacks_datatrove(error) else ""
        raise ValueError(f"expected a {kind} at `{target}`, found none: {error}{install}") from error
    if kind == "filter" and "datatrove" in sys.modules:
        from gristmill.filters.datatrove_blocks import as_unit, is_block

        if is_block(unit_class):
            return as_unit(unit_class)
    if not dataclasses.is_dataclass(unit_class):
        raise ValueError(f"expected a dataclass (its fields are the parameters), found {target}")
    return unit_class


def _lacks_datatrove(error: Exception) -> bool:
    return isinstance(error, ModuleNotFoundError) and (error.name or "").split(".")[0] == DATATROVE
