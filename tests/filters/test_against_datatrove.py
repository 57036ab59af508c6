"""Our filters against datatrove's own: same verdict, same reason, and what is kept is the same text."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import zstandard
from c4_texts import texts as c4_texts
from hypothesis import given, settings
from hypothesis import strategies as st
from prose_texts import LONG
from prose_texts import texts as prose

import gristmill as gm
from gristmill.filters.datatrove_judge import judge_of
from gristmill.filters.filter import Filter, RewritingFilter

pytest.importorskip("datatrove", reason="datatrove, the judge, is not installed; Gristmill runs without it")

UNITS: dict[str, Filter] = {
    "gopher_repetition": gm.filters.GopherRepetition(),
    "gopher_repetition, loose": gm.filters.GopherRepetition(
        max_duplicate_line_characters=None, max_top_ngrams=((2, 0.25), (3, 0.25), (4, 0.25))
    ),
    "gopher_quality": gm.filters.GopherQuality(),
    "gopher_quality, few words": gm.filters.GopherQuality(min_words=1, min_stop_words=None),
    "fineweb_quality": gm.filters.FineWebQuality(),
    "fineweb_quality, own marks": gm.filters.FineWebQuality(
        keep_without_punctuation=True, line_endings=[".", "!"], short_line_length=3, max_duplicate_line_characters=0.5
    ),
    "c4_quality": gm.filters.C4Quality(),
    "c4_quality, few sentences": gm.filters.C4Quality(min_sentences=2, min_words_per_line=1, max_word_length=20),
    "c4_quality, all lines": gm.filters.C4Quality(
        min_sentences=1, min_words_per_line=None, max_word_length=None, require_terminal_mark=False
    ),
    "c4_quality, by sentences": gm.filters.C4Quality(split_lines=False, min_sentences=None),
    "c4_paragraphs": gm.filters.C4Paragraphs(min_paragraph_length=200),
}
JUDGES = {name: judge_of(unit) for name, unit in UNITS.items()}
NASTY = [
    *("", "a", " ", "\n", "\0", ".", "…", "é", "e\u0301", "\u0301", "日本語。", "👨\u200d👩\u200d👧", "🇻🇳", "שלום."),
    *("م؟", "\u2028", "\u2029\u2029", "\r\n\r\n", "a\r\nb\r\n", "\x85", "\x1c\x1d\x1e", "a\0b c.", "\ufeffa b."),
    *("\u202eabc", "ﬁ ﬂ", "İI\u0307ı", "Σς", "\U0010ffff", "\u0378", "x" * 5000, "日" * 3000, ". " * 500),
    *("- " * 300, "•\n" * 99),
    "The one line.\r\nThe two line.\u2028The three line.\x85The four line. The five line!",
]
SAMPLE = 6  # documents of a corpus


def check(name: str, values: list[str]) -> None:
    unit, judge = UNITS[name], JUDGES[name]
    assert judge is not None
    theirs = [judge.verdict(value, {}) for value in values]
    verdicts = unit.verdicts(values).to_pylist()
    assert verdicts == [verdict for verdict, _ in theirs]
    if isinstance(unit, RewritingFilter):
        ours = zip(verdicts, unit.rewrite(values).to_pylist(), strict=True)
        assert [text for verdict, text in ours if verdict is None] == [text for verdict, text in theirs if not verdict]


@pytest.mark.parametrize("name", UNITS)
def test_nasty_texts(name: str) -> None:
    check(name, NASTY)
    check(name, [one + " " + other for one in NASTY[:24] for other in NASTY[:24]])


@pytest.mark.parametrize("name", UNITS)
@settings(max_examples=60)
@given(values=st.lists(prose | c4_texts | st.just("the and of. "), max_size=3))
def test_any_texts(name: str, values: list[str]) -> None:
    check(name, [*values, "\n".join(values)])


WHOLE = ("one word", "newlines")  # the others, in full, take datatrove minutes
SHORTENED = 3_000


@pytest.mark.parametrize("name", [name for name in UNITS if "," not in name])
def test_long_texts(name: str) -> None:
    check(name, [text if which in WHOLE else text[:SHORTENED] for which, text in LONG.items()])


def texts_of(file: Path) -> Iterator[str]:
    if file.suffix == ".parquet":
        yield from next(pq.ParquetFile(file).iter_batches(SAMPLE, columns=["text"]))["text"].to_pylist()
        return
    with (gzip if file.suffix == ".gz" else zstandard).open(file, "rt", encoding="utf-8") as lines:
        for _, line in zip(range(SAMPLE), lines, strict=False):
            yield json.loads(line)["text"]


@pytest.mark.parametrize("name", UNITS)
def test_corpora(name: str, corpora: Path) -> None:
    files = [file for file in sorted(corpora.iterdir()) if file.name.endswith((".parquet", ".jsonl.zst", ".jsonl.gz"))]
    check(name, [text[:20_000] for file in files for text in texts_of(file)])
