"""fastText's own `predict`, and the slow twin, as judges of the kernel."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import zstandard
from hypothesis import example, given, settings
from hypothesis import strategies as st
from prose_texts import LONG
from prose_texts import texts as prose
from word_texts import texts as odd_words

from gristmill.document import buffers
from gristmill.filters.fasttext_file import address_of
from gristmill.filters.fasttext_predictor import Predictor
from gristmill.formats import fasttext_model
from gristmill.kernels import fasttext_tables
from reference.fasttext import Twin
from reference.fasttext_training import MODELS, SYLLABLES

fasttext = pytest.importorskip("fasttext", reason="fastText, the judge, is not installed; Gristmill runs without it")
PACKAGED = "lid.176.ftz"
ODDITIES = [
    *("", " ", "\0", "</s>", "a </s> b", "</s>x", "</S>", "__label__l1_x", "__label__new", "__label__", "__label_"),
    *(
        "<",
        ">",
        "<>",
        "a\tb\vc\fd\re",
        "a\x1cb",
        "a\u00a0b",
        "é",
        "日本語",
        "😀😀",
        "a" * 47,
        "a" * 48,
        "a" * 49,
        "é" * 24,
    ),
    *("a" * 62, "a" * 63, "a" * 64, "a" * 65, "ab" * 2000, "日本" * 900, "😀" * 1200, "xé" * 800, "é" + "x" * 1300),
]
made_up = st.lists(st.lists(st.sampled_from(SYLLABLES), min_size=1, max_size=5).map("".join), max_size=30).map(" ".join)
any_text = st.one_of(made_up, st.sampled_from(ODDITIES), odd_words, prose)
batches = st.lists(any_text, max_size=5)


@pytest.fixture(scope="session")
def model(trained: Callable[[str], Path]) -> Callable[[str], tuple[Any, Any, Any]]:
    """Name → fastText's model, ours, and the twin."""

    @cache
    def load(name: str) -> tuple[Any, Any, Any]:
        path = address_of(PACKAGED) if name == PACKAGED else str(trained(name))
        read = fasttext_model.read(path)
        return fasttext.load_model(path), Predictor(read), Twin(read)

    return load


def ours(predictor: Predictor, texts: list[str], asked: tuple[str, ...] = ()) -> list[tuple[str | None, float, Any]]:
    offsets, data = buffers(pa.array(texts, pa.large_string()))
    found = predictor.predict(offsets, data, asked)
    labels = predictor.named(found.label).to_pylist()
    return list(zip(labels, found.score.tolist(), found.scores.tolist(), strict=True))


def theirs(judge: Any, text: str, k: int = 1) -> dict[str, float]:
    labels, scores = judge.predict(text.replace("\n", " "), k=k)
    names = [label.removeprefix("__label__") for label in labels]
    return dict(zip(names, scores.tolist(), strict=True))


def closeness(text: str) -> float:
    """Of a long text fastText adds up equal rows by the thousand, one by one in float32, and drifts."""
    return 1e-5 if len(text) < 2000 else 2e-3


def assert_agrees(judge: Any, predictor: Predictor, texts: list[str], close: float | None = None) -> None:
    for text, (label, score, _) in zip(texts, ours(predictor, texts), strict=True):
        expected = theirs(judge, text)
        assert label == next(iter(expected), None), text
        assert math.isnan(score) if label is None else abs(score - expected[label]) < (close or closeness(text)), text


@pytest.mark.parametrize("name", [*MODELS, PACKAGED])
@settings(max_examples=25)
@given(texts=batches)
@example(texts=ODDITIES)
def test_label_and_score_are_fasttexts(model: Any, name: str, texts: list[str]) -> None:
    judge, predictor, _ = model(name)
    assert_agrees(judge, predictor, texts)


