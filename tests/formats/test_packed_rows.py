import json
import pickle
import resource
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gristmill.errors import FormatError
from gristmill.formats import packed_rows
from gristmill.formats.packed_rows import FileEntry, Manifest, PackedRows, write_manifest
from gristmill.formats.row_file import RowFile
from reference.loader import layout, padded_ids, random_rows, write_pack


def flipped(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


@given(
    rows=st.integers(1, 40),
    sequence_length=st.integers(1, 33),
    vocab_size=st.sampled_from([300, 65_535, 65_536, 200_000]),
    rows_a_file=st.integers(1, 50),
    seed=st.integers(0, 9),
)
@settings(max_examples=40, deadline=None)
def test_what_is_written_is_read(tmp_path_factory, rows, sequence_length, vocab_size, rows_a_file, seed):
    folder = tmp_path_factory.mktemp("pack")
    kind = layout(sequence_length, vocab_size)
    written = random_rows(rows, sequence_length, seed, vocab_size)
    manifest = write_pack(folder, written, kind, rows_a_file)
    packed = PackedRows.open(folder)

    assert packed.manifest == manifest
    assert len(packed) == manifest.rows == rows
    assert manifest.tokens == sum(len(part.ids) for row in written for part in row)
    for number, row in enumerate(written):
        assert packed.ids(number).tolist() == padded_ids(row, kind)
        assert packed.ids(number).dtype == (np.uint16 if vocab_size <= 65_535 else np.uint32)
        assert packed.length(number) == sum(len(part.ids) for part in row)
        parts = packed.segments(number)
        assert parts.offsets.tolist() == [0, len(row)]
        assert parts.start.tolist() == [sum(len(before.ids) for before in row[:at]) for at in range(len(row))]
        assert list(zip(parts.source, parts.document, parts.token, strict=True)) == [part[:3] for part in row]
    some = np.random.default_rng(seed).integers(0, rows, 12)
    taken = packed.take(some)
    assert taken.ids.tolist() == [padded_ids(written[row], kind) for row in some]
    assert taken.lengths.tolist() == [packed.length(row) for row in some]
    for at, row in enumerate(some):
        assert taken.starts[taken.offsets[at] : taken.offsets[at + 1]].tolist() == packed.segments(row).start.tolist()


def test_any_arrow_reader_reads_a_row_file(tmp_path):
    rows = random_rows(5, 8, seed=1)
    write_pack(tmp_path, rows, layout(8))
    table = pa.ipc.open_file(tmp_path / "00000.arrow").read_all()

    assert table.schema.metadata[b"gristmill.kind"] == b"packed rows"
    assert table["input_ids"].to_pylist() == [padded_ids(row, layout(8)) for row in rows]
    assert table["length"].to_pylist() == [sum(len(part.ids) for part in row) for row in rows]
    assert [len(parts) for parts in table["segments"].to_pylist()] == [len(row) for row in rows]


def test_rows_are_views_of_the_mapped_file(tmp_path):
    write_pack(tmp_path, random_rows(5, 8, seed=1), layout(8))
    before = pa.total_allocated_bytes()
    ids = PackedRows.open(tmp_path).ids(3)

    assert pa.total_allocated_bytes() - before < 4096
    assert not ids.flags.writeable
    assert not ids.flags.owndata


def test_the_same_rows_give_the_same_bytes(tmp_path):
    rows = random_rows(9, 16, seed=2)
    for name in ("one", "two"):
        write_pack(tmp_path / name, rows, layout(16))
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert files == ["00000.arrow", "00001.arrow", "manifest.json"]
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_the_fingerprint_names_the_content(tmp_path):
    rows = random_rows(9, 16, seed=2)
    first = write_pack(tmp_path / "a", rows, layout(16)).fingerprint
    changed = [list(row) for row in rows]
    changed[4][0] = changed[4][0]._replace(ids=[7] * len(changed[4][0].ids))
    assert write_pack(tmp_path / "b", changed, layout(16)).fingerprint != first
    assert write_pack(tmp_path / "c", rows, replace(layout(16), strategy="best_fit")).fingerprint != first
    assert json.loads((tmp_path / "a" / "manifest.json").read_text())["fingerprint"] == first


def test_more_files_than_descriptors(tmp_path):
    rows = random_rows(300, 4, seed=3)
    write_pack(tmp_path, rows, layout(4), rows_a_file=1)
    packed = PackedRows.open(tmp_path)
    old = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, old[1]))
    try:
        assert packed.take(np.arange(300)).ids.tolist() == [padded_ids(row, layout(4)) for row in rows]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, old)


