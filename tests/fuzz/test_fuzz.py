"""Each target takes its whole files, what once broke it (corpus/TARGET.NAME), and mutations that hypothesis draws.

`tools/fuzz.py TARGET --seconds N` goes on with atheris, which follows the branches that are taken.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from fuzz_targets import TARGETS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

NUMBERS = [b"\xff" * 8, b"\0" * 8, b"\xff\xff\xff\x7f", b"\1\0\0\0\0\0\0\0", b'"\\']
CORPUS = Path(__file__).parent / "corpus"
KEPT = sorted(CORPUS.iterdir())  # TARGET.NAME


@pytest.mark.parametrize("name", list(TARGETS))
def test_whole_files(name: str) -> None:
    for data in TARGETS[name].seeds():
        TARGETS[name].check(data)
    for data in (b"", b"\0", b"\xff" * 100):
        TARGETS[name].check(data)


@pytest.mark.parametrize("file", KEPT, ids=lambda file: file.name)
def test_what_once_broke_it(file: Path) -> None:
    TARGETS[file.name.split(".")[0]].check(file.read_bytes())


@pytest.mark.parametrize("name", list(TARGETS))
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(drawn=st.data())
def test_mutations(name: str, drawn: st.DataObject) -> None:
    TARGETS[name].check(mutated(drawn, drawn.draw(st.sampled_from(TARGETS[name].seeds()))))


def mutated(drawn: st.DataObject, data: bytes) -> bytes:
    """Bits flipped, bytes put in, taken out or repeated, the end cut off: one to four times."""
    for _ in range(drawn.draw(st.integers(1, 4))):
        at = drawn.draw(st.integers(0, max(0, len(data) - 1)))
        kind = drawn.draw(st.sampled_from(["flip", "set", "insert", "delete", "cut", "repeat"]))
        if kind == "flip" and data:
            data = data[:at] + bytes([data[at] ^ 1 << drawn.draw(st.integers(0, 7))]) + data[at + 1 :]
        elif kind == "set":
            some = drawn.draw(st.sampled_from(NUMBERS))
            data = data[:at] + some + data[at + len(some) :]
        elif kind == "insert":
            data = data[:at] + drawn.draw(st.binary(min_size=1, max_size=9)) + data[at:]
        elif kind == "delete":
            data = data[:at] + data[at + drawn.draw(st.integers(1, 30)) :]
        elif kind == "cut":
            data = data[:at]
        else:
            data = data[:at] + data[at : at + 40] * 3 + data[at + 40 :]
    return data
