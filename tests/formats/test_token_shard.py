import os
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gristmill.errors import FormatError
from gristmill.formats.token_shard import TokenShard, record_batch, write, write_record_batch

DOCUMENTS = [[5, 6, 7], [], [8], [60_000] * 9, [1, 2]]
ROWS = [0, 3, 4, 9, 2_000_000_000]


def batch(rows, documents, dtype=np.uint16):
    offsets = np.cumsum([0, *map(len, documents)], dtype=np.int64)
    ids = np.array([token for document in documents for token in document], dtype)
    return np.array(rows, np.int32), offsets, ids


def written(path: Path, dtype=np.uint16, cuts=(5,)) -> Path:
    starts = [0, *cuts[:-1]]
    write(path, "a fingerprint", (batch(ROWS[a:b], DOCUMENTS[a:b], dtype) for a, b in zip(starts, cuts, strict=True)))
    return path


@pytest.mark.parametrize("dtype", [np.uint16, np.uint32])
def test_what_is_written_is_read(tmp_path, dtype):
    shard = TokenShard.open(written(tmp_path / "deep" / "00000.arrow", dtype))
    shard.verify()
    assert shard.tokenizer_fingerprint == "a fingerprint"
    assert (len(shard), shard.tokens) == (5, 15)
    assert shard.rows.tolist() == ROWS
    assert shard.lengths.tolist() == [3, 0, 1, 9, 2]
    assert [shard.document(number).tolist() for number in range(5)] == DOCUMENTS
    assert [array.dtype for array in (shard.rows, shard.offsets, shard.ids)] == [np.int32, np.int64, dtype]
    assert not shard.ids.flags.writeable


@given(st.lists(st.integers(0, 5), max_size=6).map(sorted))
def test_the_bytes_do_not_depend_on_the_batches(tmp_path_factory, cuts):
    folder = tmp_path_factory.mktemp("shard")
    whole, cut = written(folder / "whole"), written(folder / "cut", cuts=[*cuts, 5])
    assert whole.read_bytes() == cut.read_bytes()


@pytest.mark.parametrize(
    ("batches", "documents", "dtype"),
    [([], 0, np.uint16), ([batch([], [], np.uint32)], 0, np.uint32), ([batch([7, 8], [[], []])], 2, np.uint16)],
)
def test_a_shard_without_tokens_is_one(tmp_path, batches, documents, dtype):
    write(tmp_path / "empty.arrow", "f", batches)
    shard = TokenShard.open(tmp_path / "empty.arrow")
    shard.verify()
    assert (len(shard), shard.tokens, shard.ids.dtype) == (documents, 0, dtype)
    assert shard.offsets.tolist() == [0] * (documents + 1)


def test_any_arrow_reader_reads_it(tmp_path):
    path = written(tmp_path / "00000.arrow")
    with pa.memory_map(str(path)) as source:
        table = pa.ipc.open_file(source).read_all()
    table.validate(full=True)
    assert table.to_pydict() == {"row": ROWS, "input_ids": DOCUMENTS}
    assert table.schema.metadata[b"gristmill.kind"] == b"token shard"


def test_the_file_is_mapped_and_holds_no_descriptor(tmp_path):
    path = written(tmp_path / "00000.arrow")
    open_files = psutil.Process().num_fds()
    allocated = pa.total_allocated_bytes()
    shards = [TokenShard.open(path) for _ in range(50)]
    path.unlink()
    assert all(shard.ids[0] == 5 for shard in shards)
    assert pa.total_allocated_bytes() - allocated < 50_000
    assert psutil.Process().num_fds() == open_files


def test_a_failed_write_leaves_nothing(tmp_path):
    def failing():
        yield batch(ROWS, DOCUMENTS)
        raise RuntimeError("no more text")

    with pytest.raises(RuntimeError, match="no more text"):
        write(tmp_path / "00000.arrow", "f", failing())
    assert list(tmp_path.iterdir()) == []


def altered(path: Path, **metadata: str | None) -> Path:
    """The shard with other schema metadata."""
    with pa.memory_map(str(path)) as source:
        table = pa.ipc.open_file(source).read_all()
    kept = table.schema.metadata | {f"gristmill.{key}".encode(): value for key, value in metadata.items()}
    table = table.replace_schema_metadata({key: value for key, value in kept.items() if value is not None})
    with pa.ipc.new_file(str(path) + ".altered", table.schema) as writer:
        writer.write_table(table)
    return Path(str(path) + ".altered")


