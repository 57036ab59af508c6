"""Configs of krill's, carried out by us and by a twin: the same rows."""

from __future__ import annotations

import importlib
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from typer.testing import CliRunner

from gristmill.cli import app
from gristmill.compat.krill import prepared, schema, translate
from gristmill.errors import FormatError, RecipeError

datasets = pytest.importorskip("datasets")
for needed in ("transformers", "trl"):
    pytest.importorskip(needed, reason="krill's steps are repeated by datasets, transformers and TRL")
twin = importlib.import_module("reference.krill")
WORDS = [
    "mill",
    "grain",
    "stone",
    "water",
    "flour",
    "cối",
    "xay",
    "nước",
    "gạo",
    "🙂",
    "漢字",
    "e\u0301",
    "a\0b",
    "x\u2028y",
]


@pytest.fixture(autouse=True)
def quiet_datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    datasets.disable_progress_bars()


def texts(count: int, seed: int) -> list[str | None]:
    """Long and short ones, copies, white space around, nothing at all, and the lengths at which something changes."""
    rng = random.Random(seed)
    found: list[str | None] = [None, "", " \n", "x" * 99, " " + "y" * 99 + " ", "z" * 100, "\n" + "w" * 100 + "\t"]
    for number in range(count):
        if number % 9 == 8:
            found.append(f"  {found[-4]}\n")
        else:
            found.append(f"{number % 40} " + " ".join(rng.choices(WORDS, k=rng.randint(5, 120))))
    return found


def write_jsonl(path: Path, values: list[str | None], column: str = "text") -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps({column: value, "n": n}) + "\n" for n, value in enumerate(values)))
    return str(path)


