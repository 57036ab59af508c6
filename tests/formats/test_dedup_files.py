from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gristmill.errors import FormatError, ResumeError
from gristmill.formats import bloom_bits, pairs, shingle_sets
from gristmill.formats.dedup_index import DedupIndex
from gristmill.formats.hash_runs import HashRuns, Run, write_runs

PARAMETERS = {"name": "exact", "version": 1, "on": "text"}


@pytest.mark.parametrize("parts", [1, 2, 3, 7, 1000])
def test_every_hash_lies_in_one_part(tmp_path: Path, parts: int) -> None:
    bounds = [-(-(2**64) * part // parts) for part in range(parts)]
    hashes = np.array(sorted({0, 2**64 - 1, *bounds, *(bound - 1 for bound in bounds if bound)}), np.uint64)
    numbers = np.arange(len(hashes), dtype=np.uint32)
    write_runs(tmp_path / "runs", 5, True, [Run(hashes, hashes[::-1].copy(), numbers)])
    runs = HashRuns(tmp_path / "runs")
    found = [runs.part(0, part, parts) for part in range(parts)]
    assert np.concatenate([run.position for run in found]).tolist() == numbers.tolist()
    assert np.concatenate([run.further for run in found]).tolist() == hashes[::-1].tolist()
    assert all((run.hash // np.uint64(1)).tolist() == run.hash.tolist() for run in found)
    for part, run in enumerate(found):
        assert all(int(hash_) * parts >> 64 == part for hash_ in run.hash.tolist())
    assert runs.first_position == 5


def test_pairs_and_sets_come_back(tmp_path: Path) -> None:
    one, other = np.arange(3), np.arange(3, 6)
    pairs.write_batches(tmp_path / "pairs", [(one, other), (one[:0], one[:0]), (other, one)])
    assert [batch[0].tolist() for batch in pairs.read(tmp_path / "pairs")] == [[0, 1, 2], [], [3, 4, 5]]
    assert pairs.read_batch(tmp_path / "pairs", 2)[1].tolist() == [0, 1, 2]
    shingle_sets.write(tmp_path / "sets", [(one, np.array([0, 2, 2, 3]), np.array([7, 8, 9], np.uint64))])
    [(positions, offsets, hashes)] = shingle_sets.read(tmp_path / "sets")
    assert (positions.tolist(), offsets.tolist(), hashes.tolist()) == ([0, 1, 2], [0, 2, 2, 3], [7, 8, 9])


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    bloom_bits.write(tmp_path / "bits", np.arange(4, dtype=np.uint64))
    assert bloom_bits.read(tmp_path / "bits").tolist() == [0, 1, 2, 3]
    with pytest.raises(FormatError, match="expected hash runs of version 1, found Bloom filter of version 1"):
        HashRuns(tmp_path / "bits")
    (tmp_path / "bits").write_bytes(b"ARROW1")
    with pytest.raises(FormatError, match="expected Bloom filter of version 1, found something else"):
        bloom_bits.read(tmp_path / "bits")


def publish(index: DedupIndex, folder: Path, name: str, made_of: str, content: str) -> None:
    path = folder / "00000.arrow"
    path.write_text(content)
    index.publish(name, made_of, [(path, len(content))])


def test_a_run_sees_what_is_older_than_its_own_entry(tmp_path: Path) -> None:
    index = DedupIndex(tmp_path / "index", PARAMETERS)
    assert index.earlier("a", "1") == []
    publish(index, tmp_path, "a", "1", "x")
    publish(index, tmp_path, "b", "2", "xx")
    publish(index, tmp_path, "c", "3", "xxx")
    assert [entry.name for entry in index.earlier("b", "2")] == ["a"]
    assert [entry.name for entry in index.earlier("elsewhere", "2")] == ["a"]  # the same documents
    assert [entry.name for entry in index.earlier("new", "4")] == ["a", "b", "c"]
    publish(index, tmp_path, "b", "5", "changed")
    assert [(entry.number, entry.name, entry.made_of) for entry in index.entries()] == [
        (1, "a", "1"), (2, "b", "5"), (3, "c", "3"),
    ]  # fmt: skip
    assert (tmp_path / "index/00002-b/00000.arrow").read_text() == "changed"


def test_a_half_written_entry_is_none(tmp_path: Path) -> None:
    index = DedupIndex(tmp_path / "index", PARAMETERS)
    publish(index, tmp_path, "a", "1", "x")
    leftover = tmp_path / "index" / "00002-b.tmp-1"
    leftover.mkdir()
    (leftover / "entry.json").write_text("{}")
    assert [entry.name for entry in index.entries()] == ["a"]
    publish(index, tmp_path, "b", "2", "y")
    assert not leftover.exists()


def test_a_damaged_index_is_named(tmp_path: Path) -> None:
    index = DedupIndex(tmp_path / "index", PARAMETERS)
    publish(index, tmp_path, "a", "1", "x")
    (tmp_path / "index/00001-a/00000.arrow").write_text("longer")
    with pytest.raises(FormatError, match="expected 1 bytes, found another size"):
        index.entries()
    (tmp_path / "index/00001-a/entry.json").write_text(json.dumps({"number": 1}))
    with pytest.raises(FormatError, match="expected an entry of a deduplication index"):
        index.entries()
    with pytest.raises(ResumeError, match="on: text instead of url"):
        DedupIndex(tmp_path / "index", {**PARAMETERS, "on": "url"})
