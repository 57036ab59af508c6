"""Texts on which two tokenizers that are not the same show it.

Enters: the tokenizer's own added tokens. Leaves: a few kilobytes of text with everything that split regexes,
normalizers and added-token matching treat as special.
"""

from __future__ import annotations

from collections.abc import Iterable

_PLAIN = (
    "",
    "a",
    " ",
    "Hello world, hello World! HELLO?",
    "  two leading, two trailing  ",
    "tabs\tand\t\ttabs \t mixed",
    "line\nline\n\nline\r\nline\r\n\r\nline\rend\n",
    " \n \n\n  x\n   y",
    "don't DON'T we'll WE'LL I'm he'd you've they're it's IT'S o'clock 'quoted' ’s",
    "0 12 345 6789 1234567890 3.14 1,000,000 10e-5 0x1F ½ Ⅷ ² ٣٤",
    "...!!!???---***/// (a) [b] {c} <d> #e @f $g %h ^i &j _k ~l",
    "def f(x):\n    return x ** 2  # square\n\n\tif x:\n\t\tpass\n",
    "https://example.org/a/b?c=d&e=f#g user@example.org C:\\path\\to",
    "Việt Nam Tiếng Việt thường được viết bằng chữ Quốc ngữ",
    "Vie\u0323\u0302t na\u0303o e\u0301 \u0301 A\u030a Å Å İ ı ß ſ ﬁ Ǆ ʰ ª",
    "Привет мир Ελληνικά עברית العربية हिन्दी ไทยภาษา ქართული",
    "中文字符，日本語の文章。カタカナ ｶﾀｶﾅ か\u3099 한국어 문장 ＡＢＣ１２３\u3000全角",
    "🙂🙂 👩\u200d👩\u200d👧 🇻🇳 🏴\U000e0067\U000e0062\U000e007f ❤\ufe0f",
    "nul\x00nul \x01\x1f\x7f\x85 a\u00a0b\u2003c\u2028d\u2029e\u200bf\ufeffg\ufffd",
    "▁a ▁▁ Ġb Ċ <0x0A> ##c d</w> \ue000",
    "x" * 300 + " " * 300 + "=" * 300 + "\n" * 300 + "7" * 300 + "é" * 300,
)

_ADDED_TOKENS = 24  # of each tokenizer; Llama 3 has 256, nearly all alike


def probes(added_tokens: Iterable[str]) -> list[str]:
    """The texts, and each of the first added tokens alone, among letters, spaces and its own kind, and cut short."""
    texts = list(_PLAIN)
    for _, token in zip(range(_ADDED_TOKENS), added_tokens, strict=False):
        texts += [token, f"a{token}b", f"a {token} b", f" \n {token} \n ", token + token, token[:-1], f"{token}s 1"]
    return texts
