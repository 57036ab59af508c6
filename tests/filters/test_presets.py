from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import gristmill as gm
from gristmill import units
from gristmill.filters import presets

FILTERS = ("gopher_repetition", "gopher_quality", "fineweb_quality")


@pytest.mark.parametrize("language", presets.languages())
@pytest.mark.parametrize("name", FILTERS)
def test_every_embedded_language_makes_every_filter(language: str, name: str) -> None:
    unit = units.choose("filter", {name: {"preset": language}}).make("filter")
    assert unit.words == language


@pytest.mark.parametrize("language", presets.languages())
def test_embedded_values_are_of_the_published_shape(language: str) -> None:
    values = presets.languages()[language]
    assert [n for n, _ in values["top_n_grams"]] == [2, 3, 4]
    assert [n for n, _ in values["dup_n_grams"]] == [5, 6, 7, 8, 9, 10]
    shares = [share for key in ("top_n_grams", "dup_n_grams") for _, share in values[key]]
    assert all(0 < share < 0.5 for share in shares)
    assert shares[:3] == sorted(shares[:3], reverse=True)
    assert shares[3:] == sorted(shares[3:], reverse=True)
    assert all(isinstance(word, str) and word for word in values["stopwords"])
    assert len(set(values["stopwords"])) == len(values["stopwords"]) >= 8


def test_a_preset_becomes_plain_parameters() -> None:
    choice = units.choose("filter", {"gopher_quality": {"preset": "vie_Latn", "min_words": 20, "words": "whitespace"}})
    assert dict(choice.parameters) == {
        "min_average_word_length": 3,
        "max_average_word_length": 11,
        "min_alphabetic_words_ratio": 0.803,
        "stop_words": ["là", "và", "của", "một", "được", "trong", "năm", "các", "có", "loài", "này", "đã", "người"],
        "min_stop_words": 2,
        "words": "whitespace",
        "min_words": 20,
    }
    assert units.choose("filter", choice) == choice
    by_hand = units.choose("filter", {"gopher_quality": dict(choice.parameters)})
    assert by_hand.literals("filter") == choice.literals("filter")


def test_parameters_beside_a_preset_win_under_datatroves_names_too() -> None:
    choice = units.choose("filter", {"gopher_repetition": {"preset": "fra_Latn", "dup_line_frac": 0.5}})
    unit = choice.make("filter")
    assert (unit.max_duplicate_lines, unit.max_duplicate_paragraphs, unit.max_top_ngrams[0]) == (0.5, None, (2, 0.161))


def test_what_fineweb_2_set_for_all_languages() -> None:
    assert gm.filters.preset("fineweb_quality", "deu_Latn") == {
        "min_line_punctuation_ratio": 0.0,
        "max_newline_word_ratio": 0.152,
        "max_short_line_ratio": None,
        "max_duplicate_line_characters": 0.1,
        "words": "deu_Latn",
    }
    assert gm.filters.preset("language", "rus_Cyrl") == {"threshold": 0.9, "keep": ["rus_Cyrl"]}


def test_a_preset_changes_verdicts() -> None:
    text = "Chúng tôi là người Việt và đã sống ở đây trong một năm. " * 6
    vietnamese = gm.filters.preset("gopher_quality", "vie_Latn") | {"words": "whitespace"}
    assert gm.filters.GopherQuality(words="whitespace").verdicts([text]).to_pylist() == [
        "gopher_quality.gopher_enough_stop_words"
    ]
    assert gm.filters.GopherQuality(**vietnamese).verdicts([text]).to_pylist() == [None]


def test_a_file_of_fineweb_2s_format(tmp_path: Path) -> None:
    file = tmp_path / "vie_Latn.yml"
    file.write_text(yaml.safe_dump(presets.languages()["vie_Latn"]), encoding="utf-8")
    for name in (*FILTERS, "language"):
        assert gm.filters.preset_of_file(name, str(file)) == gm.filters.preset(name, "vie_Latn")
    choice = units.choose("filter", {"gopher_quality": {"parameters_file": str(file)}})
    assert choice == units.choose("filter", {"gopher_quality": {"preset": "vie_Latn"}})


@pytest.mark.parametrize(
    ("item", "sentence"),
    [
        ({"gopher_quality": {"preset": "vie_Lat"}}, "unknown language `vie_Lat`. Did you mean `vie_Latn`"),
        ({"gopher_quality": {"preset": None}}, "Known: arb_Arab, cmn_Hani"),
        ({"length": {"preset": "vie_Latn"}}, "Known: fineweb_quality, gopher_quality, gopher_repetition, language"),
        (
            {"gopher_quality": {"preset": "vie_Latn", "parameters_file": "x"}},
            "expected either preset or parameters_file",
        ),
        ({"gopher_quality": {"parameters_file": "nowhere/vie_Latn.yml"}}, "found none: nowhere/vie_Latn.yml"),
        ({"gopher_quality": {"parameters_file": "x.yml"}}, "named after its language"),
    ],
)
def test_mistakes_are_sentences(item: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=r"^filter `") as raised:
        units.choose("filter", item)
    assert sentence in str(raised.value)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("dup_line_fraction: 0.3", "Did you mean `dup_line_frac`"),
        ("dup_line_frac: 0.3", "found no top_n_grams, dup_n_grams"),
        ("- 1", "expected keys and values"),
        ("{", "expected YAML"),
    ],
)
def test_files_of_another_format_are_refused(tmp_path: Path, content: str, sentence: str) -> None:
    file = tmp_path / "fra_Latn.yml"
    file.write_text(content)
    with pytest.raises(ValueError, match=sentence):
        gm.filters.preset_of_file("gopher_repetition", str(file))