@pytest.mark.parametrize(
    ("metadata", "found"),
    [
        ({"version": "9"}, "expected a token shard of version 1, found version 9: PATH\n  Run `gristmill run` again"),
        ({"kind": "packed rows"}, "found an Arrow file of kind `packed rows`: PATH"),
        ({"kind": None}, "found an Arrow file of kind `none of ours`"),
        ({"checksum": None}, "found one without gristmill.checksum"),
    ],
)
def test_another_file_is_named(tmp_path, metadata, found):
    path = altered(written(tmp_path / "00000.arrow"), **metadata)
    with pytest.raises(FormatError) as failure:
        TokenShard.open(path)
    assert found.replace("PATH", str(path)) in str(failure.value)


def test_other_columns_and_no_file_are_named(tmp_path):
    path = tmp_path / "00000.arrow"
    with pytest.raises(FormatError, match=r"found no file: .*00000\.arrow"):
        TokenShard.open(path)
    schema = record_batch("f", *batch(ROWS, DOCUMENTS)).schema
    other = pa.table({"row": ROWS}).replace_schema_metadata(schema.metadata)
    with pa.ipc.new_file(str(path), other.schema) as writer:
        writer.write_table(other)
    with pytest.raises(FormatError, match=r"found other columns \(row: int64\)"):
        TokenShard.open(path)


def test_every_cut_is_noticed(tmp_path):
    content = written(tmp_path / "00000.arrow").read_bytes()
    cut = tmp_path / "cut.arrow"
    for length in range(0, len(content), 7):
        cut.write_bytes(content[:length])
        with pytest.raises(FormatError, match="expected a token shard of version 1, found a damaged file"):
            TokenShard.open(cut)


def test_every_changed_byte_is_noticed_or_harmless(tmp_path):
    path = written(tmp_path / "00000.arrow")
    right = bytearray(path.read_bytes())
    noticed = 0
    for at in range(len(right)):
        wrong = right.copy()
        wrong[at] ^= 0xFF
        path.write_bytes(wrong)
        try:
            shard = TokenShard.open(path)
            shard.verify()
        except FormatError:
            noticed += 1
        else:
            assert [shard.document(number).tolist() for number in range(5)] == DOCUMENTS
            assert shard.rows.tolist() == ROWS
    assert noticed > len(right) / 2


def test_a_changed_token_is_what_verify_finds(tmp_path):
    path = written(tmp_path / "00000.arrow")
    content = path.read_bytes()
    at = content.index(np.array([60_000] * 9, np.uint16).tobytes())
    path.write_bytes(content[:at] + b"\x00" + content[at + 1 :])
    damaged = TokenShard.open(path)
    with pytest.raises(FormatError, match=r"found one with checksum \w+ where \w+ was written"):
        damaged.verify()


class SparseSink:
    """A file object that skips what is large, so that gigabytes of zeros cost no disk."""

    closed = False

    def __init__(self, file):
        self.file = file
        self.tell, self.flush = file.tell, file.flush

    def write(self, data):
        end = memoryview(data)[-(1 << 20) :]
        self.file.seek(len(data) - len(end), os.SEEK_CUR)
        self.file.write(end)


def test_more_than_2_to_the_31_tokens(tmp_path):
    """The ids are zeros that neither memory nor disk ever holds; the last document has some others."""
    path, first = tmp_path / "huge.arrow", 2**31 + 11
    ids = np.zeros(first + 3, np.uint16)
    ids[-3:] = [7, 8, 9]
    offsets = np.array([0, first, first + 3], np.int64)
    content = record_batch("f", np.array([0, 1], np.int32), offsets, ids)

    with open(path, "wb") as file:
        write_record_batch(pa.PythonFile(SparseSink(file), "w"), content)
    assert path.stat().st_size > 2**32
    shard = TokenShard.open(path)
    assert shard.tokens == first + 3
    assert shard.lengths.tolist() == [first, 3]
    assert shard.document(1).tolist() == [7, 8, 9]
