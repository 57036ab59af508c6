"""fastText's files: whole ones, and all the ways in which they are not."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gristmill.errors import FormatError
from gristmill.filters.fasttext_file import address_of
from gristmill.formats import fasttext_model
from gristmill.formats.fasttext_model import DenseRows, QuantisedRows
from reference.fasttext import row
from reference.fasttext_training import MODELS

VERSION, LOSS, KIND, WORDS, PRUNED = 4, 32, 36, 68, 84  # where these numbers lie in a file


@pytest.mark.parametrize("name", MODELS)
def test_reads_what_fasttext_wrote(name: str, trained: Callable[[str], Path]) -> None:
    path = trained(name)
    judge = pytest.importorskip("fasttext").load_model(str(path))
    model = fasttext_model.read(str(path))
    arguments = judge.f.getArgs()
    assert [f"__label__{label}" for label in model.labels] == judge.labels
    assert model.label_counts.tolist() == judge.get_labels(include_freq=True)[1].tolist()
    spans = zip(model.entry_start.tolist(), model.entry_stop.tolist(), strict=True)
    assert [model.data[start:stop].tobytes().decode() for start, stop in spans][: model.words] == judge.words
    found = (model.loss, model.width, model.word_ngrams, model.shortest_ngram, model.longest_ngram, model.buckets)
    expected = (arguments.loss.name, arguments.dim, arguments.wordNgrams, arguments.minn, arguments.maxn)
    assert found == (*expected, arguments.bucket)
    for number in range(0, model.words, 7):
        assert np.allclose(row(model, model.input, number), judge.get_input_vector(number), rtol=0, atol=1e-6)


def test_the_kinds_of_matrix(trained: Callable[[str], Path]) -> None:
    kinds = {
        name: (type(model.input), type(model.output), model.kept_buckets is not None)
        for name in ("tree", "packed tree", "packed, nothing pruned", "packed output")
        for model in [fasttext_model.read(str(trained(name)))]
    }
    assert kinds == {
        "tree": (DenseRows, DenseRows, False),
        "packed tree": (QuantisedRows, DenseRows, True),
        "packed, nothing pruned": (QuantisedRows, DenseRows, False),
        "packed output": (QuantisedRows, QuantisedRows, True),
    }


def test_the_packaged_model() -> None:
    model = fasttext_model.read(address_of("lid.176.ftz"))
    assert (len(model.labels), model.words, model.loss, model.width) == (176, 7235, "hs", 16)


@pytest.mark.parametrize("name", ["tree", "packed tree", "packed output"])
def test_a_file_cut_anywhere(name: str, trained: Callable[[str], Path], tmp_path: Path) -> None:
    whole = trained(name).read_bytes()
    cuts = {*range(120), *range(120, len(whole), len(whole) // 60), *range(len(whole) - 40, len(whole))}
    file = tmp_path / "cut"
    for cut in sorted(cuts):
        file.write_bytes(whole[:cut])
        with pytest.raises(FormatError, match="cut"):
            fasttext_model.read(str(file))


def test_a_file_that_goes_on(trained: Callable[[str], Path], tmp_path: Path) -> None:
    file = tmp_path / "longer"
    file.write_bytes(trained("tree").read_bytes() + b"\0")
    with pytest.raises(FormatError, match="bytes, found"):
        fasttext_model.read(str(file))


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (0, 1, "another kind of file"),
        (VERSION, 13, "version 13"),
        (LOSS, 9, "losses"),
        (KIND, 1, "word vectors"),
        (WORDS, 3, "a dictionary"),
        (WORDS, 2**31 - 1, "a dictionary"),
        (PRUNED, 5, "n-grams"),
    ],
)
def test_numbers_that_cannot_be(
    place: int, value: int, message: str, trained: Callable[[str], Path], tmp_path: Path
) -> None:
    raw = bytearray(trained("tree").read_bytes())
    struct.pack_into("<i" if place != PRUNED else "<q", raw, place, value)
    file = tmp_path / "changed"
    file.write_bytes(raw)
    with pytest.raises(FormatError, match=message):
        fasttext_model.read(str(file))


@pytest.mark.parametrize("name", ["tree", "packed tree", "packed output", "words"])
def test_any_damage_is_a_format_error_or_none(name: str, trained: Callable[[str], Path], tmp_path: Path) -> None:
    """A changed weight cannot be noticed; a changed count must not end in anything but a FormatError."""
    whole = trained(name).read_bytes()
    file = tmp_path / "damaged"
    places = [*range(150), *range(len(whole) // 2, len(whole), len(whole) // 40)]
    for place in places:
        raw = bytearray(whole)
        raw[place] ^= 0xFF
        file.write_bytes(raw)
        try:
            fasttext_model.read(str(file))
        except FormatError as error:
            assert "damaged" in str(error)  # the file's name


@pytest.mark.parametrize("content", [b"", b"a", b'{"text": "no model"}\n' * 20, bytes(4096)])
def test_foreign_files(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "foreign"
    file.write_bytes(content)
    with pytest.raises(FormatError, match="foreign"):
        fasttext_model.read(str(file))


def test_no_file() -> None:
    with pytest.raises(FormatError, match="nowhere"):
        fasttext_model.read("nowhere.bin")
