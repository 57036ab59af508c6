"""URLs: against datatrove's own filter, with the same public suffix list."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
from datatrove.data import Document
from datatrove.pipeline.filters import URLFilter
from hypothesis import example, given
from hypothesis import strategies as st

import gristmill as gm
from gristmill.filters.hosts import suffix_list

# Each rule: a URL that it drops and a neighbour that just passes.
RULES: list[tuple[dict[str, Any], str, str, str]] = [
    ({"domains": ["bad.co.uk"]}, "http://a.b.bad.co.uk/x", "http://bad.co/uk", "domain"),
    ({"domains": ["x.ok.com"]}, "http://x.ok.com/", "http://y.x.ok.com/", "subdomain"),
    ({"urls": ["http://a.com/1"]}, "http://a.com/1", "http://a.com/1/", "url"),
    ({"banned_words": ["xxx"]}, "http://a.com/b-xxx", "http://a.com/b-xxxx", "hard_blacklisted"),
    ({"soft_banned_words": ["hot", "big"]}, "http://hot.com/big", "http://hot.com/hot", "soft_blacklisted"),
    ({"soft_banned_words": ["hot"], "soft_word_threshold": 1}, "http://hot.com", "http://hott.com", "soft_blacklisted"),
    ({"banned_subwords": ["CaSino"]}, "http://ca.com/ca-SI_no1", "http://ca.com/casin/1o", "blacklisted_subword"),
    ({"urls": ["x"]}, "", "y", "missing"),
]

LISTS = {
    "domains": ["example.com", "bad.co.uk", "www.example.org", "例え.jp", "localhost", "10.0.0.1", "#no.com",
                "EXAMPLE.net", " spaced.com ", "github.io", "kawasaki.jp", "city.kawasaki.jp"],
    "urls": ["http://good.com/bad", "ftp://x.y/z?q#f", "#http://no.com", "http://ok.com/日本 "],
    "banned_words": ["porn", "XX x", "b4d", "a-b"],
    "soft_banned_words": ["hot", "big", "18", "hot", "win"],
    "banned_subwords": ["casino", "vi-agra", "aab", "ab", "1x2"],
}  # fmt: skip
PIECES = [
    *(
        "http://",
        "https://",
        "//",
        "/",
        "://",
        ":",
        "?",
        "#",
        "@",
        "[",
        "]",
        "[::1]",
        ".",
        "..",
        "。",
        "．",
        "-",
        "_",
        " ",
        "%20",
    ),
    *(
        "www.",
        "example.com",
        "EXAMPLE.net",
        "Example.com",
        "bad.co.uk",
        "co.uk",
        "a",
        "b",
        "github.io",
        "city.kawasaki.jp",
    ),
    *(
        "porn",
        "PORN",
        "XXx",
        "xxx",
        "b4d",
        "ab",
        "hot",
        "big",
        "18",
        "win",
        "cas",
        "ino",
        "casino",
        "vi",
        "agra",
        "1x2",
    ),
    *(
        "user:pw@",
        ":8080",
        "10.0.0.1",
        "例え.jp",
        "é",
        "e\u0301",
        "😀",
        "א",
        "\0",
        "\n",
        "xn--",
        "localhost",
        ".com",
        "1+x",
    ),
    *("http://good.com/bad", "ftp://x.y/z?q#f", "http://ok.com/日本", "spaced.com", "index.html", "\u2028"),
]
urls: Any = st.lists(st.sampled_from(PIECES) | st.text(max_size=2), min_size=1, max_size=7).map("".join).filter(bool)


def judge(**lists: Any) -> URLFilter:
    names = {"domains": "extra_domains", "urls": "extra_urls"}
    theirs = URLFilter(use_integrated_lists=False, **{names.get(name, name): value for name, value in lists.items()})
    theirs.tldextractor = suffix_list()
    return theirs


def their_verdict(theirs: URLFilter, url: str) -> str | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # datatrove asks tldextract by an old name
        answer = theirs.filter(Document(text="", id="", metadata={"url": url}))
    return f"url.{answer[1]}" if isinstance(answer, tuple) else None


@pytest.mark.parametrize(("parameters", "dropped", "kept", "reason"), RULES)
def test_each_rule(parameters: dict[str, Any], dropped: str, kept: str, reason: str) -> None:
    assert gm.filters.Url(**parameters).verdicts([dropped, kept]).to_pylist() == [f"url.{reason}", None]


OURS, THEIRS = gm.filters.Url(**LISTS), judge(**LISTS)
ALONE = [(gm.filters.Url(**{name: LISTS[name]}), judge(**{name: LISTS[name]})) for name in LISTS]


def _well_formed(url: str) -> str:
    return url.encode("utf-8", "ignore").decode()


@given(st.lists(urls.map(_well_formed).filter(bool), max_size=8))
@example(["http://example.com./", "http://user@example.com:80/", "example.com", "//example.com", "é://example.com"])
@example(["a//example.com", "://example.com", "x:y://example.com", "http:///example.com", "http://a@b@example.com"])
@example(["http://x.github.io", "http://github.io", "http://a.city.kawasaki.jp", "http://a.b.kawasaki.jp"])
def test_decides_as_datatrove_does(values: list[str]) -> None:
    for ours, theirs in [(OURS, THEIRS), *ALONE]:
        assert ours.verdicts(values).to_pylist() == [their_verdict(theirs, value) for value in values]


@given(
    st.lists(st.text("abA-", min_size=1, max_size=4).filter(lambda word: word.strip("-")), min_size=1, max_size=4),
    st.lists(st.text("abA-./é", min_size=1, max_size=12), max_size=6),
    st.integers(1, 3),
)
def test_words_as_datatrove_finds_them(words: list[str], values: list[str], threshold: int) -> None:
    for name in ("banned_words", "soft_banned_words", "banned_subwords"):
        parameters = {name: words, "soft_word_threshold": threshold}
        theirs = judge(**parameters)
        ours = gm.filters.Url(**parameters).verdicts(values).to_pylist()
        assert ours == [their_verdict(theirs, value) for value in values]


def test_a_document_without_url() -> None:
    assert gm.filters.Url(urls=["x"]).verdicts([None, "y"]).to_pylist() == ["url.missing", None]
    assert gm.filters.Url(urls=["x"], missing="keep").verdicts([None, "x"]).to_pylist() == [None, "url.url"]


def test_lists_are_files_and_enter_fingerprints_by_what_they_hold(tmp_path: Path) -> None:
    one, other = tmp_path / "one.txt", tmp_path / "other.txt"
    for file in (one, other):
        file.write_text("# a list\nexample.com\n\n", encoding="utf-8")
    unit = gm.filters.Url(files={"domains": str(one)}, domains=["b.com"])
    assert unit.verdicts(["http://example.com", "http://b.com", "http://c.com"]).null_count == 1
    assert unit.measuring() == gm.filters.Url(files={"domains": [str(other)]}, domains=["b.com"]).measuring()


def test_the_column_is_a_parameter() -> None:
    assert gm.filters.Url(urls=["x"]).column() == "url"
    assert gm.filters.Url(urls=["x"], column="address").column() == "address"


def test_long_urls() -> None:
    long = "http://example.com/" + "a/" * 500_000
    assert OURS.verdicts([long, "/" * 1_000_000, "a" * 1_000_000]).to_pylist() == ["url.domain", None, None]


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"domains": "example.com"},
        {"domains": [""]},
        {"files": {"domain": "x.txt"}},
        {"files": ["x.txt"]},
        {"urls": ["x"], "soft_word_threshold": 0},
        {"urls": ["x"], "url_column": "text"},
        {"urls": ["x"], "missing": "error"},
    ],
)
def test_impossible_parameters_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"expected|unknown"):
        gm.filters.Url(**parameters)


def test_a_word_of_which_nothing_can_stand_in_a_url_is_refused() -> None:
    with pytest.raises(ValueError, match="日本"):
        gm.filters.Url(banned_words=["日本"]).verdicts(["http://x.com/"])
