"""examples/train.py: all four ways train, and a killed run goes on as if nothing had been."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from reference.four_ways import documents, texts, write_packs

pytest.importorskip("torch", reason="torch is not installed: pip install gristmill[train]")

SCRIPT = Path(__file__).parents[2] / "examples" / "train.py"
TINY = "--width 32 --layers 2 --heads 4 --key-value-heads 2 --batch-size 4 --warmup 5 --print-seconds 0"
IDS = documents(60, seed=4)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Finished runs as far as the script reads them, one for each strategy."""
    root = tmp_path_factory.mktemp("runs")
    for strategy, pack in write_packs(root / "packs", IDS).items():
        (root / strategy / "sift" / "web").mkdir(parents=True)
        pack.rename(root / strategy / "pack")
        pq.write_table(pa.table({"text": texts(IDS)}), root / strategy / "sift" / "web" / "00000.parquet")
    return root


def start(run, *options):
    """The script in a process of its own; one thread, because threads of a busy machine wait for each other."""
    command = [sys.executable, str(SCRIPT), str(run), *TINY.split(), *options]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )


def finish(process):
    output, _ = process.communicate()
    assert process.returncode == 0, output
    return output


@pytest.mark.parametrize("way", ["packed", "padded", "padding-free-on-the-fly", "padded-on-the-fly"])
def test_every_way_trains(runs, way):
    run = runs / ("padded" if way == "padded" else "wrapped")
    output = finish(start(run, "--data", way, "--steps", "12"))
    first, last = (line for line in output.splitlines() if line.startswith(("step      1 ", "step     12 ")))
    assert float(last.split()[3]) < float(first.split()[3])
    found = json.loads(output.splitlines()[-1])
    assert found["tokens_per_second"] > 0
    assert 0 < found["waiting_ratio"] < 1
    ignored = found["ignored_ratio"]
    assert 0.25 < ignored < 0.9 if "padded" in way else 0 < ignored < 0.25


def test_rows_of_another_kind_are_refused(runs):
    process = start(runs / "wrapped", "--data", "padded")
    output, _ = process.communicate()
    assert process.returncode == 1
    assert "--data padded: the rows in" in output
    assert "are packed `wrapped`" in output


@pytest.mark.parametrize(("way", "workers"), [("packed", "0"), ("padding-free-on-the-fly", "2")])
def test_losses_after_a_kill_are_those_of_an_undisturbed_run(runs, tmp_path, way, workers):
    options = ["--data", way, "--steps", "60", "--checkpoint-every", "7", "--workers", workers]
    finish(start(runs / "wrapped", *options, "--checkpoint-every", "1", "--checkpoint", str(tmp_path / "undisturbed")))
    expected = json.loads((tmp_path / "undisturbed" / "losses.json").read_text())
    assert len(expected) == 60

    folder = tmp_path / "disturbed"
    killed = start(runs / "wrapped", *options, "--checkpoint", str(folder))
    while not (folder / "losses.json").exists():
        assert killed.poll() is None, killed.communicate()
        time.sleep(0.005)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    output = finish(start(runs / "wrapped", *options, "--checkpoint-every", "1", "--checkpoint", str(folder)))
    begun = int(output.splitlines()[0].rsplit(" ", 1)[1])
    assert 7 <= begun < 60
    assert json.loads((folder / "losses.json").read_text()) == expected
