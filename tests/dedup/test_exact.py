from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gristmill.dedup.exact import Exact
from gristmill.dedup.grouping import SketchFile
from reference import texts as twin


def write_sketches(folder: Path, chunks: list[list[str]]) -> list[SketchFile]:
    files = []
    for number, texts in enumerate(chunks):
        columns = Exact().sketch(pa.array(texts, pa.large_string()))
        rows = np.arange(len(texts), dtype=np.int32)
        sketches, verdicts = folder / f"{number}.parquet", folder / f"{number}.verdicts.parquet"
        pq.write_table(pa.table({"row": rows, **columns}), sketches)
        pq.write_table(pa.table({"row": rows, "verdict": pa.nulls(len(texts), pa.string())}), verdicts)
        files.append(SketchFile(str(sketches), str(verdicts), number))
    return files


def resolve(folder: Path, chunks: list[list[str]]) -> list[tuple[int, int]]:
    batches = Exact().resolve(write_sketches(folder, chunks), folder, 200_000_000, 2)
    return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]  # type: ignore[misc]


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    chunks=st.lists(st.lists(st.sampled_from(["a", "b", "c", "long " * 20, ""]), max_size=8), min_size=1, max_size=4)
)
def test_equals_its_twin(tmp_path_factory, chunks: list[list[str]]) -> None:  # type: ignore[no-untyped-def]
    keys = [chunk << 32 | row for chunk, texts in enumerate(chunks) for row in range(len(texts))]
    gone = twin.first_of_equal([text for texts in chunks for text in texts])
    expected = [(keys[index], keys[first]) for index, first in gone.items()]
    assert resolve(tmp_path_factory.mktemp("sketches"), chunks) == expected


def test_dropped_rows_do_not_count(tmp_path: Path) -> None:
    [file] = write_sketches(tmp_path, [["same", "same", "same"]])
    verdicts = pa.array(["length.min_words", None, None])
    pq.write_table(pq.read_table(file.verdicts).set_column(1, "verdict", verdicts), file.verdicts)
    batches = Exact().resolve([file], tmp_path, 200_000_000, 1)
    assert [row for batch in batches for row in batch.to_pylist()] == [{"key": 2, "duplicate_of": 1}]


def test_odd_file_names(tmp_path: Path) -> None:
    folder = tmp_path / "a 'quoted' [name]*\n"
    folder.mkdir()
    assert resolve(folder, [["x"], ["x"]]) == [(1 << 32, 0)]
