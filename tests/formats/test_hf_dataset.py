from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from gristmill.errors import FormatError
from gristmill.formats import hf_dataset

COLUMNS = {"input_ids": pa.int32(), "attention_mask": pa.int8()}


def batches(start: int, stop: int) -> Iterator[pa.RecordBatch]:
    for first in range(start, stop, 4):
        numbers = range(first, min(first + 4, stop))
        arrays = [pa.array([[n, n + 1] for n in numbers], COLUMNS_LIST), pa.array([[1, 1] for _ in numbers], MASK_LIST)]
        yield pa.RecordBatch.from_arrays(arrays, schema=hf_dataset.schema(COLUMNS))


COLUMNS_LIST, MASK_LIST = pa.list_(pa.int32()), pa.list_(pa.int8())


@pytest.mark.parametrize(("rows", "shard_bytes", "shards"), [(10, 1000, 1), (10, 40, 3), (0, 10, 1), (3, 1, 31)])
def test_datasets_loads_it(tmp_path: Path, rows: int, shard_bytes: int, shards: int) -> None:
    names = hf_dataset.write(tmp_path, COLUMNS, rows, 10, shard_bytes, batches, "name")
    assert len(names) == shards
    expected = [[n, n + 1] for n in range(rows)]
    found = [row for batch in hf_dataset.read_batches(tmp_path) for row in batch.column("input_ids").to_pylist()]
    assert found == expected
    loaded = pytest.importorskip("datasets").load_from_disk(str(tmp_path))
    assert loaded["input_ids"][:] == expected
    assert [str(loaded.features[name].feature.dtype) for name in COLUMNS] == ["int32", "int8"]


def test_reads_what_datasets_wrote(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    datasets.disable_progress_bars()
    datasets.Dataset.from_dict({"input_ids": [[n] * 3 for n in range(20)]}).save_to_disk(tmp_path, num_shards=3)
    found = [row for batch in hf_dataset.read_batches(tmp_path) for row in batch.column("input_ids").to_pylist()]
    assert found == [[n] * 3 for n in range(20)]


def test_a_folder_without_one_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="expected a dataset saved to disk, found none"):
        list(hf_dataset.read_batches(tmp_path))
