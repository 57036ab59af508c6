"""What was found damaged, named by the checksum it should have. Who reads it may have read the damage before it was
found, so what was made from it is made again.

What enters: checksums of damaged files, and fingerprints of the tasks that run again for their sake, as they are found.
What leaves: whether the inputs of a task name one of them. Guaranteed: a kill forgets nothing, for all is kept in
`damaged.json` below the output until a run has ended well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gristmill.formats import files

FILE = "damaged.json"


class Damage:
    """The damage of one output folder of which not everything was mended yet. `len` counts what was ever found."""

    def __init__(self, output: Path) -> None:
        self._path = output / FILE
        names = files.read_json(self._path) if self._path.exists() else []
        self._order = {name: number for number, name in enumerate(names)}

    def __len__(self) -> int:
        return len(self._order)

    def add(self, name: str) -> None:
        """Remember a checksum or a fingerprint."""
        if name not in self._order:
            self._order[name] = len(self._order)
            files.write_json(self._path, list(self._order))

    def touches(self, inputs: Mapping[str, Any], made_at: int) -> bool:
        """Whether a task with these inputs, made when so much was known, read what was found damaged later."""
        return any(self._order.get(text, -1) >= made_at for text in _texts(inputs)) if self._order else False

    def forget(self) -> None:
        """All is mended."""
        self._order.clear()
        self._path.unlink(missing_ok=True)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _texts(part)