def make_tokenizer(folder: Path, config: dict[str, Any] | None, surround: bool = False) -> tuple[str, Tokenizer]:
    """A tokenizer in a folder, with or without a config, one that adds tokens by itself or none."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    specials = ["<|endoftext|>", "<bos>", "<end>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=320, special_tokens=specials, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator([text for text in texts(50, 0) if text], trainer)
    if surround:
        ids = [(name, tokenizer.token_to_id(name)) for name in ("<bos>", "<end>")]
        tokenizer.post_processor = processors.TemplateProcessing(single="<bos> $A <end>", special_tokens=ids)
    folder.mkdir(parents=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    if config is not None:
        (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return str(folder), tokenizer


def sectioned(folder: Path, parts: list[dict[str, Any]], tokenizer: str, **preprocess: Any) -> dict[str, Any]:
    return {
        "datasets": parts,
        "tokenizer": {"hub_id": tokenizer},
        "preprocess": {"prepared_path": str(folder / "prepared"), "sequence_len": 64, "min_length": 90, **preprocess},
        "train": {"hub_model_id": "a/b", "output_dir": "out", "learning_rate": "1e-3"},
    }


def flat(folder: Path, parts: list[dict[str, Any]], tokenizer: str, **more: Any) -> dict[str, Any]:
    return {
        "sequence_len": 64,
        "vocab_size": 300,
        "hub_tokenizer_id": tokenizer,
        "dataset_prepared_path": str(folder / "prepared"),
        "dataset_prepared_min_length": 90,
        "datasets": parts,
        "learning_rate": "1e-3",
        "model_config_name": "small",
        **more,
    }


def run(folder: Path, config: dict[str, Any], *options: str) -> str:
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump(config, allow_unicode=True))
    result = CliRunner().invoke(app, ["preprocess", str(path), "--workers", "0", *options], catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def _one_file(folder: Path) -> tuple[dict[str, Any], Tokenizer, str | None]:
    path = write_jsonl(folder / "a.jsonl", texts(150, 1))
    name, tokenizer = make_tokenizer(folder / "tok", {"eos_token": "<|endoftext|>"})
    return sectioned(folder, [{"path": path}], name), tokenizer, "<|endoftext|>"


def _twice_closed(folder: Path) -> tuple[dict[str, Any], Tokenizer, str | None]:
    """The tokenizer closes with an EOS by itself: rows have two."""
    path = write_jsonl(folder / "a.jsonl", texts(150, 1))
    end = {"__type": "AddedToken", "content": "<end>", "lstrip": False, "normalized": False, "rstrip": False,
           "single_word": False, "special": True}  # fmt: skip
    config = {"eos_token": end, "model_input_names": ["input_ids", "token_type_ids", "attention_mask"]}
    name, tokenizer = make_tokenizer(folder / "tok", config, surround=True)
    return flat(folder, [{"path": path}], name), tokenizer, "<end>"


def _several(folder: Path) -> tuple[dict[str, Any], Tokenizer, str | None]:
    """Datasets one behind the other, copies across them, another column; and no EOS."""
    values = texts(150, 1)
    write_jsonl(folder / "web" / "train.jsonl", values[:90], "body")
    one, two = write_jsonl(folder / "b.jsonl", values[60:]), write_jsonl(folder / "c.jsonl", texts(40, 2))
    parts = [{"path": two}, {"path": str(folder / "web"), "text_column": "body"}, {"path": one}]
    name, tokenizer = make_tokenizer(folder / "tok", {"tokenizer_class": "GPT2Tokenizer"}, surround=True)
    return sectioned(folder, parts, name, min_length=80, sequence_len=100), tokenizer, None


def _slices(folder: Path) -> tuple[dict[str, Any], Tokenizer, str | None]:
    write_jsonl(folder / "web" / "train.jsonl", texts(300, 1))
    path = write_jsonl(folder / "b.jsonl", texts(100, 2))
    parts = [{"path": str(folder / "web"), "split": "train[10%:60%]"}, {"path": path, "split": "train[:70]"}]
    name, tokenizer = make_tokenizer(folder / "tok", {"eos_token": "<|endoftext|>"})
    return (
        flat(folder, parts, name, preprocess_save_shard_size="5kB", preprocess_chunk_size=10),
        tokenizer,
        "<|endoftext|>",
    )


def _short_documents(folder: Path) -> tuple[dict[str, Any], Tokenizer, str | None]:
    """Every document is shorter than a row, most are too short; a bare tokenizer.json goes by its well-known EOS."""
    path = write_jsonl(folder / "a.jsonl", [text[:130] if text else text for text in texts(400, 3)])
    name, tokenizer = make_tokenizer(folder / "tok", None)
    config = sectioned(folder, [{"path": path}], name + "/tokenizer.json", sequence_len=256, min_length=41)
    return config, tokenizer, "<|endoftext|>"


CONFIGS = [_one_file, _twice_closed, _several, _slices, _short_documents]


@pytest.mark.parametrize("make", CONFIGS, ids=lambda make: make.__name__)
def test_rows_are_krills(tmp_path: Path, make: Callable[[Path], tuple[dict[str, Any], Tokenizer, str | None]]) -> None:
    config, tokenizer, eos = make(tmp_path)
    output = run(tmp_path, config)
    asked = schema.read(tmp_path / "config.yaml")
    parts = [(each.path, each.split, each.text_column) for each in asked.datasets]
    theirs = twin.tokenizer_at(asked.tokenizer.hub_id, eos)
    assert theirs.eos_token_id == (None if eos is None else tokenizer.token_to_id(eos))
    made = asked.preprocess
    expected = twin.prepare(parts, theirs, made.min_length, made.sequence_len)
    assert min(len(expected.rows), expected.dropped_by_length, expected.dropped_tail) > 5

    found = datasets.load_from_disk(made.prepared_path)
    assert found["input_ids"][:] == expected.rows
    assert all(mask == [1] * made.sequence_len for mask in found["attention_mask"][:])
    columns = ["input_ids", "attention_mask"]
    if make is _twice_closed:
        columns = ["input_ids", "token_type_ids", "attention_mask"]
        assert all(kinds == [0] * made.sequence_len for kinds in found["token_type_ids"][:])
    assert found.column_names == columns

    assert f"tokens dropped by it: {expected.dropped_by_length:,}\n" in output
    assert f"short row: {expected.dropped_tail:,}\n" in output
    assert f"Rows: {len(expected.rows):,}, total tokens: {len(expected.rows) * made.sequence_len:,}" in output
    assert "Row lengths are all the same" in output and "Sample, row 0:" in output and "peak increase" in output
    assert len(list(Path(made.prepared_path).glob("data-*"))) == (
        1 if make is not _slices else len(found) * 64 * 5 // 5000 + 1
    )


def test_the_manifest_and_the_bounds_say_what_lies_where(tmp_path: Path) -> None:
    config, tokenizer, _ = _several(tmp_path)
    run(tmp_path, config)
    folder = tmp_path / "prepared"
    manifest = json.loads((folder / "manifest.json").read_text())
    rows = datasets.load_from_disk(str(folder))
    assert (manifest["rows"], manifest["tokens"]) == (len(rows), len(rows) * 100)
    assert manifest["sources"] == ["00-c.jsonl", "01-web", "02-b.jsonl"]
    with pa.memory_map(str(folder / "bounds.arrow")) as file:
        segments = pa.ipc.open_file(file).read_all().column("segments").to_pylist()
    assert len(segments) == len(rows)
    begins = tokenizer.token_to_id("<bos>")
    for parts, ids in zip(segments, rows["input_ids"][:], strict=True):
        starts = [part["start"] for part in parts if part["token"] == 0]
        assert starts == [place for place, token in enumerate(ids) if token == begins]
    sources = [part["source"] for parts in segments for part in parts]
    assert sources == sorted(sources)
    assert prepared.tokenizer_of(folder).get_vocab() == tokenizer.get_vocab()


def digest(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_a_memory_limit_and_more_workers_change_no_byte(tmp_path: Path) -> None:
    config, _, _ = _one_file(tmp_path)
    run(tmp_path, config)
    before = digest(tmp_path / "prepared")
    small = translate.recipe_of(schema.read(tmp_path / "config.yaml"), 300_000_000)
    assert small.output.chunk < translate.recipe_of(schema.read(tmp_path / "config.yaml")).output.chunk
    output = run(tmp_path, config, "--memory", "300MB", "--workers", "1")
    after = digest(tmp_path / "prepared")
    assert before.keys() == after.keys()
    assert {name for name in after if before[name] != after[name]} <= {"manifest.json"}
    assert "done already" in output or "tasks" in output


def test_an_older_dataset_makes_way_and_nothing_else_does(tmp_path: Path) -> None:
    config, _, _ = _one_file(tmp_path)
    run(tmp_path, config)
    (tmp_path / "prepared" / "data-00007-of-00008.arrow").write_bytes(b"old")
    run(tmp_path, config)
    assert len(list((tmp_path / "prepared").glob("data-*"))) == 1
    other = tmp_path / "mine"
    write_jsonl(other / "thesis.txt", ["x"])
    config["preprocess"]["prepared_path"] = str(other)
    with pytest.raises(FormatError, match="expected a free place, or a dataset to replace, found a folder with other"):
        run(tmp_path, config)
    assert (other / "thesis.txt").exists()


def test_inspect_dataset_and_train_tokenizer(tmp_path: Path) -> None:
    config, tokenizer, _ = _one_file(tmp_path)
    run(tmp_path, config)
    path = str(tmp_path / "config.yaml")
    shown = CliRunner().invoke(app, ["inspect-dataset", path, "--rows", "2"], catch_exceptions=False).output
    rows = datasets.load_from_disk(str(tmp_path / "prepared"))
    assert f"Rows: {len(rows):,}" in shown and "Sample, row 1:" in shown and "Sample, row 2:" not in shown
    assert tokenizer.decode(rows[1]["input_ids"], skip_special_tokens=False)[:20] in shown

    config["tokenizer"]["vocab_size"] = 333
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config))
    trained = tmp_path / "new" / "tokenizer.json"
    CliRunner().invoke(app, ["train-tokenizer", path, "-o", str(trained)], catch_exceptions=False)
    assert Tokenizer.from_file(str(trained)).get_vocab_size() == 333
    with pytest.raises(FormatError, match="expected a dataset that `gristmill preprocess` made, found none"):
        prepared.tokenizer_of(tmp_path / "none")


def test_a_slice_of_a_file_that_only_datasets_could_read_is_a_mistake(tmp_path: Path) -> None:
    config, _, _ = _one_file(tmp_path)
    config["datasets"][0]["split"] = "train[10%:]"
    with pytest.raises(RecipeError, match=r"expected a split such as train.*found 'train\[10%:\]'"):
        run(tmp_path, config)


def test_a_second_run_drops_what_the_first_one_saw(tmp_path: Path) -> None:
    """The cache is kept between runs; a run that is done again keeps its own documents."""
    name, _ = make_tokenizer(tmp_path / "tok", {"eos_token": "<|endoftext|>"})
    values = [f"{text} " * 3 for text in texts(60, 1) if text]
    first = write_jsonl(tmp_path / "first.jsonl", values[:30])
    both = write_jsonl(tmp_path / "both.jsonl", values)
    new = write_jsonl(tmp_path / "new.jsonl", values[30:])

    def rows(folder: str, path: str, **cache: str) -> list[list[int]]:
        config = sectioned(tmp_path / folder, [{"path": path}], name, min_length=1, **cache)
        (tmp_path / folder).mkdir(exist_ok=True)
        run(tmp_path / folder, config)
        found: list[list[int]] = datasets.load_from_disk(str(tmp_path / folder / "prepared"))["input_ids"][:]
        return found

    cache = {"dedup_cache_dir": str(tmp_path / "seen")}
    once = rows("one", first, **cache)
    assert rows("one", first, **cache) == once
    assert rows("two", both, **cache) == rows("three", new)


def test_datatrove_as_an_engine(tmp_path: Path) -> None:
    """Its own filters judge; near copies go; what a filter drops stands in the books under the name that ours has."""
    pytest.importorskip("datatrove")
    pytest.importorskip("fasttext")
    name, _ = make_tokenizer(tmp_path / "tok", {"eos_token": "<|endoftext|>"})
    english = [f"{number} of the people in the town said that they had seen it before, and more than once. " * 4
               for number in range(40)]  # fmt: skip
    vietnamese = ["Đây là một câu tiếng Việt khá dài, nói về cối xay gạo và nước ở trong làng của chúng tôi. " * 3]
    path = write_jsonl(tmp_path / "a.jsonl", [*english, *vietnamese, "short but new: " + "x " * 60])
    asked = {"enabled": True, "pipeline_config": {
        "deduplication": "minhash", "quality_filters": [{"min_length": 150}, {"language_filter": "en"}]}}  # fmt: skip
    config = {**sectioned(tmp_path, [{"path": path}], name, min_length=1), "datatrove": asked}
    assert "Filters are datatrove's own" in run(tmp_path, config)
    ledger = json.loads((tmp_path / "prepared.gristmill" / "ledger.json").read_text())
    gone = [entry["gone"] for entry in ledger["entries"] if entry["stage"] in ("sift", "dedup")]
    assert gone[0] == {"length_2.min_characters": 1, "language.other": 1}
    assert gone[1]["minhash"] > 20
    config["datatrove"]["enabled"] = False
    assert "datatrove" not in run(tmp_path, config).replace(str(tmp_path), "")
    assert len(datasets.load_from_disk(str(tmp_path / "prepared"))) > 20
