"""datatrove's filters and ours in one pipeline's place: same documents, same stats, same exclusions."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from block_twins import check_twins, our_blocks, their_blocks

from reference.fasttext_training import SYLLABLES

pytest.importorskip("spacy")

# Class and arguments; what is 0 is off in datatrove.
FILTERS: list[tuple[str, dict[str, Any]]] = [
    ("GopherRepetitionFilter", {}),
    ("GopherRepetitionFilter", {"dup_line_frac": 0, "top_n_grams": ((2, 0.3), (3, 0.3)), "dup_n_grams": ((5, 0.4),)}),
    ("GopherQualityFilter", {}),
    ("GopherQualityFilter", {"min_doc_words": 5, "max_non_alpha_words_ratio": None, "stop_words": ["a", "und", "de"]}),
    ("C4QualityFilter", {}),
    ("C4QualityFilter", {"filter_no_terminal_punct": False, "min_num_sentences": 2, "max_word_length": 40}),
    ("C4QualityFilter", {"split_paragraph": False, "min_num_sentences": -1, "filter_curly_bracket": False}),
    ("C4QualityFilter", {"filter_lorem_ipsum": False, "remove_citations": False, "min_words_per_line": -1}),
    ("C4ParagraphFilter", {}),
    ("FineWebQualityFilter", {}),
    ("FineWebQualityFilter", {"line_punct_exclude_zero": True, "stop_chars": (".", "?"), "new_line_ratio": 0.5}),
    ("RegexFilter", {"regex_exp": r"(?i)lorem|kubernetes"}),
    ("SamplerFilter", {"rate": 0.3, "seed": 4}),
]


@pytest.mark.parametrize(("name", "arguments"), FILTERS, ids=lambda one: one if isinstance(one, str) else "")
def test_each_filter(raw: str, tmp_path: Path, name: str, arguments: dict[str, Any]) -> None:
    def make(blocks: Any, folder: Path) -> list[tuple[int, list[Any]]]:
        gone = blocks.JsonlWriter(str(folder / "gone"))
        block = getattr(blocks, name)(**arguments, exclusion_writer=gone)
        return [(2, [blocks.JsonlReader(raw), block, blocks.JsonlWriter(str(folder / "kept"))])]

    found = check_twins(make, tmp_path)
    assert all(any(file.startswith(kind) for file in found) for kind in ("gone", "kept"))


def test_a_stack_with_datatroves_reader_and_writers(raw: str, tmp_path: Path) -> None:
    """Ours are in the place of the filters only; two workers."""
    theirs = their_blocks()

    def make(blocks: Any, folder: Path) -> list[tuple[int, list[Any]]]:
        steps = [
            getattr(blocks, name)(**arguments, exclusion_writer=theirs.JsonlWriter(str(folder / f"{number}")))
            for number, (name, arguments) in enumerate(FILTERS)
            if number in (1, 3, 5, 10)
        ]
        return [(3, [theirs.JsonlReader(raw), *steps, theirs.JsonlWriter(str(folder / "kept"))])]

    check_twins(make, tmp_path, workers=2)


def test_completed_tasks_are_skipped(raw: str, tmp_path: Path) -> None:
    """That is the executor's work; it still is."""
    from datatrove.executor import LocalPipelineExecutor

    blocks = our_blocks()

    def launch() -> int:
        steps = [blocks.JsonlReader(raw), blocks.GopherQualityFilter(), blocks.JsonlWriter(str(tmp_path / "kept"))]
        stats = LocalPipelineExecutor(steps, tasks=4, workers=1, logging_dir=str(tmp_path / "logs")).run()
        return 0 if stats is None else len(list((tmp_path / "kept").iterdir()))

    assert launch() == 4
    (tmp_path / "logs" / "completions" / "00002").unlink()
    (tmp_path / "kept" / "00001.jsonl.gz").unlink()
    (tmp_path / "kept" / "00002.jsonl.gz").unlink()
    assert launch() == 3  # 2 was run again, 1 was not
    assert launch() == 0


