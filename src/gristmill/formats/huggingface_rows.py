"""Rows as the folder that `datasets.load_from_disk` opens, written without importing datasets.

data-00000.arrow, ...   Arrow streams, columns as in row_columns.py
dataset_info.json       the features
state.json              the files, in order, and a fingerprint of the content
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa

from gristmill.formats import files, row_columns
from gristmill.formats.row_batch import About, RowBatch
from gristmill.formats.training_sets import Options, Part


def _features(about: About) -> dict[str, Any]:
    return {
        name: {"feature": {"dtype": str(kind.value_type), "_type": "Value"}, "_type": "List"}
        for name, kind in row_columns.columns(about).items()
    }


class HuggingFaceRows:
    """Writes and reads what `Dataset.save_to_disk` writes."""

    def write_part(
        self, folder: Path, stem: str, about: About, options: Options, batches: Iterable[RowBatch]
    ) -> tuple[list[str], Mapping[str, Any]]:
        """One Arrow stream, one record batch in memory at a time."""
        name = f"data-{stem}.arrow"
        schema = row_columns.schema(about, {"huggingface": json.dumps({"info": {"features": _features(about)}})})
        with (
            files.atomic(folder / name) as temporary,
            pa.OSFile(str(temporary), "wb") as sink,
            pa.ipc.new_stream(sink, schema) as writer,
        ):
            for batch in batches:
                writer.write_batch(row_columns.record_batch(about, batch, schema))
        return [name], {"checksum": files.checksum(folder / name)}

    def write_index(self, folder: Path, about: About, options: Options, parts: Sequence[Part]) -> list[str]:
        """The two JSON files that make a folder of Arrow files a dataset."""
        described = ", ".join(f"{name} {value}" for name, value in asdict(about).items())
        info = {
            "citation": "",
            "description": f"Written by Gristmill: {described}.",
            "features": _features(about),
            "homepage": "",
            "license": "",
        }
        content = json.dumps([info, [part.details["checksum"] for part in parts]])
        state: dict[str, Any] = {
            "_data_files": [{"filename": name} for part in parts for name in part.files],
            "_fingerprint": hashlib.sha256(content.encode()).hexdigest()[:16],
            "_format_columns": None,
            "_format_kwargs": {},
            "_format_type": None,
            "_output_all_columns": False,
            "_split": "train",
        }
        files.write_json(folder / "dataset_info.json", info)
        files.write_json(folder / "state.json", state)
        return ["dataset_info.json", "state.json"]

    def count(self, folder: Path, part: Part) -> tuple[int, int]:
        """By the headers of the record batches."""
        rows = ids = 0
        for batch in _batches(folder / part.files[0]):
            rows += len(batch)
            ids += len(batch.column(0).flatten())
        return rows, ids

    def read(self, folder: Path, files: Sequence[str]) -> Iterator[Any]:
        """The ids of every row."""
        for name in files:
            for batch in _batches(folder / name):
                yield from (row.values.to_numpy() for row in batch.column(0))


def _batches(path: Path) -> Iterator[Any]:
    with pa.memory_map(str(path)) as source:
        yield from pa.ipc.open_stream(source)
