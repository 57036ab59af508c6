"""Datasets on a hub that refuses, breaks off and dawdles: a stand-in on loopback, asked by whole runs."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hub_stand_in import Hub, serving

from gristmill.errors import SourceError
from gristmill.sources.hub.asking import TRIES, named_delay, patiently
from gristmill.sources.hub.listing import HubFile, Repository, files_of

TEXTS = [f"document number {number} about the mill and its wheel " + "grain " * (number % 40) for number in range(900)]


def jsonl(texts: list[str]) -> bytes:
    return "".join(json.dumps({"text": text}) + "\n" for text in texts).encode()


def parquet(texts: list[str]) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table({"text": texts}), file, row_group_size=40)
    return file.getvalue()


FILES = {
    "org/web": {
        "README.md": b"# web",
        "data/train-0.parquet": parquet(TEXTS[:300]),
        "data/train-1.parquet": parquet(TEXTS[300:400]),
        "data/test-0.parquet": parquet(["of another split"]),
    },
    "org/many": {
        "wiki/0.jsonl.gz": gzip.compress(jsonl(TEXTS[400:600]), mtime=0),
        "wiki/1.jsonl": jsonl(TEXTS[600:800]),
        "other/0.jsonl": jsonl(["of another config"]),
    },
    "org/secret": {"0.jsonl": jsonl(["no"])},
}
CONFIGS = {"org/many": [{"config_name": name, "data_files": f"{name}/*"} for name in ("wiki", "other")]}


def recipe_for(folder: Path, sources: list[dict[str, Any]]) -> Path:
    recipe = {
        "sources": sources,
        "tokenizer": {"train": {"vocab_size": 300, "sample": "1MB"}},
        "pack": {"sequence_length": 64},
        "output": {"path": str(folder / "out"), "chunk": "8kB", "texts": True},
        "engine": {"workers": 2, "memory": "2GB"},
    }
    (folder / "recipe.yaml").write_text(json.dumps(recipe))
    return folder / "recipe.yaml"


def gristmill(folder: Path, address: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return python(folder, address, "-m", "gristmill", *arguments)


def python(folder: Path, address: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("HF_")},
        "HF_ENDPOINT": address,
        "HF_HOME": str(folder / "hub"),
        "HF_HUB_DISABLE_XET": "1",
        "HF_TOKEN": "hf_secretsecretsecret",
        "no_proxy": "127.0.0.1",
    }
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=environment, timeout=300)


SOURCES = [
    {"name": "web", "dataset": "org/web"},
    {"name": "wiki", "dataset": "org/many", "config": "wiki"},
]


def texts_of(output: Path) -> list[str]:
    files = sorted(output.glob("org_*/*/*.jsonl.gz"))
    return [json.loads(line)["text"] for file in files for line in gzip.decompress(file.read_bytes()).splitlines()]


def test_a_run_gets_through_refusals_and_broken_slow_streams(tmp_path: Path) -> None:
    hub = Hub(FILES, CONFIGS, refusals=1, cuts=1, slow_seconds=0.01)
    with serving(hub) as address:
        run = gristmill(tmp_path, address, "run", str(recipe_for(tmp_path, SOURCES)), "--logging-dir", str(tmp_path))
        assert run.returncode == 0, run.stderr
        again = gristmill(tmp_path, address, "run", str(tmp_path / "recipe.yaml"))
        assert again.returncode == 0, again.stderr
    assert sorted(texts_of(tmp_path / "out")) == sorted(text.strip() for text in TEXTS[:800])
    served = [key for key in hub.asked if "/resolve/" in key and key.startswith("GET")]
    assert {key.rpartition("/")[2] for key in served} == {"train-0.parquet", "train-1.parquet", "0.jsonl.gz", "1.jsonl"}
    assert hub.asked["GET /api/datasets/org/many"] == 2, "once a run, whatever the number of configs"
    assert hub.most_at_once <= 4
    assert hub.tokens == {"Bearer hf_secretsecretsecret"}
    written = [path for path in tmp_path.rglob("*") if path.is_file() and "hub" not in path.parts]
    assert not any(b"hf_secret" in path.read_bytes() for path in written)
    assert "hf_secret" not in run.stdout + run.stderr


def test_all_that_cannot_be_read_is_named_before_work_begins(tmp_path: Path) -> None:
    sources = [
        *SOURCES,
        {"name": "secret", "dataset": "org/secret"},
        {"name": "nowhere", "dataset": "org/nowhere"},
        {"name": "typo", "dataset": "org/many", "config": "wikki"},
        {"name": "split", "dataset": "org/web", "split": "validation"},
    ]
    hub = Hub(FILES, CONFIGS, gated=frozenset({"org/secret"}))
    with serving(hub) as address:
        run = gristmill(tmp_path, address, "run", str(recipe_for(tmp_path, sources)))
    assert run.returncode == 1
    for expected in ("org/secret: gated", "org/nowhere: not on the hub", "Did you mean `wiki`?", "split validation"):
        assert expected in run.stderr
    assert not any("/resolve/" in key for key in hub.asked)


def test_a_limit_downloads_only_what_it_needs(tmp_path: Path) -> None:
    hub = Hub(FILES, CONFIGS)
    with serving(hub) as address:
        sources = [{"name": "web", "dataset": "org/web", "split": "train[:250]"}]
        run = gristmill(tmp_path, address, "run", str(recipe_for(tmp_path, sources)))
    assert run.returncode == 0, run.stderr
    assert texts_of(tmp_path / "out") == [text.strip() for text in TEXTS[:250]]
    assert [key for key in hub.asked if key.startswith("GET /datasets")] == [
        f"GET /datasets/org/web/resolve/{'c' * 40}/data/train-0.parquet"
    ]


def test_a_download_that_broke_off_goes_on_where_it_stopped(tmp_path: Path) -> None:
    content = os.urandom(24 << 20)  # huggingface_hub keeps blocks of 10 MB
    hub = Hub({"org/big": {"0.jsonl": content}}, cuts=1)
    program = """
