"""torch's StatefulDataLoader contract: by its protocol, and by torchdata itself where it is installed."""

from itertools import islice

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install gristmill[train]")

from gristmill.errors import ResumeError  # noqa: E402
from gristmill.loader import load  # noqa: E402
from reference.loader import layout, random_rows, write_pack  # noqa: E402

LENGTH = 8


@pytest.fixture(scope="module")
def pack(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "pack"
    write_pack(folder, random_rows(45, LENGTH, seed=1), layout(LENGTH))
    return folder


def ids(items):
    return [item["input_ids"].tolist() for item in items]


@pytest.fixture(scope="module")
def stateful_data_loader():
    module = pytest.importorskip("torchdata.stateful_dataloader", reason="torchdata is not installed")
    return module.StatefulDataLoader


@pytest.mark.parametrize("given", [0, 1, 15, 16, 17, 44, 45])
def test_an_iterator_goes_on_from_its_state(pack, given):
    stream = load(pack, shuffle_seed=3).torch_stream()
    rows = iter(stream)
    before = ids(islice(rows, given))
    resumed = iter(stream)
    resumed.load_state_dict(rows.state_dict())
    rest = ids(resumed)
    assert len(rest) == 45 - given
    assert before + rest == ids(stream)
    assert rest == ids(rows)


def test_a_state_of_other_positions(pack):
    state = iter(load(pack, world_size=2).torch_stream()).state_dict()
    with pytest.raises(ResumeError, match="expected the state of a worker with positions"):
        iter(load(pack).torch_stream()).load_state_dict(state)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("steps", [0, 5, 11])
def test_in_a_stateful_data_loader(pack, stateful_data_loader, workers, steps):
    def batches():
        loader = load(pack, shuffle_seed=3)
        return stateful_data_loader(
            loader.torch_stream(), batch_size=4, num_workers=workers, collate_fn=loader.collate_rows
        )

    undisturbed, interrupted, resumed = batches(), batches(), batches()
    expected = ids(undisturbed)
    running = iter(interrupted)
    before = ids(islice(running, steps))
    resumed.load_state_dict(interrupted.state_dict())
    assert before + ids(resumed) == expected
    assert ids(resumed) == expected  # the next epoch is whole again


def test_rows_by_number_in_a_stateful_data_loader(pack, stateful_data_loader):
    loader = load(pack)
    batches = [
        stateful_data_loader(loader.torch_dataset(), 4, shuffle=False, collate_fn=loader.collate_rows) for _ in range(2)
    ]
    before = ids(islice(batches[0], 3))
    batches[1].load_state_dict(batches[0].state_dict())
    assert before + ids(batches[1]) == ids(load(pack, 4))
