from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from c4_texts import texts
from hypothesis import example, given, settings
from hypothesis import strategies as st
from prose_texts import LONG, column, in_a_slice

from gristmill.document import Bytes, Offsets, strings
from gristmill.kernels.c4_lines import NO_LIMIT, Rules, join_lines, keep_lines
from gristmill.kernels.split_lines import split_lines
from reference import c4_lines as reference

flags = st.booleans()
rules = st.builds(Rules, st.sampled_from([0, 2, 10, 63, 64, 1000, NO_LIMIT]), st.integers(0, 4), *[flags] * 4)
DEFAULTS = Rules(1000, 3, True, True, True, True)


def found(offsets: Offsets, data: Bytes, by: Rules) -> list[reference.Found]:
    kept = keep_lines(split_lines(offsets, data), data, by)
    of_lines = strings(kept.offsets, kept.data).to_pylist()
    counts = zip(kept.lorem_ipsum.tolist(), kept.curly.tolist(), kept.curly_first.tolist(), strict=True)
    return [
        reference.Found(of_lines[a:b], *numbers) for (a, b), numbers in zip(pairwise(kept.first), counts, strict=True)
    ]


def joined(offsets: Offsets, data: Bytes, by: Rules, separator: str) -> Any:
    lines = keep_lines(split_lines(offsets, data), data, by)
    documents, content, shifts = join_lines(lines, separator)
    for start, stop, shift in zip(lines.offsets[:-1], lines.offsets[1:], shifts, strict=True):
        line = lines.data[start:stop].tobytes().decode().strip().encode()
        moved = int(start) + lines.data[start:stop].tobytes().find(line) + int(shift)
        assert not line or content[moved : moved + len(line)].tobytes() == line
    return strings(documents, content).to_pylist()


@settings(max_examples=500)
@given(st.lists(texts, max_size=4), rules | st.just(DEFAULTS))
@example(["", "\n", "a b c.", "a b c[1]", "a b c.[1]", "a b c..[1].", "[1]. a b", "a b c. [2]"], DEFAULTS)
@example(["x lorem ipsum {.\n{ a b.", "{ a b.\nlorem ipsum.", "javascript { a."], DEFAULTS)
def test_equals_its_twin(values: list[str], by: Rules) -> None:
    expected = [reference.keep_lines(value.splitlines(), *by) for value in values]
    assert found(*column(values), by) == expected
    for separator in "\n ":
        assert joined(*column(values), by, separator) == [reference.join_lines(one.kept, separator) for one in expected]


@given(st.lists(texts, min_size=1, max_size=4), rules)
def test_a_slice_of_a_batch_gives_the_same(values: list[str], by: Rules) -> None:
    assert found(*in_a_slice(values), by) == found(*column(values), by)


@pytest.mark.parametrize("phrase", ["lorem ipsum", "javascript", "cookie policy", "use of cookies"])
@pytest.mark.parametrize("at", [*range(56, 66), 127, 128])
def test_phrases_across_vectors(phrase: str, at: int) -> None:
    line = "x " * (at // 2) + "y" * (at % 2) + phrase.upper() + " z."
    expected = reference.keep_lines([line], *DEFAULTS)
    assert found(*column([line]), DEFAULTS) == [expected]
    assert expected.lorem_ipsum or not expected.kept


@pytest.mark.parametrize("length", [62, 63, 64, 65, 127, 128])
@pytest.mark.parametrize("letter", ["x", "é", "界"])
@pytest.mark.parametrize("blank", [" ", "\u3000", "\t"])
def test_words_of_just_that_length(length: int, letter: str, blank: str) -> None:
    line = blank.join(["aa", letter * length, "bb", letter * (length - 1), "cc."])
    for limit in (length - 1, length):
        by = DEFAULTS._replace(max_word_characters=limit)
        assert len(found(*column([line]), by)[0].kept) == (limit == length)


@pytest.mark.parametrize("name", LONG)
def test_long_documents_take_linear_time(name: str) -> None:
    value = LONG[name] + "."
    for by in (DEFAULTS, Rules(NO_LIMIT, 0, True, False, True, True)):
        assert found(*column([value]), by) == [reference.keep_lines(value.splitlines(), *by)]


def test_brackets_without_end_take_linear_time() -> None:
    value = "[" * 1_000_000 + " a b."
    assert found(*column([value]), DEFAULTS._replace(max_word_characters=NO_LIMIT))[0].kept == [value]
