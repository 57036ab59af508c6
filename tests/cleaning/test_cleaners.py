from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

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


def test_unicode_keeps_nul_if_asked() -> None:
    kept = Unicode(remove_nul=False)
    assert kept.clean(raw(b"nul\0nul", b"bro\xff\0ken")).to_pylist() == ["nul\0nul", "bro\0ken"]
    assert kept.clean(raw(b"\0")).to_pylist() == ["\0"]


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


def test_ftfy_leaves_matters_of_taste_alone() -> None:
    texts = ["“curly” ﬁ ＡＢＣ e\u0301", "a\r\nb", "", "&lt;b&gt; <b>"]
    assert Ftfy().clean(text(*texts)).to_pylist() == texts
    asked = Ftfy(uncurl_quotes=True, fix_latin_ligatures=True, fix_character_width=True, normalization="NFC")
    assert asked.clean(text(*texts)).to_pylist()[0] == '"curly" fi ABC \u00e9'
    assert Ftfy(fix_line_breaks=True, unescape_html=True).clean(text(*texts)).to_pylist()[1:] == ["a\nb", "", "<b> <b>"]


NASTY = st.text(
    st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from("&;<lt#â€œ\x1b[0m\x85\xa0\r\n\t\0"))
)


@given(st.lists(NASTY, max_size=4))
@example(["".join(map(chr, range(128))), "plain\ttext\n"])
@example([])
def test_ftfy_is_datatroves(texts: list[str]) -> None:
    formatter = pytest.importorskip("datatrove.pipeline.formatters").FTFYFormatter()
    assert Ftfy().clean(text(*texts)).to_pylist() == [formatter.format(each) for each in texts]


@pytest.mark.parametrize("parameters", [{"normalization": "NFX"}, {"unescape_html": "NFX"}])
def test_ftfy_refuses_unknown_values(parameters: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="NFX"):
        Ftfy(**parameters)  # type: ignore[arg-type]
