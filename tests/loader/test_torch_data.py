"""The torch side. Worker processes cost a second each, so few tests start them."""

import itertools
import multiprocessing
import pickle
from collections import Counter

import numpy as np
import pytest

from gristmill.errors import RecipeError
from gristmill.loader import load
from reference.loader import layout, random_rows, write_pack

torch = pytest.importorskip("torch", reason="torch is not installed: pip install gristmill[train]")
from torch.utils.data import DataLoader  # noqa: E402

LENGTH = 8
ROWS = random_rows(45, LENGTH, seed=1)


@pytest.fixture(scope="module")
def pack(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "pack"
    write_pack(folder, ROWS, layout(LENGTH))
    return folder


def same(one, two):
    return one.keys() == two.keys() and all(
        torch.equal(torch.as_tensor(one[name]), torch.as_tensor(two[name])) for name in one
    )


@pytest.fixture(scope="module")
def expected(pack):
    return list(load(pack, 4, shuffle_seed=3, framework="numpy"))


def test_auto_gives_tensors_over_the_same_memory(pack, expected):
    batches = list(load(pack, 4, shuffle_seed=3))
    assert all(map(same, batches, expected))
    first = batches[0]
    assert first["input_ids"].dtype == first["labels"].dtype == first["position_ids"].dtype == torch.long
    assert first["cu_seqlens"].dtype == torch.int32
    assert isinstance(first["max_seqlen"], int)
    spans = [first[name].untyped_storage().data_ptr() for name in ("input_ids", "labels", "position_ids")]
    assert np.diff(spans).tolist() == [first["input_ids"].nbytes] * 2


def test_a_row_is_tensors(pack):
    row = load(pack, framework="torch").row(3)
    assert row["input_ids"].shape == (LENGTH,)
    assert torch.is_tensor(row["cu_seqlens"])


def test_worker_processes_change_nothing(pack, expected):
    loader = load(pack, 4, shuffle_seed=3, framework="torch", workers=2)
    batches = iter(loader)
    random_state = torch.get_rng_state()
    for number, one in enumerate(itertools.islice(batches, 5)):
        assert same(one, expected[number])
        assert loader.state_dict()["row"] == 4 * (number + 1)
    assert torch.equal(torch.get_rng_state(), random_state)
    resumed = load(pack, 4, shuffle_seed=3, framework="torch")
    resumed.load_state_dict(loader.state_dict())
    assert all(map(same, resumed, expected[5:]))
    assert len(list(batches)) == len(expected) - 5


class TestDataset:
    def test_items_are_rows(self, pack):
        dataset = load(pack, shuffle_seed=3).torch_dataset()
        assert len(dataset) == 45
        assert dataset[-1].keys() == {"input_ids", "labels", "position_ids"}
        for number in (0, 44):
            row = load(pack).row(number)
            assert all(torch.equal(value, row[name]) for name, value in dataset[number].items())
        with pytest.raises(IndexError):
            dataset[45]

    def test_in_a_dataloader_with_its_collator(self, pack):
        loader = load(pack)
        batches = list(DataLoader(loader.torch_dataset(), batch_size=4, collate_fn=loader.collate_rows))
        for one, two in zip(batches, load(pack, 4), strict=True):
            two.pop("rows")
            assert same(one, two)

    def test_in_a_dataloader_with_torchs_collator(self, pack):
        one = next(iter(DataLoader(load(pack).torch_dataset(), batch_size=4, shuffle=True)))
        assert one["labels"].shape == (4, LENGTH)

    def test_pickles_small(self, pack):
        dataset = load(pack).torch_dataset()
        dataset[0]
        pickled = pickle.dumps(dataset)
        assert len(pickled) < 4096
        other = pickle.loads(pickled)  # noqa: S301
        assert torch.equal(other[5]["input_ids"], dataset[5]["input_ids"])


def keys(items):
    return [tuple(ids) for item in items for ids in item["input_ids"].reshape(-1, LENGTH).tolist()]


class TestStream:
    @pytest.mark.parametrize("world_size", [1, 3])
    @pytest.mark.parametrize("workers", [1, 2, 4, 7])
    def test_workers_split_it_without_overlap_or_gap(self, pack, monkeypatch, world_size, workers):
        taken = []
        for rank in range(world_size):
            stream = load(pack, shuffle_seed=3, epochs=2, rank=rank, world_size=world_size).torch_stream()
            for number in range(workers):
                info = type("WorkerInfo", (), {"id": number, "num_workers": workers})
                monkeypatch.setattr("gristmill.loader.torch_data.get_worker_info", lambda info=info: info)
                taken += keys(stream)
        rows = [tuple(load(pack).row(number)["input_ids"].tolist()) for number in range(45)]
        assert Counter(taken) == Counter(rows * 2)

    def test_in_spawned_workers_from_the_state_on(self, pack, expected):
        loader = load(pack, 4, shuffle_seed=3)
        next(iter(loader))
        context = multiprocessing.get_context("spawn")
        batches = DataLoader(
            loader.torch_stream(), 5, num_workers=2, collate_fn=loader.collate_rows, multiprocessing_context=context
        )
        assert Counter(keys(batches)) == Counter(keys(expected[1:]))

    def test_drop_last_gives_every_rank_equally_many(self, pack):
        counts = [len(list(load(pack, rank=rank, world_size=4, drop_last=True).torch_stream())) for rank in range(4)]
        assert counts == [11, 11, 11, 11]

    def test_is_in_the_order_of_the_stream(self, pack, expected):
        assert keys(load(pack, shuffle_seed=3).torch_stream()) == keys(expected)


class TestPinMemory:
    def test_without_an_accelerator_it_says_so(self, pack, expected, monkeypatch):
        monkeypatch.setattr(torch.accelerator, "is_available", lambda: False)
        with pytest.warns(UserWarning, match="pin_memory: expected an accelerator .*, found none"):
            loader = load(pack, 4, shuffle_seed=3, pin_memory=True)
        assert all(map(same, loader, expected))

    def test_with_one_every_tensor_is_pinned(self, pack, expected, monkeypatch):
        monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
        monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: torch.device("cuda"))
        pinned = []
        monkeypatch.setattr(torch.Tensor, "pin_memory", lambda tensor: pinned.append(tensor) or tensor.clone())
        batches = list(load(pack, 4, shuffle_seed=3, pin_memory=True))
        assert all(map(same, batches, expected))
        assert len(pinned) == 5 * len(expected)

    def test_arrays_are_never_pinned(self, pack):
        with pytest.raises(RecipeError, match='expected framework "torch" for pin_memory, found "numpy"'):
            load(pack, framework="numpy", pin_memory=True)