@pytest.mark.parametrize("name", [*MODELS, PACKAGED])
@settings(max_examples=15)
@given(text=any_text)
@example(text="baba </s> koko")
@example(text="__label__l1_x ba __label__new")
def test_scores_of_all_labels(model: Any, name: str, text: str) -> None:
    judge, predictor, _ = model(name)
    expected = theirs(judge, text, k=-1)
    (_, _, scores), *_ = ours(predictor, [text], predictor.labels)
    for label, score in zip(predictor.labels, scores, strict=True):
        assert math.isnan(score) if label not in expected else abs(score - expected[label]) < closeness(text), label


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=15)
@given(text=any_text)
@example(text="baba </s> koko")
@example(text="é 日本 < > ba")
def test_the_twin_says_the_same(model: Any, name: str, text: str) -> None:
    _, predictor, twin = model(name)
    in_steps = MODELS[name][0]["loss"] in ("ova", "ns")  # sigmoids are looked up, and the twin is more precise
    close = 0.02 if in_steps else 1e-4 + closeness(text)
    (label, score, scores), *_ = ours(predictor, [text], predictor.labels)
    expected = twin.scores(text)
    assert (label is None) == (not expected)
    if label is not None:
        assert abs(score - max(expected.values())) < close
        for other, found in zip(predictor.labels, scores, strict=True):
            assert abs(np.nan_to_num(found) - expected.get(other, 0.0)) < close


@settings(max_examples=30)
@given(texts=batches, seed=st.integers(0, 9))
def test_the_same_bits_in_any_batch_and_after_anything(model: Any, texts: list[str], seed: int) -> None:
    predictor: Predictor = model(PACKAGED)[1]
    predictor._idle_tables.clear()
    cold = [ours(predictor, [text])[0][:2] for text in texts]
    ours(predictor, [f"{word} {seed}" for word in ODDITIES])
    warm = [found[:2] for found in ours(predictor, texts)]
    assert repr(warm) == repr(cold)


def test_a_table_that_is_far_too_small(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words push each other out of four places, and nothing changes but the time."""
    texts = [" ".join(f"word{number % 23} {number}" for number in range(start, start + 90)) for start in range(20)]
    judge, predictor, _ = model(PACKAGED)
    at_ease = ours(predictor, texts)
    monkeypatch.setattr(fasttext_tables, "_MOST_ENTRIES", 4)
    narrow = Predictor(fasttext_model.read(address_of(PACKAGED)))
    assert ours(narrow, texts) == at_ease
    assert_agrees(judge, narrow, texts)


def test_quantised_vectors_that_stay_packed(
    model: Any, trained: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gristmill.filters.fasttext_predictor._UNPACKED_BYTES", 0)
    for name in MODELS:
        if "packed" in name:
            judge = model(name)[0]
            assert_agrees(judge, Predictor(fasttext_model.read(str(trained(name)))), [*ODDITIES, " ".join(SYLLABLES)])


@pytest.mark.parametrize("name", LONG)
def test_long_documents(model: Any, name: str) -> None:
    judge, predictor, _ = model(PACKAGED)
    assert_agrees(judge, predictor, [LONG[name], "and a short one"], close=1e-3)


def test_no_texts(model: Any) -> None:
    assert ours(model(PACKAGED)[1], []) == []


def test_a_slice_of_a_batch_gives_the_same(model: Any) -> None:
    predictor: Predictor = model(PACKAGED)[1]
    column = pa.array(["one of them", "eine andere", "và một nữa"], pa.large_string())
    offsets, data = buffers(column.slice(1))
    assert predictor.predict(offsets, data).score.tolist() == [
        score for _, score, _ in ours(predictor, column.to_pylist()[1:])
    ]


def test_samples_of_real_text(model: Any, corpora: Path) -> None:
    judge, predictor, _ = model(PACKAGED)
    files = sorted(corpora.glob("*.jsonl.zst"))
    assert files
    for file in files:
        with zstandard.open(file, "rt", encoding="utf-8") as lines:
            texts = [json.loads(line)["text"][:20_000] for line in islice(lines, 60)]
        assert_agrees(judge, predictor, texts, close=1e-4)
