"""MDS through MosaicML's own reader. Not part of `make test`: mosaicml-streaming wants numpy below 2.2, transformers
below 5 and five cloud SDKs. `make test-streaming` gives it an environment of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from set_rows import STRATEGIES, Set
from streaming import LocalDataset, StreamingDataset


@pytest.mark.parametrize("compression", ["none", "zstd:3"])
@pytest.mark.parametrize("vocab_size", [300, 65_536])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_streaming_reads_it(tmp_path: Path, strategy: str, vocab_size: int, compression: str) -> None:
    written = Set(tmp_path / "rows", strategy, vocab_size)
    written.write("mds", tmp_path / "out", compression, 4096)
    if compression == "none":
        local = LocalDataset(str(tmp_path / "out"))
        assert [local[number]["tokens"].tolist() for number in range(len(local))] == written.rows
    streamed = StreamingDataset(local=str(tmp_path / "out"), batch_size=1, shuffle=False)
    assert [sample["tokens"].tolist() for sample in streamed] == written.rows
    assert streamed[0]["tokens"].dtype == written.about.dtype
    if strategy in ("padded", "best_fit"):
        assert [int(sample["length"]) for sample in streamed] == [len(real) for real in written.real]
