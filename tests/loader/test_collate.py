import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.errors import FormatError
from gristmill.formats import packed_rows
from gristmill.formats.packed_rows import PackedRows, Segments
from gristmill.loader.batches import Rows
from reference.loader import Part, batch, layout, padded_ids, random_rows, wrapped_rows, write_pack


def collate(packed, rows, ignore_first_tokens=False):
    return Rows(packed, ignore_first_tokens).batch(rows)


def as_lists(found):
    return {
        name: value if isinstance(value, int) else value.tolist() for name, value in found.items() if name != "rows"
    }


@given(
    count=st.integers(1, 20),
    sequence_length=st.integers(1, 40),
    vocab_size=st.sampled_from([300, 70_000]),
    ignore_first_tokens=st.booleans(),
    seed=st.integers(0, 1000),
)
@settings(max_examples=60)
def test_a_batch_is_that_of_the_slow_twin(
    tmp_path_factory, count, sequence_length, vocab_size, ignore_first_tokens, seed
):
    folder, kind = tmp_path_factory.mktemp("pack"), layout(sequence_length, vocab_size)
    rows = random_rows(count, sequence_length, seed, vocab_size)
    write_pack(folder, rows, kind)
    numbers = np.random.default_rng(seed).integers(0, count, 9)
    found = collate(PackedRows.open(folder), numbers, ignore_first_tokens)

    assert as_lists(found) == batch([rows[number] for number in numbers], kind, ignore_first_tokens)
    assert found["rows"].tolist() == numbers.tolist()
    assert {name: value.dtype for name, value in found.items() if name != "max_seqlen"} == {
        "input_ids": np.int64, "labels": np.int64, "position_ids": np.int64, "cu_seqlens": np.int32, "rows": np.int64,
    }  # fmt: skip


def test_a_batch_by_eye(tmp_path):
    documents = [[11, 12, 13], [21, 22, 23, 24, 25, 26], [31]]
    rows = wrapped_rows(documents, 4)
    assert rows == [
        [Part(0, 0, 0, [11, 12, 13]), Part(0, 1, 0, [21])],
        [Part(0, 1, 1, [22, 23, 24, 25])],
        [Part(0, 1, 5, [26]), Part(0, 2, 0, [31])],
    ]
    write_pack(tmp_path, rows, layout(4))
    found = as_lists(collate(PackedRows.open(tmp_path), np.arange(3)))
    assert found == {
        "input_ids": [[11, 12, 13, 21], [22, 23, 24, 25], [26, 31, 0, 0]],
        "labels": [[11, 12, 13, 21], [22, 23, 24, 25], [26, 31, -100, -100]],
        "position_ids": [[0, 1, 2, 0], [0, 1, 2, 3], [0, 0, 0, 1]],
        "cu_seqlens": [0, 3, 4, 8, 9, 10, 12],
        "max_seqlen": 4,
    }
    ignoring = collate(PackedRows.open(tmp_path), np.arange(3), ignore_first_tokens=True)
    assert ignoring["labels"].tolist() == [[-100, 12, 13, -100], [-100, 23, 24, 25], [-100, -100, -100, -100]]


@pytest.mark.parametrize(
    ("starts", "length"),
    [
        ([1, 3], 8),  # no part at the row's beginning
        ([0, 5, 3], 8),  # not increasing
        ([0, 5, 5], 8),
        ([0, 5], 5),  # a part without tokens
        ([0, 200], 8),  # outside of the row
        ([0, 2], 9),  # longer than the row
        ([0], 0),  # a part in an empty row
        ([], 3),  # tokens of no document
    ],
)
def test_a_damaged_row_is_refused_by_name(tmp_path, starts, length):
    good, bad = [0, 2], starts
    parts = len(good) + len(bad)
    segments = Segments(
        np.array([0, 2, parts], np.int64),
        np.array(good + bad, np.uint32),
        np.zeros(parts, np.uint16),
        np.zeros(parts, np.uint64),
        np.zeros(parts, np.uint64),
    )
    path = tmp_path / "00000.arrow"
    entry = packed_rows.write(path, layout(8), np.zeros((2, 8), np.uint16), np.array([8, length], np.uint32), segments)
    packed_rows.write_manifest(tmp_path, layout(8), [entry])
    packed = PackedRows.open(tmp_path)
    collate(packed, np.array([0]))
    with pytest.raises(FormatError, match=f"found row 1 with document parts that do not fit it: {path}"):
        collate(packed, np.array([0, 1]))


def test_batches_kept_by_the_consumer_do_not_change(tmp_path):
    rows = random_rows(50, 16, seed=1)
    write_pack(tmp_path, rows, layout(16))
    rows_of = Rows(PackedRows.open(tmp_path), False)
    kept = [rows_of.batch(np.array([number]))["input_ids"][0] for number in range(50)]
    assert [ids.tolist() for ids in kept] == [padded_ids(row, layout(16)) for row in rows]


@pytest.mark.parametrize("offsets", [[0, 2, 1], [0, 3, 2], [0, -1, 2], [0, 9, 2]])
def test_offsets_that_lead_out_of_the_file_are_refused(tmp_path, offsets):
    segments = Segments(
        np.array([0, 1, 2], np.int64), np.zeros(2, np.uint32), np.zeros(2, np.uint16), *np.zeros((2, 2), np.uint64)
    )
    path = tmp_path / "00000.arrow"
    packed_rows.write(path, layout(8), np.zeros((2, 8), np.uint16), np.full(2, 8, np.uint32), segments)
    content = path.read_bytes()
    whole, damaged = (np.array(some, np.int64).tobytes() for some in ([0, 1, 2], offsets))
    assert content.count(whole) == 1
    path.write_bytes(content.replace(whole, damaged))
    entry = packed_rows.FileEntry(path.name, 2, 16, len(content), "")
    packed_rows.write_manifest(tmp_path, layout(8), [entry])
    with pytest.raises(FormatError, match=f"found row [01] with document parts that do not fit it: {path}"):
        collate(PackedRows.open(tmp_path), np.array([0, 1]))


def test_rows_that_are_not_there(tmp_path):
    write_pack(tmp_path, random_rows(3, 8, seed=1), layout(8))
    for number in (-1, 3, 1 << 50):
        with pytest.raises(IndexError, match="expected row numbers from 0 to 2, found"):
            collate(PackedRows.open(tmp_path), np.array([0, number]))
