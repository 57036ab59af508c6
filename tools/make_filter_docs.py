"""Write docs/filters.md from the docstrings, parameters and defaults of the filters and cleaners in units.REGISTRY.

    python tools/make_filter_docs.py

A unit that is added needs nothing here. A test says whether the page is current.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gristmill.filters import presets, user_defined, words
from gristmill.units import REGISTRY

TARGET = Path(__file__).parent.parent / "docs/filters.md"
HEAD = """
# Filters and cleaners

Made from the source by `make docs`: do not edit, change the docstrings.

A recipe names them, in the order in which they are applied; all of `clean` comes before all of `filters`:

```yaml
clean: [unicode, strip]
filters:
  - length: {min_characters: 100}
  - gopher_quality: {min_words: 20}
```

In Python, `gm.filters.NAME(**parameters)` is the same filter, and the quickest way to see what it does to a text:

```python
import gristmill as gm

texts = ["Buy it. Buy it. Buy it. Buy it.", "The mill stands on a hill above the river."]
gm.filters.GopherRepetition().verdicts(texts)  # ["gopher_repetition.top_2_gram", null]
gm.filters.GopherRepetition().signals(texts)
```

`.verdicts(texts)` is an Arrow array, null = keep, else the first rule broken; `.signals(texts)` is a table of what was
measured; `.rewrite(texts)`, of filters that change texts, is what becomes of those they keep. Bounds mean what they
say: kept is what lies between them, both included.

In a run every filter measures every document and its signals are kept as columns. A bound that is changed is judged
anew without reading text; `gristmill report` shows each signal's distribution, and what each rule drops and drops
alone; `gristmill verify RECIPE --sample N` compares with datatrove's own filters.
"""
OWN_FILTER = """
For example, in the folder that the run is started in:

```python
# my_filters.py
from dataclasses import dataclass


@dataclass(frozen=True)
class NoCookies:
    most: int = 2

    def keep(self, text: str) -> bool:
        return text.count("cookie") <= self.most
```

```yaml
# own.yaml
sources:
  - {name: web, path: data/web/*.jsonl.gz}
filters:
  - length: {min_characters: 100}
  - my_filters:NoCookies: {most: 1}
tokenizer: {path: tokenizers/gpt2.json}
pack: {sequence_length: 512}
output: {path: out/own}
```

```bash
gristmill run own.yaml --allow-code
```

A recipe file that names code needs `--allow-code`, for importing it runs it. It is Python, a text at a time, so it sets
the pace of sift.
"""


def page() -> str:
    """The whole page."""
    filters = {name: _class(target) for name, target in REGISTRY["filter"].items()}
    cleaners = {name: _class(target) for name, target in REGISTRY["cleaner"].items()}
    parts = [
        HEAD.strip(),
        _index("Filter", filters),
        _index("Cleaner", cleaners),
        "## Filters",
        *(part for name, unit in filters.items() for part in _section(name, unit)),
        "### User-defined",
        _text(user_defined.__doc__),
        OWN_FILTER.strip(),
        "## Cleaners",
        *(part for name, unit in cleaners.items() for part in _section(name, unit)),
        "## Words",
        _text(words.__doc__),
        "## Parameters by language",
        _text(presets.__doc__),
        f"Embedded: {', '.join(f'`{language}`' for language in presets.languages())}.",
    ]
    return "\n\n".join(parts) + "\n"


def _class(target: str) -> Any:
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)


def _text(docstring: str | None) -> str:
    """A docstring as Markdown: what is set in it stays set, as a block of code."""
    assert docstring, "a unit without a docstring"
    return inspect.cleandoc(docstring)


def _index(kind: str, units: dict[str, Any]) -> str:
    """A row for each unit."""
    rows = [f"| {kind} | in Python | |", "|---|---|---|"]
    for name, unit in units.items():
        summary = " ".join(_text(unit.__doc__).split("\n\n")[0].split())
        home = "gm.filters" if kind == "Filter" else unit.__module__
        rows.append(f"| [`{name}`](#{name}) | `{home}.{unit.__qualname__}` | {_first_sentence(summary)} |")
    return "\n".join(rows)


def _first_sentence(text: str) -> str:
    return text.split(". ")[0].rstrip(".:") + "."


def _section(name: str, unit: Any) -> Iterator[str]:
    yield f"### {name}"
    yield _text(unit.__doc__)
    parameters = dataclasses.fields(unit)
    if parameters:
        rows = ["| parameter | default | known as, too |", "|---|---|---|"]
        for parameter in parameters:
            others = [f"`{other}`" for other, own in getattr(unit, "ALIASES", {}).items() if own == parameter.name]
            rows.append(f"| `{parameter.name}` | {_default(parameter)} | {', '.join(others)} |")
        yield "\n".join(rows)


def _default(parameter: dataclasses.Field[Any]) -> str:
    if parameter.default is not dataclasses.MISSING:
        return f"`{_written(parameter.default)}`"
    if parameter.default_factory is not dataclasses.MISSING:
        return f"`{_written(parameter.default_factory())}`"
    return "must be given"


def _written(value: Any) -> str:
    """As in a recipe."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(_written, value))}]"
    return str(value)


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
