"""Real servers on 127.0.0.1 for tests, and the demo recipe, scaled down, as all of them carry it out.

Without a server its tests skip and say what is missing; CI installs them all (tools/install_test_servers).
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import slurm_server
import yaml
from cluster_runs import MakeRecipe, digests

import gristmill as gm
from gristmill.demo import write_corpus
from gristmill.recipes import read_text


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's corpus, a tenth of it."""
    folder = tmp_path_factory.mktemp("corpus")
    write_corpus(folder, 400)
    return folder


@pytest.fixture(scope="session")
def make_recipe(corpus: Path) -> MakeRecipe:
    """The demo's recipe over that corpus, for an output and an engine."""

    def make(output: Path | str, root: Path | str = corpus, **engine: Any) -> dict[str, Any]:
        recipe: dict[str, Any] = yaml.safe_load(read_text("demo"))
        for source in recipe["sources"]:
            source["path"] = f"{root}/{Path(source['path']).name}"
        recipe["tokenizer"] = {"train": {"vocab_size": 1000, "sample": "1MB"}}
        recipe["mixture"]["tokens"] = 60_000
        recipe["output"] = {"path": str(output), "chunk": "100kB"}
        recipe["pack"]["window"] = 20_000
        recipe["engine"] = engine or {"workers": 0}
        return recipe

    return make


@pytest.fixture(scope="session")
def on_one_machine(tmp_path_factory: pytest.TempPathFactory, make_recipe: MakeRecipe) -> dict[str, str]:
    """What the recipe's output is: a digest for each file of each stage."""
    output = tmp_path_factory.mktemp("local")
    gm.run(make_recipe(output))
    return digests(output)


@pytest.fixture(scope="session")
def _slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    if missing := slurm_server.missing():
        pytest.skip(missing)
    with slurm_server.running_slurm(tmp_path_factory.mktemp("slurm")) as environment:
        yield environment


@pytest.fixture
def slurm(_slurm: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A real Slurm of one node with two cores: an engine for recipes."""
    for name, value in _slurm.items():
        monkeypatch.setenv(name, value)
    return {"kind": "slurm", "partition": "test", "time": "10:00", "tasks": 2, "mem_per_cpu": "1GB"}


@pytest.fixture(scope="session")
def ray_of_two() -> Iterator[dict[str, Any]]:
    """A real Ray with two workers: an engine for recipes."""
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=100_000_000, _memory=4 << 30)
    yield {"kind": "ray", "tasks": 2, "mem_per_cpu": "1GB"}
    ray.shutdown()


@pytest.fixture(scope="session")
def _s3() -> Iterator[tuple[str, Any]]:
    pytest.importorskip("moto")
    pytest.importorskip("s3fs")
    import s3_server

    with s3_server.running_s3() as running:
        yield running


@pytest.fixture
def s3(_s3: tuple[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """A real S3 server with an empty bucket `mill`; its faults, none yet. Scratch folders are the test's own."""
    import s3fs

    address, faults = _s3
    for name, value in {
        "AWS_ENDPOINT_URL": address,
        "AWS_ACCESS_KEY_ID": "miller",
        "AWS_SECRET_ACCESS_KEY": "flour",
        "AWS_DEFAULT_REGION": "us-east-1",
        "TMPDIR": str(tmp_path / "tmp"),
    }.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", None)  # read TMPDIR again
    store = s3fs.S3FileSystem(use_listings_cache=False, skip_instance_cache=True)
    store.mkdir("mill")
    yield faults
    faults.every = 0
    store.rm("mill", recursive=True)
