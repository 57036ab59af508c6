from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gristmill.document import buffers, strings
from gristmill.kernels import addresses, emails
from gristmill.kernels.splice import splice
from reference import personal as twin

PLACEHOLDERS = ("<1>", "", "<a long one, longer than what it stands for: " + "x" * 80 + ">")
FINDERS: dict[str, tuple[Callable[..., addresses.Spans], Callable[[str, Sequence[str]], str]]] = {
    "emails": (emails.find_emails, twin.without_emails),
    "addresses": (addresses.find_addresses, twin.without_addresses),
    "public addresses": (addresses.find_public_addresses, twin.without_public_addresses),
}

NASTY = [
    "", "@", "a@", "@a.b", "a@b", "a@b.c", "a@b.c.", "a@b..c", "a@b.c@d.e", ".a@b.c", "a..b@c.d", "a.@b.c", "-a@b.c",
    "é-a@b.c", "éa@b.c", "éa.b@c.d", "e\u0301a@b.c", "漢a@b.c", "漢-a@b.c", "\u2028a@b.c", "\0a@b.c", "_@b.c", "!!@b.c",
    "!a@b.c", "a!@b.c", "a@b-.c", "a@-b.c", "a@b.-c", "a@b.c-", "a@b.c-.d", "a@b.c--d-", "a@b.cé", "a@b.c_d",
    "a@[1.2.3.4]", "a@[1.2.3.4", "a@[1.2.3.a:]", "a@[1.2.3.-:]", "a@[1.2.3.-a:]", "a@[1.2.3.256]", "a@[1.2.256.4]",
    "a@[1.2.3.25:]", "a@[1.2.3.2566:]", "a@[1.2.3.4:]x", "a@b@c@d.e", "a@b.c,d@e.f", "mailto:a@b.c?x=y@z.w",
    "1.2.3.4", "01.2.3.4", "1.2.3.04", "1.2.3.0", "0.1.2.3", "1.2.3", "1.2.3.", "1.2.3.4.5.6.7.8", "1234.5.6.7",
    "256.5.6.7", "999.5.6.7", "1.2.3.256", "1.2.3.999", "1.2.3.456.7.8.9", "1.2.3.4567", "1.2.3.٤", "٣1.2.3.4",
    "10.0.0.1.2.3.4", "10.0.0.1", "255.255.255.255", "8.8.8.8", "v8.8.8.8", "8.8.8.8x", "8.8..8.8", "8.8.8.8@b.c",
    "a@8.8.8.8", "1.1.1.1\r\n1.1.1.1", "1.1.1.11.1.1.1", "192.0.0.9", "192.0.0.8", "100.64.0.0", "224.0.0.1",
    "🙂1.2.3.4🙂a@b.c🙂", "שלום a@b.c 1.2.3.4", "x" * 63 + "@b.c", "x" * 64 + "@b.c" + "y" * 64, "1.2.3.4" * 40,
]  # fmt: skip


def replaced(name: str, texts: list[str]) -> list[str]:
    find, _ = FINDERS[name]
    offsets, data = buffers(pa.array(["before@the.slice 9.9.9.9", *texts], pa.large_string()).slice(1))
    spans = find(offsets, data)
    assert (spans.starts < spans.stops).all()
    result: Any = strings(*splice(offsets, data, *spans, PLACEHOLDERS))
    result.validate(full=True)
    return result.to_pylist()  # type: ignore[no-any-return]


pieces = st.one_of(
    st.sampled_from(NASTY),
    st.text(st.sampled_from("ab9@.-_!:[]é漢\u0301 \n"), max_size=12),
    st.text(st.sampled_from("0125.."), max_size=16),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
)


@pytest.mark.parametrize("name", FINDERS)
@settings(max_examples=400)
@given(texts=st.lists(st.lists(pieces, max_size=6).map("".join), max_size=4))
@example(texts=NASTY)
@example(texts=[])
def test_finds_what_the_expressions_find(name: str, texts: list[str]) -> None:
    _, slow = FINDERS[name]
    assert replaced(name, texts) == [slow(text, PLACEHOLDERS) for text in texts]


@pytest.mark.parametrize(
    ("text", "email_count", "address_count"),
    [
        ("a" * 1_000_000, 0, 0),
        ("\n" * 1_000_000, 0, 0),
        ("@" * 1_000_000, 0, 0),
        ("a@" * 300_000, 0, 0),
        ("a@b.c " * 100_000, 100_000, 0),
        ("a." * 400_000 + "@b.c", 0, 0),
        ("a." * 400_000 + "a@b.c", 1, 0),
        ("a@" + "b." * 300_000, 1, 0),
        ("a@" + "-" * 1_000_000, 0, 0),
        ("é" * 400_000 + "@b.c", 0, 0),
        ("1." * 400_000, 0, 100_000),
    ],
    ids=lambda value: repr(value[:3]) if isinstance(value, str) else "",
)
def test_takes_enormous_texts(text: str, email_count: int, address_count: int) -> None:
    """Over some of these the expressions would take hours."""
    offsets, data = buffers(pa.array([text], pa.large_string()))
    assert len(emails.find_emails(offsets, data).starts) == email_count
    assert len(addresses.find_addresses(offsets, data).starts) == address_count


def test_public_is_what_ipaddress_says() -> None:
    """At both sides of every bound of the table."""
    bounds = [int(bound) + near for bound in addresses._NOT_PUBLIC for near in (-1, 0, 1)]
    texts = [".".join(map(str, bound.to_bytes(4, "big"))) for bound in bounds if 0 <= bound < 1 << 32]
    assert len(texts) > 80
    _, slow = FINDERS["public addresses"]
    assert replaced("public addresses", texts) == [slow(text, PLACEHOLDERS) for text in texts]
