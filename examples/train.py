"""Train a small Llama on a Gristmill run: the whole loop in one file, with exact resume.

    gristmill run demo                                                 # or any recipe
    python examples/train.py demo-output                               # packed rows, no padding to speak of
    python examples/train.py demo-output --checkpoint checkpoints      # run it again to resume, from kill -9 too

`--data` chooses among the four ways from documents to training steps, so that you can see what each one costs:

    packed                    the run's rows, packed `best_fit` or `wrapped`
    padded                    the run's rows, packed `padded`: one document a row
    padding-free-on-the-fly   the run's kept texts, tokenized while training, end to end
    padded-on-the-fly         the same, one document a row, filled up to the longest of the batch

Needs `pip install "gristmill[train]"`. Printed: loss; training tokens a second (what is learnt from: padding and the
first tokens of documents are not); the share of the time spent waiting for data; the share of places learnt nothing
from. With the same options and threads, a killed and resumed run has the losses of an undisturbed one, bit for bit.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader

import gristmill as gm
from gristmill.loader.attention import block_mask
from gristmill.loader.four_ways import WAYS, Collator

# --- The model: RMSNorm, rotary positions, grouped-query attention within documents, SwiGLU, tied embeddings ---


class Attention(nn.Module):
    """Grouped-query attention that never leaves a document."""

    def __init__(self, width: int, heads: int, key_value_heads: int) -> None:
        super().__init__()
        self.head_width = width // heads
        self.queries = nn.Linear(width, width, bias=False)
        self.keys_values = nn.Linear(width, 2 * key_value_heads * self.head_width, bias=False)
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, hidden: torch.Tensor, rotation: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        query = self._heads(self.queries(hidden))
        key, value = self._heads(self.keys_values(hidden)).chunk(2, dim=1)
        query, key = rotate(query, rotation), rotate(key, rotation)
        attended = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, enable_gqa=True)
        return self.out(attended.transpose(1, 2).flatten(2))

    def _heads(self, flat: torch.Tensor) -> torch.Tensor:
        return flat.unflatten(2, (-1, self.head_width)).transpose(1, 2)


class Layer(nn.Module):
    """Attention, then SwiGLU, each on a normalised copy of the stream and added to it."""

    def __init__(self, width: int, heads: int, key_value_heads: int) -> None:
        super().__init__()
        self.attention_norm, self.mlp_norm = nn.RMSNorm(width), nn.RMSNorm(width)
        self.attention = Attention(width, heads, key_value_heads)
        self.gate_up = nn.Linear(width, 2 * 3 * width, bias=False)
        self.down = nn.Linear(3 * width, width, bias=False)

    def forward(self, hidden: torch.Tensor, rotation: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        hidden = hidden + self.attention(self.attention_norm(hidden), rotation, mask)
        gate, up = self.gate_up(self.mlp_norm(hidden)).chunk(2, dim=2)
        return hidden + self.down(functional.silu(gate) * up)


class Llama(nn.Module):
    """From a batch to its loss."""

    def __init__(self, vocab_size: int, width: int, layers: int, heads: int, key_value_heads: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, width)
        self.layers = nn.ModuleList(Layer(width, heads, key_value_heads) for _ in range(layers))
        self.norm = nn.RMSNorm(width)
        self.register_buffer("frequencies", 10_000.0 ** -torch.arange(0, 1, 2 * heads / width), persistent=False)
        for weight in self.parameters():
            if weight.dim() == 2:
                nn.init.normal_(weight, std=0.02)

    def forward(self, batch: dict[str, Any]) -> torch.Tensor:
        angles = batch["position_ids"][:, None, :, None] * self.frequencies
        rotation, mask = torch.stack([angles.cos(), angles.sin()]), block_mask(batch)
        hidden = self.tokens(batch["input_ids"])
        for layer in self.layers:
            hidden = layer(hidden, rotation, mask)
        learnt = targets(batch) != -100  # no logits where there is nothing to learn: they are most of the work
        logits = functional.linear(self.norm(hidden[:, :-1][learnt]), self.tokens.weight)
        return functional.cross_entropy(logits.float(), targets(batch)[learnt])


def rotate(heads: torch.Tensor, rotation: torch.Tensor) -> torch.Tensor:
    """Rotary positions: each pair of (first half, second half) turned by its token's angle."""
    cos, sin = rotation
    first, second = heads.chunk(2, dim=3)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=3)


def targets(batch: dict[str, Any]) -> torch.Tensor:
    """The token after each one; -100 at padding and where the next token begins another document."""
    return batch["labels"][:, 1:].masked_fill(batch["position_ids"][:, 1:] == 0, -100)


# --- The data: batches for ever, and where in them we are ---


