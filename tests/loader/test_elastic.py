"""Kill and resume at random moments, with processes that die for real, and other ranks and workers after each."""

import json
import random
import signal
import subprocess
import sys
from collections import Counter
from itertools import islice

import pytest

from gristmill.loader import load
from reference.loader import layout, random_rows, write_pack

LENGTH, ROWS, EPOCHS = 8, 97, 2


@pytest.fixture(scope="module")
def packs(tmp_path_factory):
    root = tmp_path_factory.mktemp("packs")
    write_pack(root / "one", random_rows(ROWS, LENGTH, seed=1), layout(LENGTH))
    return root


def rows_of(batches):
    return [row for one in batches for row in one["rows"].tolist()]


@pytest.mark.filterwarnings("ignore:This DataLoader will create")
@pytest.mark.parametrize("framework", ["numpy", "torch"])
@pytest.mark.parametrize("seed", [None, 7])
def test_four_ranks_to_two_to_eight_with_any_workers(packs, framework, seed):
    """Each job has other ranks, and each of its ranks other workers; the last job runs to the end."""
    if framework == "torch":
        pytest.importorskip("torch", reason="torch is not installed: pip install gristmill[train]")
    options = {"shuffle_seed": seed, "epochs": EPOCHS, "framework": framework}
    taken, state = [], None
    for world_size, batch_size, steps in ((4, 3, 4), (2, 5, 5), (8, 2, 10_000)):
        loaders = [
            load(packs / "one", batch_size, rank=rank, world_size=world_size, workers=(0, 2, 4)[rank % 3], **options)
            for rank in range(world_size)
        ]
        for loader in loaders:
            if state is not None:
                loader.load_state_dict(json.loads(json.dumps(state)))
        for loader in loaders:
            taken += rows_of(islice(loader, steps))
        states = [loader.state_dict() for loader in loaders]
        assert all(one == states[0] for one in states)
        state = states[0]
        assert state["row"] == len(taken)
    assert Counter(taken) == Counter(list(range(ROWS)) * EPOCHS)


JOB = """
import json, os, sys
from gristmill.loader import load

path, checkpoint, options = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
loader = load([(path, 1)] if options.pop("mixture") else path, framework="numpy", **options)
learnt = []
if os.path.exists(checkpoint):
    saved = json.load(open(checkpoint))
    learnt = saved["learnt"]
    loader.load_state_dict(saved["state"])
for batch in loader:
    learnt += batch["rows"].tolist()
    with open(checkpoint + ".tmp", "w") as file:
        json.dump({"learnt": learnt, "state": loader.state_dict()}, file)
    os.replace(checkpoint + ".tmp", checkpoint)
    print(len(learnt), flush=True)
"""


@pytest.mark.parametrize("mixture", [False, True])
def test_killed_at_random_moments(packs, tmp_path, mixture):
    """Jobs with other batch sizes and workers each time, killed in the middle; the last one gets through."""
    rng, checkpoint = random.Random(5), tmp_path / "checkpoint.json"
    for kill_after_lines in (*(rng.randint(1, 30) for _ in range(4)), None):
        options = {"batch_size": rng.randint(1, 3), "workers": rng.choice([0, 2]), "mixture": mixture}
        options |= {"shuffle_seed": 3, "epochs": EPOCHS}
        command = [sys.executable, "-c", JOB, str(packs / "one"), str(checkpoint), json.dumps(options)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            said = list(islice(process.stdout, kill_after_lines))
            if kill_after_lines is not None:
                process.send_signal(signal.SIGKILL)
        assert said
        assert process.returncode == (0 if kill_after_lines is None else -signal.SIGKILL)
    one = packs / "one"
    undisturbed = load([(one, 1)] if mixture else one, 4, framework="numpy", shuffle_seed=3, epochs=EPOCHS)
    learnt = json.loads(checkpoint.read_text())["learnt"]
    assert learnt == rows_of(undisturbed)
    for epoch in range(EPOCHS):
        assert sorted(learnt[epoch * ROWS : (epoch + 1) * ROWS]) == list(range(ROWS))
