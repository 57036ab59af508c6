"""A raw row read again, and what each cleaner made of it: how a document's story begins, if its file is still there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from gristmill import foreign_code, sources, units
from gristmill.cleaning.sequence import CleanerSequence
from gristmill.errors import GristmillError
from gristmill.formats.documents import read_batches
from gristmill.sources.piece import Chunk, Columns, Piece
from gristmill.sources.registry import FORMATS, Cut
from gristmill.verification.find_document import Place
from gristmill.verification.run_folder import RunFolder

_ROWS_OF_BATCHES = "arrow"  # positions are batch << 32 | row


def where_read(place: Place) -> dict[str, Any]:
    """File and position, from the signals table and the record of its chunk."""
    record = place.chunk.sifted.sifted
    at = signals_of(place)
    format_name = record.made_from["inputs"]["pieces"][at["file"]][0]
    names = record.counts.get("files")
    story: dict[str, Any] = {"file": names[at["file"]] if names else f"piece {at['file']} of its chunk"}
    story["format"] = format_name
    if format_name == _ROWS_OF_BATCHES:
        story |= {"record_batch": at["position"] >> 32, "row": at["position"] & 0xFFFFFFFF}
    elif FORMATS[format_name].cut in (Cut.UNITS, Cut.ROWS):
        story["row"] = at["position"]
    else:
        story["byte"] = at["position"]
    return story


def signals_of(place: Place) -> dict[str, Any]:
    """The row of the signals table: file, position, and what was measured."""
    for batch in read_batches(place.chunk.signals, _column_names(place.chunk.signals)):
        at = pc.index(batch.column("row"), place.row).as_py()
        if at >= 0:
            found: dict[str, Any] = batch.slice(at, 1).to_pylist()[0]
            return found
    raise AssertionError(f"no signals of row {place.row}: {place.chunk.signals}")


def cleaned(run: RunFolder, place: Place) -> list[dict[str, Any]] | str:
    """Characters before and after each cleaner; or why that cannot be told."""
    record, at = place.chunk.sifted.sifted, signals_of(place)
    names = record.counts.get("files")
    if not names:
        return "this run's records do not name its raw files"
    path = names[at["file"]]
    format_name, stamp, start, stop, options = record.made_from["inputs"]["pieces"][at["file"]]
    if not Path(path).is_file():
        return "its raw file is not there any more, or not local"
    status = Path(path).stat()
    if f"{status.st_size}-{status.st_mtime_ns}" != stamp:
        return "its raw file was changed since"
    piece = Piece(path, format_name, start, stop, status.st_size, stamp, tuple(options.items()))
    text, id_, *metadata = record.made_from["columns"]
    columns = Columns(text, id_, tuple(metadata), record.made_from["max_document"])
    try:
        for batch in sources.read(Chunk((piece,)), columns):
            here = pc.index(batch["position"], at["position"]).as_py()
            if here >= 0:
                return _by_each(batch.slice(here, 1)["text"], record.made_from["clean"], run.recipe["clean"])
    except GristmillError as error:
        return str(error).split("\n", 1)[0]
    return "its raw file holds it no more"


def _by_each(texts: Any, names: list[Mapping[str, Any]], asked: list[Any]) -> list[dict[str, Any]] | str:
    by_name = {name: item for item in asked for name in (item if isinstance(item, Mapping) else [item])}
    steps, before = [], int(pc.binary_length(texts)[0].as_py() or 0)
    for literals in names:
        try:
            with foreign_code.allowed(False):
                cleaner = units.choose("cleaner", by_name.get(literals["name"], literals["name"])).make("cleaner")
        except ValueError:
            return f"it went through `{literals['name']}`, which is not ours to run"
        texts, _ = CleanerSequence([cleaner]).clean(texts)
        after = int(pc.binary_length(texts)[0].as_py() or 0)
        steps.append({"cleaner": literals["name"], "bytes_before": before, "bytes_after": after})
        before = after
    return steps


def _column_names(path: Path) -> list[str]:
    from gristmill.formats.documents import open_parquet

    with open_parquet(path) as file:
        return list(file.schema_arrow.names)
