"""Slow, obvious twins of kernels/sentence_spans.py, on texts that are cut into their pieces already."""

from __future__ import annotations

from reference.texts import hash_text


def span_hashes(folded: list[str], n: int) -> list[tuple[int, tuple[int, int]]]:
    """The number of the first piece of each span that says anything, and the span's hash."""
    spans = [(at, " ".join(folded[at : at + n])) for at in range(len(folded) - n + 1)]
    return [(at, hash_text(span)) for at, span in spans if span.strip()]


def sentences_left(sentences: list[str], dropped: list[bool]) -> str:
    """The sentences that stay, end to end: they are the whole text, but for one blank that ends it behind a word."""
    *others, last = sentences
    if last.endswith(" ") and len(last) > 1 and not last[-2].isspace():
        last = last[:-1]
    kept = [text for text, gone in zip([*others, last], dropped, strict=True) if not gone]
    return "".join(kept).lstrip()


def lines_left(text: str, dropped: list[bool]) -> str:
    """The lines that stay, joined anew."""
    return "\n".join(line for line, gone in zip(text.splitlines(), dropped, strict=True) if not gone).lstrip()