def judged(block: Any, texts: list[str], **metadata: Any) -> list[Any]:
    """What a block lets through."""
    from datatrove.data import Document

    documents = [Document(text=text, id=str(number), metadata=dict(metadata)) for number, text in enumerate(texts)]
    return [(document.id, document.text, document.metadata) for document in block.run(iter(documents))]


def both(name: str, texts: list[str], arguments: dict[str, Any], **metadata: Any) -> None:
    ours, theirs = (getattr(blocks(), name)(**arguments) for blocks in (our_blocks, their_blocks))
    found = judged(ours, texts, **metadata)
    assert found == judged(theirs, texts, **metadata)
    assert ours.stats.to_dict()["stats"] == theirs.stats.to_dict()["stats"]


LONE = "A lone \ud800 surrogate stands in this text, and the rest of it is as good as that of any other text. " * 4


def test_a_text_that_is_no_utf8_is_judged_by_datatrove() -> None:
    """Where it can: spaCy cannot."""
    both("RegexFilter", ["x", "y", LONE], {"regex_exp": "x"})
    both("C4ParagraphFilter", ["x", LONE, "\n".join([LONE] * 3)], {})


def test_arguments_that_no_kernel_knows_are_honoured() -> None:
    """Another language's words, flags beside a pattern, a number that ours refuses."""
    import re

    texts = ["Das Ende der Geschichte ist die Geschichte, und mit ihr ist es zu Ende. " * 9, "the be to of and " * 30]
    both("GopherQualityFilter", texts, {"language": "deu", "stop_words": ["das", "ist"]})
    both("RegexFilter", texts, {"regex_exp": re.compile("GESCHICHTE", re.IGNORECASE)})
    both("FineWebQualityFilter", texts, {"new_line_ratio": -1.0})


def test_bad_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With lists of our own in the place of those that datatrove downloads."""
    from datatrove.pipeline.filters import c4_filters

    def stand_in(address: str, **_: Any) -> str:
        path = tmp_path / address.rsplit("/", 1)[1]
        path.write_text({"en": "darn\nd'oh\n", "ja": "悪い\nsm\n"}[path.name], "utf-8")
        return str(path)

    monkeypatch.setattr(c4_filters, "cached_asset_path_or_download", stand_in)
    texts = ["Well, DARN it.", "darned", "no D'oh!", "悪いこと", "sm", *[f"darn {number}" for number in range(40)]]
    both("C4BadWordsFilter", texts, {})
    both("C4BadWordsFilter", texts, {"keep_fraction": 0.4, "seed": 5})
    both("C4BadWordsFilter", texts, {"default_language": "ja"})
    both("C4BadWordsFilter", texts, {"fail_on_missing_language": False}, language="xx")
    with pytest.raises(ValueError, match="not badwords list available"):
        judged(our_blocks().C4BadWordsFilter(), texts, language="xx")


URLS = ["https://www.example.com/a", "http://example.co.uk/x?sex=1", "https://blocked.example.org/", "http://10.0.0.1/q",
        "https://a.b.c.d.blogspot.com/hard-word/soft/other", "https://fine.net/softother", "https://nested.bad.com/p",
        "https://EXAMPLE.com/UPPER", "https://x.org/exact"]  # fmt: skip


@pytest.mark.parametrize("integrated", [False, True])
def test_urls(integrated: bool) -> None:
    pytest.importorskip("ahocorasick")
    from gristmill.filters.hosts import suffix_list

    arguments = {
        "extra_domains": ["example.com", "blocked.example.org", "# x.org"],
        "extra_urls": ["https://x.org/exact"],
        "banned_words": ["hard"],
        "banned_subwords": ["nestedbad"],
        "soft_banned_words": ["soft", "other"],
        "use_integrated_lists": integrated,
    }
    from datatrove.data import Document

    def passed(blocks: Any) -> tuple[list[str], Any]:
        block = blocks.URLFilter(**arguments)
        block.tldextractor = suffix_list()  # theirs would ask the network for today's
        documents = (Document(text="x", id=url, metadata={"url": url}) for url in URLS)
        return [document.id for document in block.run(documents)], block.stats.to_dict()["stats"]

    assert passed(our_blocks()) == passed(their_blocks())
    with pytest.raises(AssertionError, match="does not have url"):
        judged(our_blocks().URLFilter(**arguments), ["no url"])


Model = Callable[[str], str]


@pytest.fixture
def local_model(trained: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> Model:
    """Name → path of a small model, which datatrove takes for the one that it would download."""
    pytest.importorskip("fasttext")
    from datatrove.pipeline.filters import fasttext_filter
    from datatrove.utils import lid

    def use(name: str) -> str:
        path = str(trained(name))
        for module in (lid, fasttext_filter):
            monkeypatch.setattr(module, "cached_asset_path_or_download", lambda *_, **__: path)
        return path

    return use


def rounded(rows: list[Any]) -> list[Any]:
    """Our scores differ from fastText's in the fifth decimal."""
    return [
        (id_, text, {key: pytest.approx(of, abs=1e-4) if isinstance(of, float) else of for key, of in metadata.items()})
        for id_, text, metadata in rows
    ]


