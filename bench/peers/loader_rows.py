"""The rows of a pack as a peer reads them: `datasets`, mosaicml-streaming or litdata.

usage: loader_rows.py PEER PACK FOLDER BATCH_SIZE          prints a line of JSON: name → real tokens a second

The rows are first written into FOLDER in the peer's own format, 16 bits an id where it can. What is timed is batches of
`input_ids` as tensors, in order, the best of three passes: no labels, no positions and no document bounds, which ours
has besides. Each peer has a process of its own, because some leave threads or shared memory behind.
"""

from __future__ import annotations

import json
import sys
import time
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader

from gristmill.formats.packed_rows import PackedRows

Ways = Iterator[tuple[str, Callable[[], Iterable[Any]]]]


def with_datasets(packed: PackedRows, folder: Path, batch_size: int) -> Ways:
    import datasets
    import pyarrow as pa

    datasets.disable_progress_bars()
    row_tokens = packed.manifest.layout.sequence_length
    ids = np.concatenate([packed.ids(row) for row in range(len(packed))])
    rows = pa.FixedSizeListArray.from_arrays(pa.array(ids), row_tokens)
    datasets.Dataset(pa.table({"input_ids": rows})).save_to_disk(folder)
    stored = datasets.load_from_disk(str(folder)).with_format("torch")
    yield "datasets, iter", lambda: stored.iter(batch_size)
    for workers in (0, 2):
        loader = DataLoader(stored, batch_size, num_workers=workers)
        yield f"datasets, DataLoader with {workers} workers", lambda loader=loader: loader


def with_streaming(packed: PackedRows, folder: Path, batch_size: int) -> Ways:
    try:
        import torchvision  # noqa: F401
    except (ImportError, RuntimeError):  # streaming imports it for images; there is none for a CPU build of torch
        _pretend_torchvision()
    from streaming import MDSWriter, StreamingDataset

    layout = packed.manifest.layout
    columns = {"input_ids": f"ndarray:{layout.dtype.name}:{layout.sequence_length}"}
    with MDSWriter(out=str(folder), columns=columns, progress_bar=False) as out:
        for row in range(len(packed)):
            out.write({"input_ids": packed.ids(row)})
    for workers in (0, 2):
        dataset = StreamingDataset(local=str(folder), batch_size=batch_size, shuffle=False)
        loader = DataLoader(dataset, batch_size, num_workers=workers)
        yield f"mosaicml-streaming, {workers} workers", lambda loader=loader: loader


def _pretend_torchvision() -> None:
    class Nothing(types.ModuleType):
        def __getattr__(self, name: str) -> Any:
            if name.startswith("__"):
                raise AttributeError(name)
            return type(name, (), {})

    for name in ("torchvision", "torchvision.datasets", "torchvision.transforms", "torchvision.transforms.functional"):
        sys.modules[name] = Nothing(name)
        sys.modules[name].__spec__ = ModuleSpec(name, None)


def _rows_of(folder: str) -> Iterator[torch.Tensor]:
    packed = PackedRows.open(folder)
    for row in range(len(packed)):
        yield torch.from_numpy(packed.ids(row).astype(np.int32))


def with_litdata(packed: PackedRows, folder: Path, batch_size: int) -> Ways:
    import litdata

    loader_of_items = litdata.TokensLoader
    row_tokens = packed.manifest.layout.sequence_length
    litdata.optimize(
        fn=_rows_of,
        inputs=[str(packed.folder)],
        output_dir=str(folder),
        chunk_bytes="64MB",
        item_loader=loader_of_items(),
        num_workers=1,
        start_method="fork",
        verbose=False,
    )
    for workers in (0, 2):
        dataset = litdata.StreamingDataset(str(folder), item_loader=loader_of_items(block_size=row_tokens))
        loader = litdata.StreamingDataLoader(dataset, batch_size=batch_size, num_workers=workers)
        yield f"litdata, {workers} workers", lambda loader=loader: loader


PEERS: Mapping[str, Callable[[PackedRows, Path, int], Ways]] = {
    "datasets": with_datasets,
    "streaming": with_streaming,
    "litdata": with_litdata,
}


def main() -> None:
    peer, pack, folder, batch_size = sys.argv[1:]
    packed = PackedRows.open(pack)
    found = {}
    for name, batches in PEERS[peer](packed, Path(folder), int(batch_size)):
        best = float("inf")
        for _ in range(3):
            begin, rows = time.perf_counter(), 0
            for batch in batches():
                rows += len(batch["input_ids"]) if isinstance(batch, dict) else len(batch)
            best = min(best, time.perf_counter() - begin)
            assert rows == len(packed), f"{name}: {rows} of {len(packed)} rows"
        found[name] = packed.manifest.tokens / best
    print(json.dumps(found))


if __name__ == "__main__":
    main()