def test_files_are_opened_only_for_their_rows(tmp_path):
    write_pack(tmp_path, random_rows(30, 4, seed=3), layout(4), rows_a_file=10)
    (tmp_path / "00000.arrow").unlink()
    (tmp_path / "00002.arrow").write_bytes(b"")
    packed = PackedRows.open(tmp_path)
    assert len(packed.ids(10)) == 4
    with pytest.raises(FormatError, match="no file"):
        packed.ids(9)
    with pytest.raises(FormatError, match="0 bytes where the manifest has"):
        packed.ids(20)


def test_more_than_two_to_the_31_tokens(tmp_path):
    """A manifest of 2^42 tokens of which one file is there: row numbers and positions stay exact."""
    rows = random_rows(6, 4, seed=4)
    real = write_pack(tmp_path, rows, layout(4)).files[0]
    absent = [FileEntry(f"absent-{number}.arrow", 1 << 30, 1 << 32, 1, "") for number in range(1024)]
    write_manifest(tmp_path, layout(4), [*absent, real])
    packed = PackedRows.open(tmp_path)

    assert len(packed) == (1 << 40) + 6
    assert packed.manifest.tokens > 1 << 42
    assert packed.ids((1 << 40) + 5).tolist() == padded_ids(rows[5], layout(4))
    assert packed.take(np.array([(1 << 40) + 2])).ids.tolist() == [padded_ids(rows[2], layout(4))]
    with pytest.raises(FormatError, match=r"absent-1023\.arrow"):
        packed.ids((1 << 40) - 1)


def test_empty_files_hold_no_row(tmp_path):
    manifest = write_pack(tmp_path, random_rows(3, 4, seed=5), layout(4))
    nothing = write_pack(tmp_path / "empty", [], layout(4))
    assert nothing.rows == 0
    assert len(PackedRows.open(tmp_path / "empty")) == 0
    none = RowFile.open(tmp_path / "00000.arrow", layout(4)).segments
    empty = packed_rows.write(
        tmp_path / "none.arrow",
        layout(4),
        np.zeros((0, 4), np.uint16),
        np.zeros(0, np.uint32),
        none._replace(**{name: getattr(none, name)[:0] for name in none._fields[1:]}, offsets=none.offsets[:1]),
    )
    write_manifest(tmp_path, layout(4), [empty, *manifest.files, empty])
    packed = PackedRows.open(tmp_path)
    packed.verify()
    assert len(packed) == 3
    assert packed.path_of(0).name == packed.path_of(2).name == "00000.arrow"


def test_row_numbers_outside_are_refused(tmp_path):
    write_pack(tmp_path, random_rows(3, 4, seed=5), layout(4))
    packed = PackedRows.open(tmp_path)
    for number in (-1, 3):
        with pytest.raises(IndexError, match="expected row numbers from 0 to 2"):
            packed.ids(number)


def test_pickled_rows_map_their_files_anew(tmp_path):
    write_pack(tmp_path, random_rows(30, 64, seed=6), layout(64))
    packed = PackedRows.open(tmp_path)
    packed.take(np.arange(30))
    pickled = pickle.dumps(packed)
    assert len(pickled) < 4096
    other = pickle.loads(pickled)  # noqa: S301
    assert (other.take(np.arange(30)).ids == packed.take(np.arange(30)).ids).all()


