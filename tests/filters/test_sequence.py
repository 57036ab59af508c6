from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest

from gristmill.document import large_strings
from gristmill.filters.c4_quality import C4Quality
from gristmill.filters.filter import RewritingFilter, Rule, Signals
from gristmill.filters.gopher_quality import GopherQuality
from gristmill.filters.gopher_repetition import GopherRepetition
from gristmill.filters.length import Length
from gristmill.filters.sequence import LEFT_NOTHING, FilterSequence, verdicts_of
from gristmill.filters.spam import Spam
from gristmill.filters.view import TextView


@dataclass(frozen=True)
class Shorten(RewritingFilter):
    """Cuts texts; drops those that begin with `!`."""

    NAME: ClassVar[str] = "shorten"
    to_characters: int

    def measure(self, view: TextView) -> Signals:
        return {"shorten.calm": np.array([not text.startswith("!") for text in view.texts.to_pylist()], np.int8)}

    def rules(self) -> list[Rule]:
        return [Rule("shorten.calm", 1, None, "loud")]

    def rewritten(self, view: TextView) -> Any:
        return large_strings([text[: self.to_characters] for text in view.texts.to_pylist()])


def judged(filters: list[Any], texts: list[str], **columns: list[str]) -> tuple[list[str | None], list[str]]:
    sequence = FilterSequence(filters)
    signals, left = sequence.measure(TextView(large_strings(texts)), lambda name: large_strings(columns[name]))
    broken = sequence.broken_rules(signals)
    assert [name for name, _ in broken] == sequence.rule_names()
    assert set(sequence.signal_names()) == signals.keys()
    return verdicts_of(pa.nulls(len(texts), pa.string()), broken).to_pylist(), left.texts.to_pylist()


def test_the_first_broken_rule_of_the_first_filter_is_the_verdict() -> None:
    filters = [Length(min_characters=3), Length(max_words=2), Length(min_words=2)]
    found, _ = judged(filters, ["ab", "a b c", "abc", "a bc"])
    assert found == ["length.min_characters", "length_2.max_words", "length_3.min_words", None]


def test_filters_after_one_that_rewrites_see_what_it_wrote() -> None:
    filters = [Length(min_characters=5), Shorten(4), Length(max_characters=4)]
    assert judged(filters, ["12345", "!2345", "1234"]) == (
        [None, "shorten.loud", "length.min_characters"],
        ["1234", "!234", "1234"],
    )


def test_a_text_that_is_emptied_is_dropped() -> None:
    assert judged([Shorten(0)], ["abc", "!"]) == ([LEFT_NOTHING, "shorten.loud"], ["", ""])


def test_rewrite_leaves_dropped_texts_as_they_were() -> None:
    assert Shorten(2).rewrite(["abc", "!bc"]).to_pylist() == ["ab", "!bc"]


def test_what_is_said_already_stays() -> None:
    sequence = FilterSequence([Length(min_characters=3)])
    signals, _ = sequence.measure(TextView(large_strings(["a", "b"])), pytest.fail)
    base = pa.array(["unreadable.json", None], pa.string())
    found = verdicts_of(base, sequence.broken_rules(signals))
    assert found.to_pylist() == ["unreadable.json", "length.min_characters"]


@pytest.mark.parametrize("part_bytes", [1, 40, 1 << 30])
def test_parts_change_nothing(monkeypatch: pytest.MonkeyPatch, part_bytes: int) -> None:
    texts = ["", "The cat, as ever, sat.\n" * 9, "\n", "a b a b a b", "Đăng ký ngay hôm nay!", "", "x" * 90, "é"]
    around = large_strings(["before", *texts, "after"]).slice(1, len(texts))
    filters = [GopherRepetition(), C4Quality(), GopherQuality(), Spam(), Length(max_words=3)]

    def measured() -> tuple[dict[str, list[Any]], list[str]]:
        signals, left = FilterSequence(filters).measure(TextView(around), pytest.fail)
        return {name: pa.array(column).to_pylist() for name, column in signals.items()}, left.texts.to_pylist()

    whole = measured()
    assert len(whole[1]) == len(texts)
    monkeypatch.setattr("gristmill.filters.sequence.PART_BYTES", part_bytes)
    assert repr(measured()) == repr(whole)


def test_each_part_has_its_own_rows_of_other_columns() -> None:
    texts, ids = ["aa", "bb", "cc", "dd", "ee"], ["1", "22", "333", "4444", "55555"]
    for part in TextView(large_strings(texts), lambda name: large_strings(ids)).parts(4):
        at = texts.index(part.texts[0].as_py())
        assert part.column("id").to_pylist() == ids[at : at + len(part)]
        assert part.data[part.offsets[0] : part.offsets[-1]].tobytes().decode() == "".join(texts[at : at + len(part)])
    assert [len(part) for part in TextView(large_strings(texts)).parts(4)] == [2, 2, 1]
    assert [len(part) for part in TextView(large_strings([])).parts(4)] == [0]
