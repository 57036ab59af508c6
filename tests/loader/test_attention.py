"""No token attends across documents: masks by their definition, and a small transformer that cannot tell."""

from itertools import pairwise

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install gristmill[train]")
from torch.nn import functional  # noqa: E402
from torch.nn.attention.flex_attention import create_block_mask, flex_attention  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402

from gristmill.loader import load  # noqa: E402
from gristmill.loader.attention import block_mask, document_ids, flex_attention_mask  # noqa: E402
from gristmill.loader.four_ways import WAYS, Collator  # noqa: E402
from reference.four_ways import EOS, LENGTH, documents, texts, write_packs  # noqa: E402

IDS = documents(30, seed=2)


@pytest.fixture(scope="module", params=["load padded", "load packed", *WAYS])
def batch(request, tmp_path_factory):
    packs = write_packs(tmp_path_factory.mktemp("packs"), IDS)
    way = request.param
    pack = packs["padded" if way.endswith("padded") else "wrapped"]
    if way.startswith("load"):
        return next(iter(load(pack, 6, shuffle_seed=1, framework="torch")))
    on_the_fly = way.endswith("on-the-fly")
    dataset = WAYS[way](texts(IDS), pack / "tokenizer.json", LENGTH, eos_id=EOS) if on_the_fly else WAYS[way](pack)
    return next(iter(DataLoader(dataset, batch_size=6, collate_fn=Collator(dataset.pad_id))))


def parts(batch):
    """(row, first, last) of every part, read off cu_seqlens."""
    width = batch["input_ids"].shape[1]
    bounds = batch["cu_seqlens"].tolist()
    return [(first // width, first % width, (last - 1) % width + 1) for first, last in pairwise(bounds)]


def test_document_ids_by_the_bounds(batch):
    found = document_ids(batch)
    expected = torch.zeros_like(found)
    for row, first, last in parts(batch):
        expected[row, first:last] = expected[row, first - 1] + 1 if first else 0
    assert torch.equal(found, expected)


def test_the_block_mask_by_the_bounds(batch):
    expected = torch.zeros_like(block_mask(batch))
    for row, first, last in parts(batch):
        for query in range(first, last):
            expected[row, 0, query, first : query + 1] = True
    assert torch.equal(block_mask(batch), expected)
    assert block_mask(batch).diagonal(dim1=2, dim2=3).all()


def test_the_flex_mask_is_the_block_mask(batch):
    rows, width = batch["input_ids"].shape
    at = torch.meshgrid(torch.arange(rows), torch.arange(2), torch.arange(width), torch.arange(width), indexing="ij")
    assert torch.equal(flex_attention_mask(batch)(*at), block_mask(batch).expand(-1, 2, -1, -1))


def test_three_ways_to_attend_agree(batch):
    rows, width = batch["input_ids"].shape
    torch.manual_seed(0)
    query, key, value = torch.randn(3, rows, 2, width, 8)
    masked = functional.scaled_dot_product_attention(query, key, value, attn_mask=block_mask(batch))
    blocks = create_block_mask(flex_attention_mask(batch), rows, None, width, width, device="cpu", BLOCK_SIZE=8)
    assert torch.allclose(flex_attention(query, key, value, block_mask=blocks), masked, atol=1e-5)
    for row, first, last in parts(batch):  # what variable-length attention does with cu_seqlens
        part = [one[row, :, first:last] for one in (query, key, value)]
        alone = functional.scaled_dot_product_attention(*part, is_causal=True)
        assert torch.allclose(masked[row, :, first:last], alone, atol=1e-5)


class Transformer(torch.nn.Module):
    """Two layers of attention: what one document leaks into another, the second layer would spread."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.tokens, self.places = torch.nn.Embedding(64, 16), torch.nn.Embedding(LENGTH, 16)
        self.layers = torch.nn.ModuleList(torch.nn.Linear(16, 48) for _ in range(2))
        self.logits = torch.nn.Linear(16, 64)

    def forward(self, embedded, batch):
        hidden = embedded + self.places(batch["position_ids"])
        for layer in self.layers:
            query, key, value = layer(hidden)[:, None].chunk(3, dim=-1)
            mask = block_mask(batch)
            hidden = hidden + functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)[:, 0]
        return self.logits(hidden)


def test_no_token_attends_across_documents(batch):
    model = Transformer().double()
    embedded = model.tokens(batch["input_ids"]).detach().requires_grad_()
    logits = model(embedded, batch)
    several = [part for part in parts(batch) if part[2] - part[1] < batch["input_ids"].shape[1]]
    for row, first, last in several:
        changed = embedded.detach().clone()
        changed[row, first:last] += 1
        difference = (model(changed, batch) - logits).abs().sum(2) > 0
        inside = torch.zeros_like(difference)
        inside[row, first:last] = True
        assert difference[row, first:last].all()
        assert not (difference & ~inside).any()
        (gradient,) = torch.autograd.grad(logits[row, first:last].sum(), embedded, retain_graph=True)
        reached = gradient.abs().sum(2) > 0
        assert reached[row, first:last].all()
        assert not (reached & ~inside).any()
    assert len(several) > 3