class TestDamage:
    """Every message has the expected, the found, the place and the remedy."""

    @pytest.fixture
    def pack(self, tmp_path):
        write_pack(tmp_path, random_rows(20, 8, seed=7), layout(8), rows_a_file=5)
        return tmp_path

    def refused(self, folder: Path) -> str:
        with pytest.raises(FormatError) as caught:
            PackedRows.open(folder).take(np.arange(20))
        assert str(caught.value).startswith("expected packed rows of version 1, found ")
        assert str(caught.value).endswith("\n  Run `gristmill run` again to rebuild this step.")
        return str(caught.value)

    @pytest.mark.parametrize("kept_bytes", [0, 10, 400, -1])
    def test_truncated(self, pack, kept_bytes):
        path = pack / "00002.arrow"
        path.write_bytes(path.read_bytes()[:kept_bytes])
        assert f"bytes where the manifest has {PackedRows.open(pack).manifest.files[2].bytes}: {path}" in self.refused(
            pack
        )
        with pytest.raises(FormatError, match="a damaged file"):
            RowFile.open(path, layout(8))

    def test_missing(self, pack):
        (pack / "00001.arrow").unlink()
        assert f"no file: {pack / '00001.arrow'}" in self.refused(pack)

    def test_other_tokenizer(self, pack):
        other = replace(layout(8), tokenizer_fingerprint="e" * 64)
        path = pack / "00001.arrow"
        with pytest.raises(FormatError, match=f"tokenizer_fingerprint {'f' * 64} where the manifest has {'e' * 64}"):
            RowFile.open(path, other)

    def test_other_width(self, pack):
        with pytest.raises(FormatError, match=r"other columns \(input_ids: fixed_size_list<item: uint16"):
            RowFile.open(pack / "00001.arrow", layout(8, vocab_size=70_000))

    def test_somebody_elses_arrow_file(self, pack):
        path = pack / "00003.arrow"
        table = pa.table({"text": ["a"]})
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
        with pytest.raises(FormatError, match="an Arrow file that is not ours"):
            RowFile.open(path, layout(8))

    def test_later_version(self, pack):
        path = pack / "00003.arrow"
        table = pa.ipc.open_file(path).read_all()
        table = table.replace_schema_metadata({**table.schema.metadata, b"gristmill.version": b"2"})
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
        with pytest.raises(FormatError, match="expected packed rows of version 1, found version 2: "):
            RowFile.open(path, layout(8))

    def test_several_record_batches(self, pack):
        path = pack / "00003.arrow"
        table = pa.ipc.open_file(path).read_all()
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=2)
        with pytest.raises(FormatError, match="3 record batches instead of one"):
            RowFile.open(path, layout(8))

    def test_other_row_count(self, pack):
        entries = list(Manifest.read(pack).files)
        entries[1] = replace(entries[1], rows=4)
        write_manifest(pack, layout(8), entries)
        with pytest.raises(FormatError, match="5 rows where the manifest has 4"):
            PackedRows.open(pack).ids(7)

    def test_verify_names_every_bad_file(self, pack):
        PackedRows.open(pack).verify()
        (pack / "00000.arrow").unlink()
        flipped(pack / "00002.arrow", 600)
        with pytest.raises(FormatError) as caught:
            PackedRows.open(pack).verify()
        assert "found 2 of 4 files missing or changed" in str(caught.value)
        assert str(pack / "00000.arrow") in str(caught.value)
        assert str(pack / "00002.arrow") in str(caught.value)
        assert "00001" not in str(caught.value)


class TestManifest:
    @pytest.fixture
    def path(self, tmp_path):
        write_pack(tmp_path, random_rows(3, 8, seed=7), layout(8))
        return tmp_path / "manifest.json"

    def test_holds_what_all_rows_share(self, path):
        found = json.loads(path.read_text())
        assert list(found) == [
            "kind", "version", "sequence_length", "strategy", "pad_id", "vocab_size", "tokenizer_fingerprint",
            "sources", "tokenizer_file", "dtype", "rows", "tokens", "files", "fingerprint",
        ]  # fmt: skip
        assert list(found["files"][0]) == ["name", "rows", "tokens", "bytes", "checksum"]

    @pytest.mark.parametrize(
        ("change", "found"),
        [
            ({"kind": "tokens"}, "a file that is not ours"),
            ({"version": 3}, "version 3"),
            ({"files": [{"name": "00000.arrow"}]}, "other fields"),
            ({"sequence_length": 9}, "a manifest that was changed by hand"),
        ],
    )
    def test_changed(self, path, change, found):
        path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
        with pytest.raises(FormatError, match=f"expected packed rows of version 1, found {found}.*: {path}\n  Run"):
            Manifest.read(path.parent)

    def test_without_a_field(self, path):
        content = json.loads(path.read_text())
        del content["pad_id"]
        path.write_text(json.dumps(content))
        with pytest.raises(FormatError, match="other fields"):
            Manifest.read(path.parent)

    def test_not_json(self, path):
        path.write_text("{")
        with pytest.raises(FormatError, match="expected JSON"):
            Manifest.read(path.parent)

    def test_missing(self, path):
        path.unlink()
        with pytest.raises(FormatError, match=f"no manifest: {path}"):
            Manifest.read(path.parent)
