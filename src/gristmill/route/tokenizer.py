"""Which tokenizer the run uses: loaded as the recipe says, or trained on the kept documents in a step of its own.

The spec travels to the workers as a file, so that a task's order stays small.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc

from gristmill.engine.step import Outcome, Step, Task
from gristmill.errors import FormatError
from gristmill.formats.files import atomic_file, read_json, write_json
from gristmill.route.survivors import ChunkFiles, SiftedChunk, surviving
from gristmill.tokens import tokenizer as tokenizers
from gristmill.tokens.tokenizer import TokenizerSpec

if TYPE_CHECKING:  # a worker would spend 0.1 s on loading the schema
    from gristmill import recipe as recipes
    from gristmill.sources.piece import Chunk

VERSION = 1
_TRAINING_CHUNK_BYTES = 8 << 20
FILE = "tokenizer.json"
SPEC_FILE = "tokenizer.spec.json"


@dataclass(frozen=True)
class TrainWork:
    """What to learn from, chunk by chunk."""

    chunks: tuple[ChunkFiles, ...]
    vocab_size: int
    bytes_per_chunk: int


def load(asked: recipes.Tokenizer, trained: Path | None) -> TokenizerSpec:
    """The spec the recipe asks for; `trained` is the folder of a finished training step."""
    source = str(trained / FILE) if trained is not None else asked.path or asked.hub
    assert source is not None
    return tokenizers.load(
        source, append_eos=asked.append_eos, special_tokens=asked.special_tokens, eos_token=asked.eos_token
    )


def training_step(asked: recipes.TokenizerTraining, chunks: Sequence[SiftedChunk], reads: tuple[Step, ...]) -> Step:
    """The step that trains a tokenizer on a sample: the first documents of every chunk."""
    files = tuple(chunk.files() for chunk in chunks)
    work = TrainWork(files, asked.vocab_size, max(1, asked.sample // max(1, len(chunks))))
    text_bytes = sum(int(chunk.judged.counts["kept_bytes"]) for chunk in chunks)
    task = Task("bpe", {"chunks": [chunk.inputs() for chunk in chunks]}, work, bytes=min(asked.sample, text_bytes))
    literals = {"vocab_size": asked.vocab_size, "sample": asked.sample}
    function = "gristmill.route.tokenizer:run"
    return Step("tokenizer/training", function, VERSION, literals, [task], reads, parent_opens=True)


def run(work: TrainWork, folder: Path, stem: str) -> Outcome:
    """The task: train, and write tokenizer.json."""
    from gristmill.tokens.train import train

    counts = {"docs": 0, "bytes": 0}

    def sample() -> Iterator[Any]:
        for files in work.chunks:
            taken_bytes = 0
            for batch in surviving(files, ["text"]):
                texts = pc.utf8_slice_codeunits(batch.column("text"), 0, work.bytes_per_chunk)  # not all of a book
                lengths = np.cumsum(pc.binary_length(texts).to_numpy(zero_copy_only=False))
                take = int(np.searchsorted(lengths, work.bytes_per_chunk - taken_bytes)) + 1
                texts = texts.slice(0, take)
                taken_bytes += int(lengths[len(texts) - 1])
                counts["docs"] += len(texts)
                yield texts
                if taken_bytes >= work.bytes_per_chunk:
                    break
            counts["bytes"] += taken_bytes

    text = train(sample(), work.vocab_size)
    with atomic_file(folder / FILE) as file:
        file.write(text.encode())
    return Outcome(counts, [FILE])


def spec_step(spec: TokenizerSpec) -> Step:
    """The step that lays the spec down for the workers of `tokenize`."""
    task = Task("spec", {"tokenizer": spec.fingerprint}, spec)
    return Step("tokenizer", "gristmill.route.tokenizer:write_spec", VERSION, {}, [task])


def write_spec(spec: TokenizerSpec, folder: Path, stem: str) -> Outcome:
    """The task: write the spec."""
    write_json(folder / SPEC_FILE, asdict(spec))
    return Outcome({"vocab_size": spec.vocab_size}, [SPEC_FILE])


def spec_in(folder: Path) -> TokenizerSpec:
    """The spec that `write_spec` wrote there. Raises FormatError where it is damaged."""
    path = folder / SPEC_FILE
    try:
        return TokenizerSpec(**read_json(path))
    except TypeError as error:
        raise FormatError(f"expected a tokenizer's spec, found something else ({error}): {path}") from error


@lru_cache(maxsize=4)
def read_spec(folder: Path, fingerprint: str) -> TokenizerSpec:
    """A spec that `write_spec` wrote; read once a process. Raises FormatError where it is another one, or damaged."""
    spec = spec_in(folder)
    if spec.fingerprint != fingerprint:
        raise FormatError(
            f"expected the tokenizer's spec that this run wrote, found another: {folder / SPEC_FILE}\n"
            "  Run the same command again to rebuild this step."
        )
    return spec


def train_on_files(paths: Sequence[str], text_column: str, vocab_size: int, sample_bytes: int, output: Path) -> int:
    """`gristmill train-tokenizer`: learn from raw files, spread evenly over them; returns the vocabulary's size."""
    from gristmill import sources

    files = [file for path in paths for file in sources.find(path)]
    chunks = [(chunk, text_column) for chunk in sources.split(files, {"unit": "file"}, _TRAINING_CHUNK_BYTES, None)]
    return _train_on_chunks(chunks, vocab_size, sample_bytes, output)


def train_on_sources(asked: Sequence[recipes.Source], vocab_size: int, sample_bytes: int, output: Path) -> int:
    """The same from the sources of a recipe."""
    from gristmill.route.sift import chunks_of

    chunks = [
        (chunk, source.text_column)
        for source in asked
        for chunk in chunks_of(source, _TRAINING_CHUNK_BYTES, tasks=None)
    ]
    return _train_on_chunks(chunks, vocab_size, sample_bytes, output)


def _train_on_chunks(chunks: Sequence[tuple[Chunk, str]], vocab_size: int, sample_bytes: int, output: Path) -> int:
    from gristmill import sources
    from gristmill.cleaning.strip import Strip
    from gristmill.cleaning.unicode import Unicode
    from gristmill.errors import SourceError
    from gristmill.sources.piece import Columns
    from gristmill.tokens.train import train

    learnt_bytes = 0

    def sample() -> Iterator[Any]:
        nonlocal learnt_bytes
        for chunk, text_column in chunks:
            taken_bytes = 0
            for batch in sources.read(chunk, Columns(text_column)):
                texts = Strip().clean(Unicode().clean(batch.filter(pc.is_null(batch["unreadable"]))["text"]))
                yield texts
                taken_bytes += int(pc.sum(pc.binary_length(texts)).as_py() or 0)
                if taken_bytes * len(chunks) >= sample_bytes:
                    break
            learnt_bytes += taken_bytes

    text = train(sample(), vocab_size)
    if learnt_bytes == 0:
        paths = dict.fromkeys(piece.path for chunk, _ in chunks for piece in chunk.pieces)
        raise SourceError(f"expected some text to learn from, found none in {len(paths)} files: {', '.join(paths)}")
    with atomic_file(output) as file:
        file.write(text.encode())
    return len(json.loads(text)["model"]["vocab"])
