import json
import pickle
from dataclasses import asdict
from pathlib import Path

import pytest
from huggingface_hub.errors import LocalEntryNotFoundError
from tiny_tokenizers import added, with_far_token

from gristmill.errors import TokenizerError
from gristmill.tokens.tokenizer import TokenizerSpec, load


def write(folder: Path, tokenizer, **files) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return folder


def test_a_file_a_folder_and_a_hub_id_give_the_same_spec(tmp_path, byte_level, monkeypatch):
    folder = write(tmp_path / "tokenizer", byte_level)

    def download(hub_id: str, name: str) -> str:
        assert hub_id == "mills/tiny"
        if not (folder / name).exists():
            raise LocalEntryNotFoundError(name)
        return str(folder / name)

    monkeypatch.setattr("huggingface_hub.hf_hub_download", download)
    sources = [folder, folder / "tokenizer.json", "mills/tiny"]
    specs = [load(source, append_eos=True, special_tokens=True) for source in sources]
    assert specs[0] == specs[1] == specs[2]
    assert (specs[0].eos_token, specs[0].eos_id, specs[0].vocab_size) == ("<|endoftext|>", 0, 400)


def test_a_spec_survives_pickle_and_json(byte_level, spec_of):
    spec = spec_of(byte_level)
    unpickled = pickle.loads(pickle.dumps(spec))  # noqa: S301 - its own bytes
    for copy in (unpickled, TokenizerSpec(**json.loads(json.dumps(asdict(spec))))):
        assert copy == spec
        assert copy.json_text == spec.json_text
    assert len(repr(spec)) < 300


EXPLICIT, CONFIG, MAP, KNOWN = "<|explicit|>", "<|config|>", "<|map|>", "</s>"


@pytest.mark.parametrize(
    ("eos_token", "files", "expected"),
    [
        (EXPLICIT, {"tokenizer_config": {"eos_token": CONFIG}}, EXPLICIT),
        (None, {"tokenizer_config": {"eos_token": CONFIG}, "special_tokens_map": {"eos_token": MAP}}, CONFIG),
        (None, {"tokenizer_config": {"eos_token": {"content": CONFIG}}}, CONFIG),
        (None, {"tokenizer_config": {"eos_token": None}, "special_tokens_map": {"eos_token": MAP}}, MAP),
        (None, {"tokenizer_config": [], "special_tokens_map": {"eos_token": MAP}}, MAP),
        (None, {}, KNOWN),
    ],
)
def test_eos_is_explicit_then_configured_then_well_known(tmp_path, byte_level, eos_token, files, expected):
    names = [EXPLICIT, CONFIG, MAP, KNOWN]
    tokens = [added(name, 400 + number) for number, name in enumerate(names)]
    folder = write(tmp_path, byte_level | {"added_tokens": tokens}, **files)
    spec = load(folder, append_eos=True, special_tokens=False, eos_token=eos_token)
    assert (spec.eos_token, spec.eos_id) == (expected, 400 + names.index(expected))


def test_a_file_of_another_name_does_not_believe_its_neighbours(tmp_path, byte_level):
    write(tmp_path, byte_level, tokenizer_config={"eos_token": "e"})
    (tmp_path / "mine.json").write_text(json.dumps(byte_level))
    asked = [tmp_path / "tokenizer.json", tmp_path / "mine.json"]
    eos = [load(file, append_eos=True, special_tokens=False).eos_token for file in asked]
    assert eos == ["e", "<|endoftext|>"]


def test_without_eos_only_a_policy_that_needs_it_fails(byte_level, spec_of):
    bare = byte_level | {"added_tokens": [added("<|odd|>", 400)]}
    spec = spec_of(bare, append_eos=False)
    assert (spec.eos_token, spec.eos_id, spec.pad_id) == (None, None, 0)
    with pytest.raises(TokenizerError, match=r"expected an end-of-sequence token.*\n.*<\|odd\|>.*append_eos: false"):
        spec_of(bare)
    with pytest.raises(TokenizerError, match=r"unknown end-of-sequence token `<\|end\|>`"):
        spec_of(bare, eos_token="<|end|>")


@pytest.mark.parametrize(("largest_id", "bytes_per_id"), [(65_534, 2), (65_535, 2), (65_536, 4)])
def test_the_largest_id_decides_the_width(byte_level, spec_of, largest_id, bytes_per_id):
    spec = spec_of(with_far_token(byte_level, largest_id))
    assert (spec.vocab_size, spec.bytes_per_id) == (largest_id + 1, bytes_per_id)


def test_the_fingerprint_is_that_of_content_and_policy(byte_level, surrounded, spec_of):
    truncating = {
        "truncation": {"direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0},
        "padding": {
            "strategy": "BatchLongest",
            "direction": "Right",
            "pad_to_multiple_of": None,
            "pad_id": 0,
            "pad_type_id": 0,
            "pad_token": "!",
        },
    }
    reordered = dict(reversed(byte_level.items()))
    same = [spec_of(tokenizer) for tokenizer in (byte_level, byte_level | truncating, reordered)]
    assert len({spec.fingerprint for spec in same}) == 1
    assert json.loads(same[1].json_text)["truncation"] is None
    others = [
        spec_of(byte_level, append_eos=False),
        spec_of(byte_level, special_tokens=False),
        spec_of(surrounded),
        spec_of(surrounded, eos_token="<|eos|>"),
        spec_of(byte_level | {"normalizer": {"type": "NFC"}}),
    ]
    assert len({spec.fingerprint for spec in [same[0], *others]}) == 1 + len(others)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("not JSON", "expected the JSON of a tokenizer.json, found something else"),
        ("\x00\x01", "expected the JSON of a tokenizer.json"),
        ('{"eos_token": "</s>"}', "expected a tokenizer.json with a `model`, found other JSON"),
        ("[1, 2]", "expected a tokenizer.json with a `model`"),
        (
            '{"model": {"type": "BPE", "dropout": 0.1}}',
            "that gives one answer, found BPE dropout 0.1",
        ),
        ('{"model": {"type": "New"}}', "expected a tokenizer.json that `tokenizers` .* can load"),
    ],
)
def test_what_is_no_tokenizer_is_named(tmp_path, content, message):
    file = tmp_path / "tokenizer.json"
    file.write_text(content)
    with pytest.raises(TokenizerError, match=message) as failure:
        load(file, append_eos=False, special_tokens=False)
    assert str(file) in str(failure.value)


def test_what_is_not_there_is_named(tmp_path, monkeypatch):
    def asked(source):
        return load(source, append_eos=False, special_tokens=False)

    with pytest.raises(TokenizerError, match=r"expected a tokenizer\.json, a folder with one, or a Hub id"):
        asked(tmp_path / "nothing.json")
    with pytest.raises(TokenizerError, match=r"expected a tokenizer\.json, found an empty folder"):
        asked(tmp_path)
    (tmp_path / "vocab.txt").touch()
    with pytest.raises(TokenizerError, match=r"found vocab\.txt"):
        asked(tmp_path)

    def unreachable(hub_id, name):
        raise LocalEntryNotFoundError("no network")

    monkeypatch.setattr("huggingface_hub.hf_hub_download", unreachable)
    with pytest.raises(TokenizerError, match=r"no file or folder `mills/tiny` here and none on the Hub.*no network"):
        asked("mills/tiny")