class Pretokenized:
    """`gm.load`: the state is one row number."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.loader = gm.load(
            options.run,
            options.batch_size,
            shuffle_seed=options.seed,
            epochs=None,
            workers=options.workers,
            sequence_length=options.sequence_length,
            framework="torch",
            pin_memory=options.device != "cpu",
        )
        strategy = self.loader.manifest.layout.strategy
        if (strategy == "padded") != (options.data == "padded"):
            raise SystemExit(f"--data {options.data}: the rows in {options.run} are packed `{strategy}`")
        self.state_dict, self.load_state_dict = self.loader.state_dict, self.loader.load_state_dict

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.loader)


class OnTheFly:
    """Texts in a DataLoader: the state is how many batches to make again and throw away."""

    def __init__(self, options: argparse.Namespace) -> None:
        layout = gm.load(options.run).manifest.layout  # the run says how texts became tokens
        self.taken = 0
        files = sorted(Path(options.run).glob("sift/*/[0-9][0-9][0-9][0-9][0-9].parquet"))
        texts = [text for file in files for text in pq.read_table(file, columns=["text"])["text"].to_pylist()]
        length = options.sequence_length or layout.sequence_length
        dataset = WAYS[options.data](
            texts,
            Path(options.run) / "pack" / layout.tokenizer_file,
            length,
            eos_id=layout.pad_id,
            shuffle_seed=options.seed,
            epochs=1_000_000,
        )
        collate = Collator(dataset.pad_id)
        self.batches = DataLoader(dataset, options.batch_size, num_workers=options.workers, collate_fn=collate)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for batch in itertools.islice(self.batches, self.taken, None):
            self.taken += 1
            yield batch

    def state_dict(self) -> dict[str, int]:
        return {"taken": self.taken}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.taken = state["taken"]


# --- The loop ---


def train(options: argparse.Namespace) -> dict[str, float]:
    """Train; returns what the last line prints."""
    torch.manual_seed(options.seed)
    torch.use_deterministic_algorithms(options.device == "cpu")
    data = (OnTheFly if options.data.endswith("on-the-fly") else Pretokenized)(options)
    vocab_size = gm.load(options.run).manifest.layout.vocab_size
    model = Llama(vocab_size, options.width, options.layers, options.heads, options.key_value_heads)
    model.to(options.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.learning_rate, betas=(0.9, 0.95))
    losses: list[float] = resume(options, model, optimizer, data)
    parameters = sum(weight.numel() for weight in model.parameters())
    print(f"{parameters / 1e6:.1f} M parameters, {options.data} data, from step {len(losses)}", flush=True)
    learnt = places = 0
    waited = 0.0
    began = last = time.perf_counter()
    batches = iter(data)
    for step in range(len(losses), options.steps):
        asked = time.perf_counter()
        batch = next(batches)
        waited += time.perf_counter() - asked
        batch = {
            name: value.to(options.device, non_blocking=True) if torch.is_tensor(value) else value
            for name, value in batch.items()
        }
        for group in optimizer.param_groups:
            group["lr"] = options.learning_rate * min(1.0, (step + 1) / options.warmup)
        loss = model(batch)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        wanted = targets(batch)
        learnt, places = learnt + int((wanted != -100).sum()), places + wanted.numel()
        if step + 1 == options.steps or time.perf_counter() - last > options.print_seconds:
            last = time.perf_counter()
            print(
                f"step {step + 1:6,}  loss {losses[-1]:7.4f}  {learnt / (last - began):9,.0f} training tokens/s  "
                f"{waited / (last - began):6.2%} waiting for data  {1 - learnt / places:6.2%} of places ignored",
                flush=True,
            )
        if options.checkpoint and (step + 1) % options.checkpoint_every == 0:
            save(options, model, optimizer, data, losses)
    seconds = time.perf_counter() - began
    return {
        "loss": losses[-1],
        "tokens_per_second": learnt / seconds,
        "waiting_ratio": waited / seconds,
        "ignored_ratio": 1 - learnt / max(places, 1),
    }


def save(options: argparse.Namespace, model: Llama, optimizer: Any, data: Any, losses: list[float]) -> None:
    """A checkpoint, whole or not at all; the losses beside it for people to read."""
    folder = Path(options.checkpoint)
    folder.mkdir(parents=True, exist_ok=True)
    states = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "data": data.state_dict()}
    torch.save({**states, "losses": losses}, folder / "state.pt.tmp")
    (folder / "state.pt.tmp").replace(folder / "state.pt")
    (folder / "losses.json").write_text(json.dumps(losses))


def resume(options: argparse.Namespace, model: Llama, optimizer: Any, data: Any) -> list[float]:
    """Go on where the checkpoint stands, if there is one; returns the losses so far."""
    if not options.checkpoint or not (Path(options.checkpoint) / "state.pt").exists():
        return []
    saved = torch.load(Path(options.checkpoint) / "state.pt", map_location=options.device, weights_only=True)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    data.load_state_dict(saved["data"])
    losses: list[float] = saved["losses"]
    return losses


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", help="a finished run's output folder")
    parser.add_argument("--data", choices=[*WAYS], default="packed")
    for name, default in {"steps": 200, "batch-size": 8, "workers": 0, "seed": 1, "warmup": 20}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    for name, default in {"width": 256, "layers": 4, "heads": 8, "key-value-heads": 4}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--sequence-length", type=int, help="the run's, if not given")
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--checkpoint", help="a folder; resumed from where it exists")
    parser.add_argument("--checkpoint-every", type=int, default=50, help="steps")
    parser.add_argument("--print-seconds", type=float, default=5.0)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    print(json.dumps(train(parse())))
