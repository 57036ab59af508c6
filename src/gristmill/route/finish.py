"""The first and the last files of a run, which no task writes: the recipe, the books, and the record of them all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from gristmill.engine import record as records
from gristmill.engine.ledger import Ledger
from gristmill.engine.record import Record
from gristmill.engine.worker import peak_memory_bytes
from gristmill.formats import files
from gristmill.places.place import Place
from gristmill.recipe import Recipe
from gristmill.route.shares import write_shares

RECORD = "run"  # the run's own, beside the folders of the stages: checksums of what was written at its end
OWN_FILES = ("recipe.yaml", "ledger.json", "mixture.csv")


def open_books(place: Place, recipe: Recipe) -> None:
    """Keep the recipe beside its output, so that `report` and `inspect` need nothing else; an earlier end is undone."""
    import yaml

    place.remove([records.path_of(place.local, RECORD)])
    with files.atomic_file(place.local / "recipe.yaml") as file:
        file.write(yaml.safe_dump(recipe.to_dict(), sort_keys=False, allow_unicode=True).encode())
    place.push([place.local / "recipe.yaml"])


def write_books(place: Place, ledger: Ledger, finish: Callable[[], Sequence[Path]], seconds: float) -> None:
    """Write what the route writes at its end, the ledger, and the record by which `verify` knows these files."""
    written = finish()
    ledger.write(place.local)
    write_shares(place.local, ledger)
    last = [*written, *(place.local / name for name in OWN_FILES)]
    record = Record(
        version=records.VERSION,
        fingerprint="",
        made_from={},
        counts={},
        files=tuple(records.written(place.local, str(path.relative_to(place.local))) for path in last),
        notices=(),
        seconds=round(seconds, 4),
        finished=records.now(),
        input_bytes=0,
        peak_memory_bytes=peak_memory_bytes(),
    )
    place.push(last)
    records.write(place.local, RECORD, record)
    place.push([records.path_of(place.local, RECORD)])
