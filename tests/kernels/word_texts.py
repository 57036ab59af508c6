"""Texts that are hard to split into words, as a hypothesis strategy; what every kernel on words is tried on."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from gristmill.kernels.words_exceptions import EXCEPTIONS, UNITS

SPACES = [" ", " ", " ", "  ", "\n", "\n\n", "\r\n", "\t", "\u00a0", "\u3000", "\u2028", "\u1680", "\x1c", "\x85"]
PUNCTUATION = list("….,:;!?¿()[]{}<>_#*&。！，、～·'\"”“`‘’«»「」『』（）-–—~§%=+/\\|@^$£€°²•")
ADDRESSES = [
    *("http://", "https://", "a@b.c", "www.", "example.com", ".com", ".co.uk", ":80", ":123456", "/path", "?q=1"),
    *("#x", "user:pw@", "mailto:", "xn--", "-a.b", "a-.bc", "_a.bc", "é.fr", "日本.jp", "10.0.0.1", "8.8.8.8"),
    *("192.168.1.1", "172.16.0.1", "172.32.0.1", "169.254.1.1", "1.2.3.4.5", "256.1.1.1", "223.255.255.254"),
    *("٣.٣.٣.٣", "12٣.1.1.1"),
]
ODDITIES = [
    *("\0", "\u200d", "\u200b", "e\u0301", "😀", "👨\u200d👩", "אב", "م", "日本", "ひ", "한", "й", "Я", "ß", "İ", "K"),
    *("½", "\U00020000", "\ufffd", "\u0378", "\U0010ffff", "ａＡ", "ﬁ", "ǅ", "--", "---", "——", "....", "...", ".."),
    *("''", "'s", "’S", "US$", "C$", "A$", "1,000", "3.14", "the", "with", "to"),
]
ANYTHING = st.characters(exclude_categories=["Cs"])

_parts = st.one_of(
    st.sampled_from(SPACES),
    st.sampled_from(sorted(EXCEPTIONS)),
    st.builds("{}{}".format, st.integers(0, 99), st.sampled_from(sorted(UNITS))),
    st.sampled_from(PUNCTUATION),
    st.sampled_from(ADDRESSES),
    st.sampled_from(ODDITIES),
    st.text("abcxyzABC019", min_size=1, max_size=4),
    st.text(ANYTHING, max_size=2),
)
texts: Any = st.lists(_parts, max_size=30).map("".join)
