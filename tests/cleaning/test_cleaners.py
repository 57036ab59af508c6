from __future__ import annotations

import pyarrow as pa
import pytest

from gristmill.cleaning.ftfy import Ftfy
from gristmill.cleaning.nfc import Nfc
from gristmill.cleaning.strip import Strip
from gristmill.cleaning.unicode import Unicode


def raw(*values: bytes) -> pa.Array:
    return pa.array(values, pa.large_binary())


def text(*values: str) -> pa.Array:
    return pa.array(values, pa.large_string())


def test_unicode_mends_and_leaves_the_rest_alone() -> None:
    cleaned = Unicode().clean(raw(b"fine", b"bro\xffken", b"nul\0nul", "Việt".encode(), b"\xed\xa0\x80"))
    assert cleaned.type == pa.large_string()
    assert cleaned.to_pylist() == ["fine", "broken", "nulnul", "Việt", ""]


def test_unicode_does_not_copy_what_is_clean() -> None:
    values = raw(b"fine", "Việt".encode())
    assert Unicode().clean(values).buffers()[2].address == values.buffers()[2].address


def test_unicode_takes_an_empty_batch() -> None:
    assert Unicode().clean(raw()).to_pylist() == []


def test_strip() -> None:
    assert Strip().clean(text(" a ", "\u3000b\n", "c d", " \t")).to_pylist() == ["a", "b", "c d", ""]


def test_nfc_composes() -> None:
    assert Nfc().clean(text("Vie\u0302\u0323t")).to_pylist() == ["Việt"]


def test_ftfy_mends_mojibake() -> None:
    assert Ftfy().clean(text("âœ” No problems", "plain")).to_pylist() == ["✔ No problems", "plain"]


def test_ftfy_refuses_an_unknown_form() -> None:
    with pytest.raises(ValueError, match="NFX"):
        Ftfy(normalization="NFX")
