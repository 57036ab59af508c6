"""Texts on which C4's rules bite, as a hypothesis strategy."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from prose_texts import ENDS, SPACES, WORDS
from word_texts import texts as any_texts

PHRASES = [
    *("lorem ipsum", "Lorem Ipsum", "javascript", "JavaScript", "terms of use", "Privacy Policy", "cookie policy"),
    *("uses cookies", "use of cookies", "use cookies", "coo\u212aie policy", "USE COO\u212aIES", "privacy\u212apolicy"),
    *("lorem ips[1]um", "java[edit]script", "lorem\0ipsum", "terms of\u00a0use", "lorem i\u0307psum", "lorem İpsum"),
    *("{", "}", "use of", "cookies", "cookie", " policy", "ipsum", "script"),
]
CITATIONS = [
    *("[1]", "[]", "[12345678901]", "[١٢]", "[edit]", "[citation needed]", "[Edit]", "[", "]", "[[1]]", "[ 1]", "[1"),
    *("..[1].", "[edit", "[citation needed", ".[1]", "[²]", "[1][2] ", "[1] x."),
]
MARKS = [".", ".", ".", "?", "!", '"', "'", "...", "..", "…", "。", '."', " ."]
_parts = st.one_of(
    *(st.sampled_from(items) for items in (WORDS, SPACES, PHRASES, CITATIONS, MARKS)),
    st.sampled_from(WORDS).map("{} and so ".format),
)
lines: Any = st.tuples(st.lists(_parts, max_size=8).map("".join), st.sampled_from(["", *MARKS])).map("".join)
sentences: Any = st.sampled_from(["One two three.", "Is it so?", "He went. She left.", 'As they say: "Go!"'])
blocks: Any = st.tuples(st.one_of(lines, lines, sentences, any_texts), st.sampled_from(ENDS)).map("".join)
texts: Any = st.lists(blocks, max_size=8).map("".join)