def both_by_model(name: str, arguments: dict[str, Any]) -> list[Any]:
    texts = [" ".join(SYLLABLES[at % 7 : at % 7 + 2 + at % 3] * (1 + at % 4)) + "\n" * (at % 2) for at in range(60)]
    ours, theirs = (getattr(blocks(), name)(**arguments) for blocks in (our_blocks, their_blocks))
    found, expected = judged(ours, texts), judged(theirs, texts)
    assert found == rounded(expected)
    assert ours.stats.to_dict()["stats"] == theirs.stats.to_dict()["stats"]
    return found


@pytest.mark.parametrize(
    "arguments",
    [
        {"language_threshold": 0.3},
        {"languages": ["l0_x", "l2_x"], "language_threshold": 0.2},
        {"languages": "l1_x", "language_threshold": 0.1, "keep_top_pairs_threshold": 0.05},
        {"label_only": True, "keep_top_pairs_threshold": 0.01},
        {"label_only": True, "backend": "glotlid"},
        {"languages": ["l1_x", "unknown"], "language_threshold": 0.1},
        {"languages": ["l1_x"], "language_threshold": -0.5},
    ],
)
def test_languages(local_model: Model, arguments: dict[str, Any]) -> None:
    local_model("tree")
    found = both_by_model("LanguageFilter", arguments)
    assert found and all("language_score" in metadata for *_, metadata in found)


@pytest.mark.parametrize(
    "arguments",
    [
        {"keep_labels": ("l1_x", 0.2)},
        {"remove_labels": [("l0_x", 0.3), ("l2_x", 0.2)], "save_labels_in_metadata": False},
        {"newline_replacement": " ", "remove_labels": [("l0_x", 0.9)]},
        {"keep_labels": [("l1_x", 0.1)], "filter_mode": "PARAGRAPH"},
    ],
)
def test_classifiers(local_model: Model, arguments: dict[str, Any]) -> None:
    both_by_model("FastTextClassifierFilter", {"model_url": local_model("words"), **arguments})


def test_labels_that_the_model_has_not(local_model: Model) -> None:
    block = our_blocks().FastTextClassifierFilter(local_model("words"), keep_labels=("nobody", 0.5))
    with pytest.raises(ValueError, match="nobody"):
        judged(block, ["x"])


def test_without_datatrove_the_error_says_what_to_install() -> None:
    """In a process in which it cannot be imported."""
    script = "import sys; sys.modules['datatrove'] = None; import gristmill.datatrove"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "ImportError: expected datatrove" in result.stderr
    assert "pip install 'gristmill[datatrove]'" in result.stderr


def test_every_name_is_there_and_others_list_them() -> None:
    blocks = our_blocks()
    assert all(getattr(blocks, name).__name__ == name for name in blocks.__all__)
    with pytest.raises(AttributeError, match=r"blocks: C4BadWordsFilter, .*URLFilter"):
        _ = blocks.NoSuchFilter
