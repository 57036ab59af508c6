"""The order of a staged mixture's packs: `pack/stages.json` beside `pack/STAGE/`, each a whole pack (packed_rows.py).

A pack folder without that file is a pack by itself. What is guaranteed: the file is a pure function of the names; a
damaged or foreign one is a FormatError.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gristmill.errors import FormatError
from gristmill.formats import files

STAGES = "stages.json"
KIND = "packed stages"
VERSION = 1


def write_stages(folder: Path, names: Sequence[str]) -> None:
    """Say which stages lie in `folder`, in order; none: it is a pack by itself."""
    if names:
        files.write_json(folder / STAGES, {"kind": KIND, "version": VERSION, "stages": list(names)})
    else:
        (folder / STAGES).unlink(missing_ok=True)


def read_stages(folder: Path) -> list[str]:
    """The names of the stages in `folder`, in order; none where it is a pack by itself."""
    path = folder / STAGES
    if not path.is_file():
        return []
    found = files.read_json(path)
    if not isinstance(found, dict) or (found.get("kind"), found.get("version")) != (KIND, VERSION):
        raise FormatError(
            f"expected {KIND} of version {VERSION}, found something else: {path}\n"
            "  Run `gristmill run` again to rebuild this step."
        )
    return [str(name) for name in found["stages"]]
