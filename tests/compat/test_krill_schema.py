from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from gristmill.compat.krill import schema
from gristmill.errors import RecipeError

SECTIONED = {
    "datasets": [{"path": "a/b", "split": "train[:10000]", "text_column": "body"}, {"path": "c"}],
    "tokenizer": {"hub_id": "x/y"},
    "preprocess": {"prepared_path": "out", "sequence_len": 2048},
    "train": {"hub_model_id": "m", "output_dir": "o", "learning_rate": "1e-3", "whatever": 1},
}
FLAT = {
    "datasets": SECTIONED["datasets"],
    "hub_tokenizer_id": "x/y",
    "dataset_prepared_path": "out",
    "sequence_len": 2048,
    "learning_rate": "1e-3",
    "output_dir": "o",
}


def read(folder: Path, value: Any) -> schema.KrillConfig:
    path = folder / "config.yaml"
    path.write_text(value if isinstance(value, str) else yaml.safe_dump(value))
    return schema.read(path)


def test_both_schemas_say_the_same(tmp_path: Path) -> None:
    one, other = read(tmp_path, SECTIONED), read(tmp_path, FLAT)
    assert one.preprocess == other.preprocess and one.datasets == other.datasets and one.tokenizer == other.tokenizer
    assert one.ignored() == other.ignored() == []
    assert (one.preprocess.min_length, one.tokenizer.vocab_size, one.datasets[1].split) == (150, 32_000, "train")
    assert (one.preprocess.save_shard_size, one.preprocess.chunk_size) == (200_000_000, 10_000)


@pytest.mark.parametrize(
    "config",
    [
        {**FLAT, "preprocess_save_shard_size": "5MB", "preprocess_chunk_size": 7, "dataset_prepared_min_length": 9},
        {**SECTIONED, "preprocess_save_shard_size": "5MB", "preprocess": {
            **SECTIONED["preprocess"], "preprocess_chunk_size": 7, "min_length": "9"}},
    ],
)  # fmt: skip
def test_sizes(tmp_path: Path, config: dict[str, Any]) -> None:
    made = read(tmp_path, config).preprocess
    assert (made.save_shard_size, made.chunk_size, made.min_length) == (5_000_000, 7, 9)


def test_unknown_keys_are_named(tmp_path: Path) -> None:
    config = {**SECTIONED, "sequnce_len": 1, "datasets": [{"path": "a", "splt": "x"}]}
    assert read(tmp_path, config).ignored() == ["sequnce_len", "datasets[0].splt"]
    assert read(tmp_path, {**FLAT, "vocab": 5}).ignored() == ["vocab"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hub_tokenizer_id": None}, r"tokenizer\.hub_id \(line \d+\): expected a valid string, found None"),
        ({"sequence_len": "long"}, r"preprocess\.sequence_len \(line \d+\): .*found 'long'"),
        ({"datasets": []}, r"datasets \(line \d+\): expected at least one dataset, found none"),
        (
            {"datatrove": {"enabled": True, "pipeline_config": {"dedupe": "exact"}}},
            r"datatrove\.pipeline_config\.dedupe \(line \d+\): .*Known: deduplication, distributed, quality_filters",
        ),
        (
            {"datatrove": {"pipeline_config": {"deduplication": "fuzzy"}}},
            r"datatrove\.pipeline_config\.deduplication \(line \d+\): .*'minhash' or 'exact'.*'fuzzy'",
        ),
        (
            {"datatrove": {"pipeline_config": {"quality_filters": [{"min_lenght": 5}]}}},
            r"quality_filters.*unknown quality filter `min_lenght`.*min_length.*language_filter",
        ),
        ({"datatrove": {"enabeld": True}}, r"datatrove\.enabeld.*enabled.*pipeline_config"),
    ],
)
def test_mistakes_have_a_place(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        read(tmp_path, {**FLAT, **changes})


def test_all_mistakes_at_once(tmp_path: Path) -> None:
    with pytest.raises(RecipeError) as caught:
        read(tmp_path, {"datasets": [{}], "tokenizer": {}})
    assert len(caught.value.problems) == 3


@pytest.mark.parametrize(("text", "found"), [("[1", "a syntax error"), ("- 1", "list"), ("", "NoneType")])
def test_what_is_no_config(tmp_path: Path, text: str, found: str) -> None:
    with pytest.raises(RecipeError, match=f"expected .* found {found}"):
        read(tmp_path, text)
    with pytest.raises(RecipeError, match="found nothing"):
        schema.read(tmp_path / "none.yaml")


def test_datatrove_may_be_off(tmp_path: Path) -> None:
    assert read(tmp_path, {**FLAT, "datatrove": {"enabled": False, "pipeline_config": {}}}).ignored() == []


def test_without_datatrove_it_can_be_off_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "find_spec", lambda name: None)
    assert not read(tmp_path, {**FLAT, "datatrove": {"enabled": False}}).datatrove.enabled
    with pytest.raises(RecipeError, match=r"datatrove\.enabled.*pip install 'gristmill\[datatrove\]'"):
        read(tmp_path, {**FLAT, "datatrove": {"enabled": True}})
