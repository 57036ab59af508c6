from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from gristmill.cleaning.pii import Pii

TEXT = "Ask ann@mill.example or bob@mill.example at 8.8.8.8, 8.8.4.4, 10.0.0.1 or 1.2.3.400."


def clean(unit: Pii, *texts: str) -> list[str]:
    return unit.clean(pa.array(texts, pa.large_string())).to_pylist()  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"email_replacement": "E", "ip_replacement": "I"}, "Ask E or E at I, I, 10.0.0.1 or I0."),
        ({"email_replacement": ["E", "F"], "ip_replacement": ["I", "J"]}, "Ask E or F at I, J, 10.0.0.1 or I0."),
        ({"email_replacement": "E", "remove_ips": False}, "Ask E or E at 8.8.8.8, 8.8.4.4, 10.0.0.1 or 1.2.3.400."),
        (
            {"remove_emails": False, "ip_replacement": "I"},
            "Ask ann@mill.example or bob@mill.example at I, I, 10.0.0.1 or I0.",
        ),
        (
            {"email_replacement": "E", "ip_replacement": "I", "only_remove_public_ips": False},
            "Ask E or E at I, I, I or I0.",
        ),
    ],
)  # fmt: skip
def test_each_parameter(parameters: dict[str, Any], expected: str) -> None:
    assert clean(Pii(**parameters), TEXT) == [expected]


def test_placeholders_take_turns_and_begin_anew_in_each_text() -> None:
    assert clean(Pii(email_replacement=("E", "F")), "a@b.c d@e.f g@h.i", "a@b.c") == ["E F E", "E"]


def test_what_it_must_not_touch() -> None:
    texts = ["", "@home", "me@localhost", "a @ b.c", "version 1.2.3", "127.0.0.1", "300.1.2", "01.2.3.4", "Việt@漢.字"]
    given = pa.array(texts, pa.large_string())
    cleaned = Pii().clean(given)
    assert cleaned.to_pylist() == texts
    assert cleaned.buffers()[2].address == given.buffers()[2].address


def test_addresses_are_looked_for_in_what_emails_left() -> None:
    assert clean(Pii(email_replacement="9.9.9.9", ip_replacement="I"), "a@b.c") == ["I"]


@pytest.mark.parametrize("parameters", [{"ip_replacement": ()}, {"email_replacement": [1]}])
def test_refuses_placeholders_that_are_none(parameters: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"expected `.*_replacement` to be a text or a list of texts, found"):
        Pii(**parameters)


def test_agrees_with_datatrove() -> None:
    formatter = pytest.importorskip("datatrove.pipeline.formatters").PIIFormatter
    texts = [TEXT, TEXT * 3, "mailto:a.b+c@d-e.org?subject=x", "x@[8.8.8.8] 8.8.8.8", "8.8.8.8.8 é@b.c"]
    assert clean(Pii(), *texts) == [formatter().format(text) for text in texts]
