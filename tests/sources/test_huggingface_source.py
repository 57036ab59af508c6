from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gristmill.errors import SourceError
from gristmill.sources import Chunk, Columns, dataset_chunks, huggingface
from reference.reading import TEXT_ONLY, chunk_rows, texts

datasets = pytest.importorskip("datasets")
TEXTS = [f"text {number}" * (number % 9) for number in range(1000)]


@pytest.fixture(autouse=True)
def no_leftovers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    datasets.disable_progress_bars()
    yield
    huggingface._open.cache_clear()


@pytest.fixture
def plain() -> Any:
    return datasets.Dataset.from_dict({"text": TEXTS, "n": range(1000), "other": [None] * 1000})


def rows(chunks: list[Chunk], columns: Columns = TEXT_ONLY) -> list[dict[str, Any]]:
    return [row for chunk in chunks for row in chunk_rows(chunk, columns, 999)]


def test_a_saved_dataset(tmp_path: Path, plain: Any) -> None:
    plain.save_to_disk(tmp_path / "saved", num_shards=3)
    chunks = dataset_chunks(str(tmp_path / "saved"), None, "train", 1000)
    assert len(chunks) > 20
    found = rows(chunks, Columns(id="n", metadata=("n",)))
    assert texts(found) == [text.encode() for text in TEXTS]
    assert [row["id"] for row in found] == [str(number) for number in range(1000)]
    assert [row["metadata"] for row in found] == [f'{{"n": {number}}}' for number in range(1000)]
    assert [row["position"] for row in found] == list(range(1000))


@pytest.mark.parametrize(
    ("split", "expected"),
    [
        ("train", TEXTS[:800]),
        (None, TEXTS[:800]),
        ("train[:100]", TEXTS[:100]),
        ("train[50%:]+test[-2:]", [*TEXTS[400:800], *TEXTS[-2:]]),
    ],
)
def test_slices_and_sums_of_splits(tmp_path: Path, plain: Any, split: str | None, expected: list[str]) -> None:
    both = datasets.DatasetDict(train=plain.select(range(800)), test=plain.select(range(800, 1000)))
    both.save_to_disk(tmp_path / "saved")
    for name in ("train", "test"):
        (tmp_path / "files").mkdir(exist_ok=True)
        both[name].to_parquet(tmp_path / "files" / f"{name}.parquet")
    for folder in ("saved", "files"):
        found = rows(dataset_chunks(str(tmp_path / folder), None, split, 5000))
        assert texts(found) == [text.encode() for text in expected]


def test_an_indices_mapping_is_respected(tmp_path: Path, plain: Any) -> None:
    numbers = [*range(999, 0, -7), 5, 5, 5]
    plain.select(numbers).save_to_disk(tmp_path / "saved")
    plain.select(numbers).flatten_indices()
    found = rows(dataset_chunks(str(tmp_path / "saved"), None, None, 500), Columns(id="n"))
    assert [row["id"] for row in found] == [str(number) for number in numbers]


def test_a_limit_is_one_chunk(tmp_path: Path, plain: Any) -> None:
    plain.save_to_disk(tmp_path / "saved")
    chunks = dataset_chunks(str(tmp_path / "saved"), None, None, 500, 123)
    assert (len(chunks), len(rows(chunks))) == (1, 123)


def test_the_stamp_changes_with_the_data_and_not_with_the_process(tmp_path: Path, plain: Any) -> None:
    plain.save_to_disk(tmp_path / "saved")
    arguments = (str(tmp_path / "saved"), None, "train[:10]", 1 << 20)
    (chunk,) = dataset_chunks(*arguments)
    code = f"from gristmill.sources import dataset_chunks; print(dataset_chunks{arguments!r}[0].pieces[0].stamp)"
    elsewhere = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert elsewhere.stdout.strip() == chunk.pieces[0].stamp

    plain.map(lambda row: {"text": row["text"] + "!"}).save_to_disk(tmp_path / "saved")
    huggingface._open.cache_clear()
    assert dataset_chunks(*arguments)[0].pieces[0].stamp != chunk.pieces[0].stamp
    with pytest.raises(SourceError, match="found another"):
        chunk_rows(chunk)


def test_what_cannot_be_loaded_is_named(tmp_path: Path, plain: Any) -> None:
    plain.save_to_disk(tmp_path / "saved")
    with pytest.raises(SourceError, match=r"nothing-here.*config en, split train"):
        dataset_chunks(str(tmp_path / "nothing-here"), "en", None, 1000)
    datasets.DatasetDict(train=plain).save_to_disk(tmp_path / "both")
    with pytest.raises(SourceError, match=r"validation.*train"):
        dataset_chunks(str(tmp_path / "both"), None, "validation", 1000)
    with pytest.raises(SourceError, match=r"`body`, found `text`, `n`, `other`"):
        rows(dataset_chunks(str(tmp_path / "saved"), None, None, 1000), Columns("body"))


def test_without_the_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(SourceError, match=r"pip install 'gristmill\[hf\]'"):
        dataset_chunks("org/name", None, "train+test", 1000)
