"""A Hugging Face dataset as `save_to_disk` lays it down, for `load_from_disk`.

    data-00000-of-00002.arrow, ...   Arrow IPC streams, rows in order, evenly spread
    dataset_info.json, state.json    columns and files

What enters: columns of lists of integers, the number of rows, and a function that gives any range of them. What
leaves: the folder's files. Nothing is held but one batch. The description is that of datasets 3, which later ones read
too; the bytes are a pure function of the rows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from gristmill.errors import FormatError
from gristmill.formats import files

MARK = "state.json"  # in every folder that holds such a dataset

Batches = Callable[[int, int], Iterator[pa.RecordBatch]]


def schema(columns: Mapping[str, Any]) -> pa.Schema:
    """Lists of these Arrow integer types, with the description that `datasets` looks for."""
    described = json.dumps({"info": {"features": _features(columns)}})
    return pa.schema([(name, pa.list_(kind)) for name, kind in columns.items()], {"huggingface": described})


def write(
    folder: Path, columns: Mapping[str, Any], rows: int, row_bytes: int, shard_bytes: int, batches: Batches, name: str
) -> list[str]:
    """Write the dataset into `folder`; returns the names of its data files. `name` is what `datasets` caches it by."""
    shards = rows * row_bytes // shard_bytes + 1
    names = [f"data-{number:05}-of-{shards:05}.arrow" for number in range(shards)]
    bounds = [number * (rows // shards) + min(number, rows % shards) for number in range(shards + 1)]
    for number, file in enumerate(names):
        with (
            files.atomic(folder / file) as temporary,
            pa.OSFile(str(temporary), "wb") as sink,
            pa.ipc.new_stream(sink, schema(columns)) as writer,
        ):
            for batch in batches(bounds[number], bounds[number + 1]):
                writer.write_batch(batch)
    description = {"citation": "", "description": "", "features": _features(columns), "homepage": "", "license": ""}
    files.write_json(folder / "dataset_info.json", description)
    state: dict[str, Any] = {
        "_data_files": [{"filename": file} for file in names],
        "_fingerprint": name,
        "_format_columns": None,
        "_format_kwargs": {},
        "_format_type": None,
        "_output_all_columns": False,
        "_split": None,
    }
    files.write_json(folder / MARK, state)
    return names


def read_batches(folder: Path) -> Iterator[pa.RecordBatch]:
    """All rows of a dataset that `save_to_disk` or `write` laid down. Raises FormatError where there is none."""
    try:
        names = [file["filename"] for file in files.read_json(folder / MARK)["_data_files"]]
    except (OSError, KeyError, TypeError) as error:
        raise FormatError(f"expected a dataset saved to disk, found none ({error}): {folder}") from error
    for name in names:
        with pa.memory_map(str(folder / name)) as source:
            yield from pa.ipc.open_stream(source)


def _features(columns: Mapping[str, Any]) -> dict[str, Any]:
    values = {name: {"dtype": str(kind), "_type": "Value"} for name, kind in columns.items()}
    return {name: {"feature": value, "_type": "Sequence"} for name, value in values.items()}
