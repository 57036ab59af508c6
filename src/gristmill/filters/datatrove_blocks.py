"""datatrove's filters as filters of a recipe, a document at a time, at datatrove's speed.

Two ways in. `as_unit` makes a filter of any of datatrove's filter classes, by import path (`datatrove.pipeline.filters:
LambdaFilter`, or your own subclass of BaseFilter): the arguments of its constructor are the parameters. `in_place_of`
puts datatrove's filter in the place of one of ours (`engine: {blocks: datatrove}`): same parameters, same verdicts.

A block sees the document's text and the metadata that its source keeps (`metadata_columns`); what it writes into the
text stays, what it writes into the metadata does not.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import json
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, ClassVar

import pyarrow as pa

from gristmill import foreign_code
from gristmill.filters.datatrove_judge import UNNAMED, Judge, judge_of
from gristmill.filters.filter import Filter, RewritingFilter
from gristmill.filters.user_defined import VerdictFilter
from gristmill.filters.view import ALL_METADATA, TextView

_NOT_OURS = ("self", "exclusion_writer")  # dropped documents are kept by the recipe (`output.keep_dropped`)


def is_block(unit_class: Any) -> bool:
    """Whether it is a filter of datatrove's kind. Imports nothing where nobody has imported datatrove."""
    return any(
        base.__module__ == "datatrove.pipeline.filters.base_filter" and base.__name__ == "BaseFilter"
        for base in getattr(unit_class, "__mro__", ())
    )


def as_unit(block: Any) -> Any:
    """A dataclass of a filter, whose fields are the arguments of the block's constructor."""
    fields: list[Any] = []
    for name, parameter in inspect.signature(block.__init__).parameters.items():
        if name in _NOT_OURS:
            continue
        if parameter.default is inspect.Parameter.empty:
            fields.append((name, Any))
        else:
            fields.append((name, Any, dataclasses.field(default_factory=partial(_itself, parameter.default))))
    namespace = {"BLOCK": block, "NAME": block.__name__}
    return dataclasses.make_dataclass(
        block.__name__, fields, bases=(_Block,), namespace=namespace, frozen=True, kw_only=True
    )


def _itself(value: Any) -> Any:
    return value


class _OneByOne(VerdictFilter, RewritingFilter):
    """Judges and rewrites document by document, once a batch."""

    def other_columns(self) -> tuple[str, ...]:
        """Whatever metadata there is."""
        return (ALL_METADATA,)

    def judged(self, text: str, metadata: dict[str, Any]) -> tuple[str | None, str]:
        """A verdict without the filter's name, or null; and the text as it is then."""
        raise TypeError(f"{type(self).__name__} does not say how to judge")

    def verdicts_in(self, view: TextView) -> Any:
        """The verdicts of the batch."""
        return self._of_batch(view)[0]

    def rewritten(self, view: TextView) -> Any:
        """The texts of the batch."""
        return self._of_batch(view)[1]

    def _of_batch(self, view: TextView) -> tuple[Any, Any]:
        return view.once((self.NAME, id(self)), lambda: self._judge(view))

    def _judge(self, view: TextView) -> tuple[Any, Any]:
        rows = zip(view.texts.to_pylist(), view.column(ALL_METADATA).to_pylist(), strict=True)
        found = [self.judged(text, json.loads(metadata) if metadata else {}) for text, metadata in rows]
        verdicts = pa.array([verdict for verdict, _ in found], pa.string())
        return verdicts, pa.array([text for _, text in found], pa.large_string())


class _Block(_OneByOne):
    BLOCK: ClassVar[Any]

    def __post_init__(self) -> None:
        for parameter in dataclasses.fields(self):  # type: ignore[arg-type]  # what is made of it is a dataclass
            if _is_callable(self.BLOCK, parameter.name):
                foreign_code.require_allowed(str(getattr(self, parameter.name)))

    @cached_property
    def _judge_of_block(self) -> Judge:
        values = {parameter.name: getattr(self, parameter.name) for parameter in dataclasses.fields(self)}  # type: ignore[arg-type]
        for name, value in values.items():
            if _is_callable(self.BLOCK, name) and isinstance(value, str):
                values[name] = _imported(value)
        return Judge(self.NAME, self.BLOCK(**values))

    def judged(self, text: str, metadata: dict[str, Any]) -> tuple[str | None, str]:
        """What the block says; `dropped` where it gives no reason."""
        verdict, document = self._judge_of_block.judged(text, metadata)
        if verdict is None:
            return None, document.text
        return "dropped" if verdict == UNNAMED else verdict[len(self.NAME) + 1 :], document.text


class _InPlace(_OneByOne):
    def __init__(self, unit: Filter, judge: Judge) -> None:
        self._unit, self._theirs = unit, judge
        self.NAME, self.VERSION = unit.NAME, unit.VERSION  # type: ignore[misc]

    def judged(self, text: str, metadata: dict[str, Any]) -> tuple[str | None, str]:
        """datatrove's verdict, in our words where it has none."""
        verdict, document = self._theirs.judged(text, metadata)
        if verdict is None:
            return None, document.text
        name = self._unit.name_of(document.metadata) if verdict == UNNAMED else verdict
        return name[len(self.NAME) + 1 :], text

    def rule_names(self) -> list[str]:
        """Ours."""
        return self._unit.rule_names()


def in_place_of(unit: Filter) -> Filter:
    """datatrove's filter in the place of ours; ours, where datatrove has none like it."""
    judge = judge_of(unit)
    return unit if judge is None else _InPlace(unit, judge)


def _is_callable(block: Any, name: str) -> bool:
    return "Callable" in str(inspect.signature(block.__init__).parameters[name].annotation)


def _imported(target: str) -> Callable[..., Any]:
    module, _, name = target.partition(":")
    try:
        found: Callable[..., Any] = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"expected a function at `{target}` (module:function), found none: {error}") from error
    return found
