"""A record with one changed bit, anywhere in it, counts for nothing."""

from __future__ import annotations

from pathlib import Path

from gristmill.engine import record as records
from gristmill.engine.record import Record, WrittenFile

RECORD = Record(records.VERSION, "f", {"a": 1}, {"sizes": {10: 1, 2: 3}}, (), ("told",), 0.5, "now", 1, 2)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    files = (WrittenFile("00000.arrow", 3, "abc"),)
    records.write(tmp_path, "00000", Record(**{**vars(RECORD), "files": files}))
    found = records.read(tmp_path, "00000")
    assert found is not None
    assert (found.files, found.counts, found.notices) == (files, {"sizes": {"10": 1, "2": 3}}, ("told",))
    assert not records.is_damaged(tmp_path / "00000.json")


def test_a_flipped_bit_is_found_in_every_byte(tmp_path: Path) -> None:
    records.write(tmp_path, "00000", RECORD)
    path = tmp_path / "00000.json"
    whole, content = path.read_bytes(), records.read(tmp_path, "00000")
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1 :])
        found = records.read(tmp_path, "00000")
        assert found is None or (found == content and whole[at] in b" \n"), at  # white space says nothing
        assert records.is_damaged(path) == (found is None), at


def test_another_json_file_is_no_damaged_record(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"kind": "packed rows", "files": [{"checksum": "a"}]}')
    assert not records.is_damaged(tmp_path / "manifest.json")
