from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from word_texts import texts

from gristmill.document import buffers
from gristmill.kernels.words import split_words
from reference.words import split_into_words


def words_of(values: list[str]) -> list[list[str]]:
    offsets, data = buffers(pa.array(values, pa.large_string()))
    first, start, stop, _ = split_words(offsets, data)
    words = [data[a:b].tobytes().decode() for a, b in zip(start, stop, strict=True)]
    return [words[a:b] for a, b in pairwise(first)]


@pytest.mark.parametrize(
    ("text", "words"),  # as spaCy 3.8.18 has them
    [
        ("", ""),
        (" ", ""),
        ("a", "a"),
        ("Hello, world!", "Hello , world !"),
        ("I don't, you’ll, cannot; he'd've", "I do n't , you ’ll , can not ; he 'd 've"),
        ("its hell, Ill. I'ma", "its hell , Ill. I 'm a"),
        ("(We're at 10a.m.)", "( We 're at 10 a.m. )"),
        ("e.g. U.S.A. Mr. X. Ph.D.s", "e.g. U.S.A. Mr. X. Ph . D.s"),
        ("a well-known, 5-year, semi--finished -thing", "a well - known , 5 - year , semi -- finished -thing"),
        ("$5 5$ US$7.50 7US$ +5 5+ 5km 5 km/h 20%", "$ 5 5 $ US$ 7.50 7 US$ +5 5 + 5 km 5 km / h 20 %"),
        ("10km² 20°C. x°F.", "10 km² 20 ° C . x ° F ."),
        ("wait... what…… so....ok", "wait ... what …… so .... ok"),
        (":-) x ): :)))) (╯°□°）╯︵┻━┻", ":-) x ): :))) ) (╯°□°）╯︵┻━┻"),
        ("end.Start a.b A.B 1.B", "end . Start a.b A.B 1.B"),
        ("http://user:pw@a-b.co.uk:80/x?(y) me@b.org", "http://user:pw@a-b.co.uk:80/x?(y ) me@b.org"),
        ("x.y/z=w a/b 8.8.8.8/a 10.0.0.1/a", "x.y / z = w a / b 8.8.8.8/a 10.0.0.1 / a"),
        ("a,b 1,000 x=y <b> [z] {q}", "a , b 1,000 x = y < b > [ z ] { q }"),
        ("日本語。テスト、「はい」", "日本語。テスト、「はい 」"),
        ("Привет,мир. А.Б", "Привет , мир . А.Б"),
        ("naïve—café 5–6 a–b", "naïve — café 5–6 a – b"),
        ("a\u00a0b\u3000c\u2028d\x1ce\x85f\0g", "a b c d e f\0g"),
        ("👍🏽 👨\u200d👩 x\u200dy", "👍 🏽 👨 \u200d 👩 x\u200dy"),
        ("and/or w/o o'clock y'all ol' ’cause", "and/or w/o o'clock y' all ol' ’cause"),
        ("_x_ snake_case *b* #tag @me", "_ x _ snake_case * b * # tag @me"),
    ],
)
def test_splits_as_the_judge(text: str, words: str) -> None:
    assert words_of([text]) == [words.split()]
    assert split_into_words(text) == words.split()


@pytest.mark.parametrize(
    ("text", "words"),
    [(":)-", ":) -"), ("( :)8", "( : ) 8"), ("(\n:)8", "( :) 8"), ("(  :)8", "( :) 8"), ("' ''-", "' ' ' -")],
)
def test_a_find_over_a_blank_bars_what_overlaps_it(text: str, words: str) -> None:
    assert words_of([text]) == [words.split()]
    assert split_into_words(text) == words.split()


@given(st.lists(texts, max_size=4))
def test_equals_its_twin(values: list[str]) -> None:
    assert words_of(values) == [split_into_words(value) for value in values]


@given(texts)
def test_words_are_the_text_without_white_space(value: str) -> None:
    words = words_of([value])[0]
    assert "".join(words) == "".join(value.split())
    assert all(words)


@given(st.lists(texts, min_size=1, max_size=6), st.data())
def test_a_slice_of_a_batch_gives_the_same_words(values: list[str], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(values)))
    stop = data.draw(st.integers(start, len(values)))
    offsets, content = buffers(pa.array(values, pa.large_string()).slice(start, stop - start))
    words = split_words(offsets, content)
    assert words.first[0] == 0
    assert np.diff(words.first).tolist() == [len(split_into_words(value)) for value in values[start:stop]]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("x" * 1_000_000, 1),
        ("\n" * 1_000_000, 0),
        ("(" * 1_000_000, 1_000_000),
        ("." * 1_000_000, 1),
        ("a-" * 500_000 + "a", 1_000_001),
        (": " * 500_000, 500_000),
        ("a@" * 500_000, 1),
        ("界" * 400_000, 1),
    ],
    ids=["one word", "newlines", "prefixes", "full stops", "infixes", "a row of tokens", "at signs", "no blank"],
)
def test_long_documents_take_linear_time(text: str, count: int) -> None:
    assert len(words_of([text])[0]) == count
