"""The packed rows of a run as the dataset that krill's trainer loads.

    PREPARED_PATH/data-...arrow, ...   input_ids, attention_mask, and token_type_ids where the tokenizer emits them
                  bounds.arrow         for each row the parts of documents that lie in it
                  tokenizer.json       what its ids mean
                  manifest.json        sources, layout, counts, and checksums of the files

What enters: the folder of packed rows. What leaves: the dataset's folder, whole or not at all: it is written under a
temporary name, and an older dataset of that name makes way.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from gristmill.engine.ledger import Ledger
from gristmill.errors import FormatError
from gristmill.formats import files, hf_dataset
from gristmill.formats.packed_rows import PackedRows

BOUNDS, TOKENIZER, MANIFEST = "bounds.arrow", "tokenizer.json", "manifest.json"
_BATCH_TOKENS = 1 << 20
_BOUNDS_ROWS = 1 << 14


def write(pack: Path, ledger: Ledger, prepared: Path, shard_bytes: int, columns: Sequence[str]) -> None:
    """Write the dataset at `prepared`; the books go into its manifest."""
    packed = PackedRows.open(pack)
    require_room(prepared)
    layout = packed.manifest.layout
    kinds = {name: pa.int32() if name == "input_ids" else pa.int8() for name in columns}  # as `datasets` chooses them
    row_bytes = layout.sequence_length * sum(kind.bit_width // 8 for kind in kinds.values())

    def batches(start: int, stop: int) -> Iterator[pa.RecordBatch]:
        step = max(1, _BATCH_TOKENS // layout.sequence_length)
        for first in range(start, stop, step):
            yield _batch(packed, first, min(first + step, stop), kinds)

    temporary = prepared.with_name(f"{prepared.name}{files.TEMPORARY_MARK}{os.getpid()}")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    try:
        name = packed.manifest.fingerprint[:16]
        names = hf_dataset.write(temporary, kinds, len(packed), row_bytes, shard_bytes, batches, name)
        _write_bounds(packed, temporary / BOUNDS)
        shutil.copyfile(pack / layout.tokenizer_file, temporary / TOKENIZER)
        content = {
            "kind": "gristmill prepared dataset",
            "version": 1,
            "rows": len(packed),
            "tokens": packed.manifest.tokens,
            "sequence_length": layout.sequence_length,
            "tokenizer_fingerprint": layout.tokenizer_fingerprint,
            "sources": list(layout.sources),
            "ledger": [vars(entry) for entry in ledger.entries],
            "files": {file: files.checksum(temporary / file) for file in [*names, BOUNDS, TOKENIZER]},
        }
        files.write_json(temporary / MANIFEST, content)
        if prepared.exists():
            shutil.rmtree(prepared)
        temporary.rename(prepared)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def tokenizer_of(prepared: Path) -> Any:
    """What decodes the rows of a dataset that `write` made. Raises FormatError where there is none."""
    from tokenizers import Tokenizer

    path = prepared / TOKENIZER
    if not path.is_file():
        raise FormatError(f"expected a dataset that `gristmill preprocess` made, found none: {prepared}")
    return Tokenizer.from_file(str(path))


def require_room(prepared: Path) -> None:
    """Only a dataset, or an empty folder, makes way for a dataset."""
    if prepared.is_dir() and ((prepared / hf_dataset.MARK).is_file() or not any(prepared.iterdir())):
        return
    if prepared.exists():
        found = "a folder with other files" if prepared.is_dir() else "a file"
        raise FormatError(
            f"expected a free place, or a dataset to replace, found {found}: {prepared}\n"
            "  Name another `prepared_path`, or take it away."
        )


def _batch(packed: PackedRows, start: int, stop: int, columns: dict[str, Any]) -> pa.RecordBatch:
    ids = packed.take(np.arange(start, stop)).ids
    bounds = pa.array(np.arange(len(ids) + 1, dtype=np.int32) * ids.shape[1])
    values = {
        "input_ids": ids.reshape(-1).astype(np.int32),
        "attention_mask": np.ones(ids.size, np.int8),
        "token_type_ids": np.zeros(ids.size, np.int8),
    }
    arrays = [pa.ListArray.from_arrays(bounds, pa.array(values[name])) for name in columns]
    return pa.RecordBatch.from_arrays(arrays, schema=hf_dataset.schema(columns))


def _write_bounds(packed: PackedRows, path: Path) -> None:
    """The column `segments` of all row files, one behind the other."""
    kind = packed.manifest.layout.schema().field("segments")
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, pa.schema([kind])) as writer:
        for entry in packed.manifest.files:
            with pa.memory_map(str(packed.folder / entry.name)) as source:
                segments = pa.ipc.open_file(source).get_record_batch(0).column("segments")
                for start in range(0, len(segments), _BOUNDS_ROWS):
                    part = segments.slice(start, _BOUNDS_ROWS)
                    writer.write_batch(pa.record_batch([part], schema=pa.schema([kind])))
