"""The four ways give the same documents to one collator, whatever the ranks and workers."""

from collections import Counter

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install gristmill[train]")
from torch.utils.data import DataLoader  # noqa: E402

from gristmill.errors import FormatError, RecipeError, TokenizerError  # noqa: E402
from gristmill.loader.four_ways import WAYS, Collator  # noqa: E402
from reference.four_ways import EOS, LENGTH, documents, texts, write_packs, write_tokenizer  # noqa: E402

IDS = documents(50)
PADDED = {"padded-on-the-fly", "padded"}


@pytest.fixture(scope="module")
def packs(tmp_path_factory):
    return write_packs(tmp_path_factory.mktemp("packs"), IDS)


@pytest.fixture(scope="module", params=WAYS)
def way(request):
    return request.param


@pytest.fixture(scope="module")
def dataset(way, packs):
    def make(**options):
        if way.endswith("on-the-fly"):
            return WAYS[way](texts(IDS), packs["padded"] / "tokenizer.json", LENGTH, eos_id=EOS, **options)
        return WAYS[way](packs["padded" if way == "padded" else "wrapped"], sequence_length=LENGTH, **options)

    return make


def parts_of(batches):
    """The document parts of batches, by position_ids and labels alone."""
    parts = []
    for batch in batches:
        columns = [batch[name].reshape(-1).tolist() for name in ("input_ids", "labels", "position_ids")]
        for token, label, position in zip(*columns, strict=True):
            if position == 0:
                parts.append([])
            parts[-1].append(token if label == token else label)
    return [tuple(part) for part in parts if set(part) != {-100}]


def expected_parts(way):
    if way in PADDED:
        return Counter(tuple(ids[at : at + LENGTH]) for ids in IDS for at in range(0, len(ids), LENGTH))
    parts, room = [], LENGTH
    for ids in IDS:
        rest = ids
        while rest:
            parts.append(tuple(rest[:room]))
            rest = rest[room:]
            room = room - len(parts[-1]) or LENGTH
    return Counter(parts)


@pytest.mark.parametrize("pad_to", [None, LENGTH])
def test_every_document_once_and_whole(way, dataset, pad_to):
    collate = Collator(dataset().pad_id, pad_to)
    batches = list(DataLoader(dataset(), batch_size=4, collate_fn=collate))
    assert Counter(parts_of(batches)) == expected_parts(way)
    assert all(len(batch["input_ids"]) == 4 for batch in batches[:-1])
    widths = {batch["input_ids"].shape[1] for batch in batches[:-1]}
    assert widths == {LENGTH} or (way == "padded-on-the-fly" and pad_to is None)


@pytest.mark.parametrize(("world_size", "workers"), [(1, 2), (2, 0)])
def test_ranks_and_workers_share_them_out(way, dataset, world_size, workers):
    batches = []
    for rank in range(world_size):
        own = dataset(shuffle_seed=3, rank=rank, world_size=world_size, epochs=2)
        batches += DataLoader(own, batch_size=4, num_workers=workers, collate_fn=Collator(EOS))
    tokens = Counter(token for part in parts_of(batches) for token in part)
    assert tokens == Counter(token for ids in IDS * 2 for token in ids)


def test_a_shuffle_is_another_order_of_the_same(way, dataset):
    orders = [[tuple(item["input_ids"].tolist()) for item in dataset(shuffle_seed=seed)] for seed in (None, 1, 1, 2)]
    assert orders[1] == orders[2]
    assert len({tuple(order) for order in orders}) == 3
    if way in PADDED or way == "packed":
        assert len({frozenset(Counter(order).items()) for order in orders}) == 1


def test_bounds_are_the_same_in_both_forms(dataset):
    for batch in DataLoader(dataset(), batch_size=4, collate_fn=Collator(EOS)):
        begins = torch.nonzero(batch["position_ids"].reshape(-1) == 0).reshape(-1).tolist()
        assert batch["cu_seqlens"].tolist() == [*begins, batch["input_ids"].numel()]
        assert batch["cu_seqlens"].dtype == torch.int32
        assert batch["max_seqlen"] == batch["cu_seqlens"].diff().max()


def test_the_collator_refuses_what_is_too_long(dataset):
    with pytest.raises(ValueError, match="expected rows of up to 3 tokens, found one of"):
        Collator(EOS, 3)(list(dataset()))


class TestRefused:
    @pytest.mark.parametrize(("way", "strategy"), [("padded", "wrapped"), ("packed", "padded")])
    def test_rows_of_another_kind(self, packs, way, strategy):
        with pytest.raises(FormatError, match=rf"expected rows packed as .*, found {strategy}(.|\n)*only pack runs"):
            WAYS[way](packs[strategy])

    def test_rows_of_another_length(self, packs):
        with pytest.raises(FormatError, match="expected rows of 32 tokens, found rows of 16"):
            WAYS["packed"](packs["wrapped"], sequence_length=32)

    def test_rows_of_another_tokenizer(self, packs):
        with pytest.raises(FormatError, match="expected rows made with the tokenizer"):
            WAYS["packed"](packs["wrapped"], tokenizer="abc")

    def test_no_tokenizer(self, tmp_path):
        with pytest.raises(TokenizerError, match=r"expected a tokenizer\.json, found something else"):
            WAYS["padded-on-the-fly"](["a"], tmp_path / "none.json", 8)

    @pytest.mark.parametrize("wrong", [{"sequence_length": 0}, {"texts": []}, {"rank": 1}, {"epochs": 0}])
    def test_impossible_options(self, tmp_path, wrong):
        options = {"texts": ["w1"], "tokenizer": write_tokenizer(tmp_path / "t.json"), "sequence_length": 8, **wrong}
        with pytest.raises(RecipeError, match="expected texts, a sequence_length and epochs of 1 or more"):
            WAYS["padding-free-on-the-fly"](**options)
