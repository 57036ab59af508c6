import json

import pytest

from gristmill.errors import FormatError, RecipeError, ResumeError, TokenizerError
from gristmill.formats.packed_rows import write_manifest
from gristmill.loader import load
from reference.loader import layout, random_rows, write_pack

TOKENIZER = {"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}, "truncation": None}
USE = {"direction": "Right", "max_length": 512, "strategy": "LongestFirst", "stride": 0}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    write_pack(folder / "pack", random_rows(9, 8, seed=1), layout(8))
    (folder / "pack" / "tokenizer.json").write_text(json.dumps(TOKENIZER))
    return folder


def test_a_run_or_its_pack(run):
    assert len(load(run, framework="numpy")) == len(load(str(run / "pack"), framework="numpy")) == 2


def test_nothing_there(tmp_path):
    with pytest.raises(FormatError, match=r"found nothing: .*missing\n  Run `gristmill run RECIPE`"):
        load(tmp_path / "missing")


def test_a_file(tmp_path):
    (tmp_path / "recipe.yaml").touch()
    with pytest.raises(FormatError, match="found a file"):
        load(tmp_path / "recipe.yaml")


def test_a_folder_of_something_else(tmp_path):
    with pytest.raises(FormatError, match="found a folder of something else"):
        load(tmp_path)


@pytest.mark.parametrize("made", ["sift", "tokenize", "pack", "00000.arrow"])
def test_an_unfinished_run(tmp_path, made):
    (tmp_path / made).mkdir()
    with pytest.raises(ResumeError, match=r"found one without manifest\.json: .*\n.*goes on where it stopped"):
        load(tmp_path)


def test_no_rows(tmp_path):
    write_manifest(tmp_path, layout(8), [])
    with pytest.raises(FormatError, match="a pack without any"):
        load(tmp_path)


def test_sequence_length(run):
    load(run, sequence_length=8)
    with pytest.raises(FormatError, match=r"expected rows of 16 tokens, found rows of 8: .*\n.*sequence_length: 16"):
        load(run, sequence_length=16)


def test_tokenizer_by_fingerprint(run):
    load(run, tokenizer="f" * 64)
    with pytest.raises(FormatError, match=f"fingerprint abc .there is no such file., found .* fingerprint {'f' * 64}"):
        load(run, tokenizer="abc")


def test_tokenizer_by_file_or_folder(run, tmp_path):
    file = tmp_path / "tokenizer.json"
    same = {"type": "BPE", "merges": [["a", "b"]], "vocab": {"ab": 2, "a": 0, "b": 1}}
    file.write_text(json.dumps({"truncation": USE, "model": same}, indent=4))
    load(run, tokenizer=file)
    load(run, tokenizer=str(tmp_path))
    file.write_text(json.dumps({"model": {**same, "vocab": {"ab": 1, "a": 0, "b": 2}}}))
    with pytest.raises(FormatError, match=f"expected rows made with the tokenizer {file}, found rows of another one"):
        load(run, tokenizer=file)


def test_a_tokenizer_file_that_is_none(run, tmp_path):
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(TokenizerError, match=r"expected a tokenizer\.json, found something else"):
        load(run, tokenizer=tmp_path)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"batch_size": 0}, "batch_size: expected 1 or more, found 0"),
        ({"world_size": 0}, "world_size: expected 1 or more, found 0"),
        ({"rank": 2, "world_size": 2}, "rank: expected a number from 0, below world_size, found 2"),
        ({"rank": -1}, "rank: expected"),
        ({"shuffle_seed": -1}, "shuffle_seed: expected None or"),
        ({"epochs": 0}, "epochs: expected None or 1 or more, found 0"),
        ({"workers": -1}, "workers: expected 0 or more, found -1"),
        ({"prefetch": 0}, "prefetch: expected 1 or more, found 0"),
        ({"framework": "jax"}, "unknown framework `jax`. Known: auto, numpy, torch."),
    ],
)
def test_options(run, options, problem):
    with pytest.raises(RecipeError) as caught:
        load(run, **options)
    assert len(caught.value.problems) == 1
    assert problem in caught.value.problems[0]


def test_all_mistakes_at_once(run):
    with pytest.raises(RecipeError) as caught:
        load(run, batch_size=0, rank=5, epochs=-1, framework="tf")
    assert len(caught.value.problems) == 4


def test_a_batch_too_big_for_cu_seqlens(run):
    with pytest.raises(RecipeError, match="cu_seqlens has 32 bits"):
        load(run, batch_size=1 << 28)


def test_torch_is_asked_for_and_missing(run, monkeypatch):
    monkeypatch.setattr("gristmill.loader.checks.find_spec", lambda name: None)
    with pytest.raises(RecipeError, match=r"pip install .gristmill\[train\]"):
        load(run, framework="torch")
    assert type(next(iter(load(run)))["input_ids"]).__module__ == "numpy"