from gristmill.sources.hub import chunks, fetched
[piece] = chunks("org/big", None, "train", 1 << 30, None, None)[0].pieces
print(fetched(piece).path)
"""
    with serving(hub) as address:
        run = python(tmp_path, address, "-c", program)
    assert run.returncode == 0, run.stderr
    assert Path(run.stdout.strip()).read_bytes() == content
    assert hub.ranges == [f"bytes={10 << 20}-"]


class RefusalError(Exception):
    def __init__(self, status: int, **headers: str) -> None:
        self.response = type("Response", (), {"status_code": status, "headers": headers})()


def test_the_servers_delay_is_kept() -> None:
    slept: list[float] = []
    answers = iter(
        [
            RefusalError(429, **{"Retry-After": "7"}),
            RefusalError(503),
            RefusalError(429, RateLimit='"api";r=0;t=12'),
            None,
        ]
    )

    def ask() -> str:
        if (refusal := next(answers)) is not None:
            raise refusal
        return "well"

    assert patiently(ask, "it", slept.append) == "well"
    assert slept == [7, 2, 12]
    assert named_delay(RefusalError(429)) is None


def test_what_will_not_pass_is_raised_at_once_and_what_does_not_pass_in_the_end() -> None:
    def refuse(status: int) -> None:
        raise RefusalError(status)

    with pytest.raises(RefusalError):
        patiently(lambda: refuse(403), "it", lambda seconds: None)
    slept: list[float] = []
    with pytest.raises(SourceError, match=f"status 429 {TRIES} times: it"):
        patiently(lambda: refuse(429), "it", slept.append)
    assert len(slept) == TRIES - 1


def names(paths: list[str], config: str | None = None, split: str = "train", configs: Any = ()) -> list[str]:
    found = Repository("org/name", "c", tuple(HubFile(path, 1, "s") for path in paths), tuple(configs))
    return [file.path for file in files_of(found, config, split)]


def test_files_by_convention() -> None:
    plain = ["README.md", "a.jsonl", "b/c.parquet", "picture.png"]
    assert names(plain) == ["a.jsonl", "b/c.parquet"]
    split = ["data/train-00000-of-00002.parquet", "data/validation-0.parquet", "test.jsonl"]
    assert names(split) == split[:1]
    assert names(split, split="validation") == split[1:2]
    configs = ["en/train-0.jsonl", "de/train-0.jsonl", "data/fr/0.jsonl.zst"]
    assert names(configs, "de") == ["de/train-0.jsonl"]
    assert names(["data/fr/0.jsonl.zst", "data/en/0.jsonl.zst"], "fr") == ["data/fr/0.jsonl.zst"]
    with pytest.raises(SourceError, match=r"unknown config `it`.*Known: data, de, en, fr"):
        names(configs, "it")
    with pytest.raises(SourceError, match="split test, found 0"):
        names(plain, split="test")


@pytest.mark.parametrize(
    "data_files",
    [
        "data/en/*.parquet",
        ["data/en/*.parquet"],
        {"train": "data/en/*.parquet", "test": "data/de/*"},
        [{"split": "train", "path": ["data/en/**"]}, {"split": "test", "path": "x"}],
        [{"split": "train", "path": "data/{en,it}/?.parquet"}],
    ],
)
def test_files_as_the_readme_declares_them(data_files: Any) -> None:
    paths = ["data/de/0.parquet", "data/en/0.parquet", "data/en/1.parquet"]
    declared = [{"config_name": "en", "data_files": data_files}, {"config_name": "default", "data_dir": "data/de"}]
    assert names(paths, "en", configs=declared) == paths[1:]
    assert names(paths, configs=declared) == paths[:1]
    with pytest.raises(SourceError, match=r"unknown config `fr`.*Known: default, en"):
        names(paths, "fr", configs=declared)
