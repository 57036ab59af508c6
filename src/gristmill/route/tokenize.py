"""tokenize: kept documents, drops applied → token shards, one set a source. Ids equal the Hugging Face tokenizer's.

One task a chunk. Its fingerprint covers the documents' checksum, the drops' and the tokenizer's: a chunk whose text
and drops did not change is not encoded again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gristmill.engine.step import Outcome, Step, Task
from gristmill.formats import token_shard
from gristmill.route.survivors import ChunkFiles, SiftedChunk, surviving
from gristmill.route.tokenizer import read_spec
from gristmill.tokens.tokenizer import TokenizerSpec

VERSION = 1


@dataclass(frozen=True)
class TokenizeWork:
    """One chunk's documents, and the tokenizer."""

    chunk: ChunkFiles
    tokenizer: str  # fingerprint of the spec that lies in spec_folder
    spec_folder: str


def steps(chunks: Sequence[SiftedChunk], spec: TokenizerSpec, spec_folder: Path, reads: tuple[Step, ...]) -> list[Step]:
    """One step a source."""
    tasks: dict[str, list[Task]] = {}
    for chunk in chunks:
        work = TokenizeWork(chunk.files(), spec.fingerprint, str(spec_folder))
        text_bytes = int(chunk.judged.counts["kept_bytes"])
        tasks.setdefault(chunk.source, []).append(Task(chunk.stem, chunk.inputs(), work, bytes=text_bytes))
    literals = {"tokenizer": spec.fingerprint}
    return [
        Step(f"tokenize/{source}", "gristmill.route.tokenize:run", VERSION, literals, of_source, reads)
        for source, of_source in tasks.items()
    ]


def warm_up() -> None:
    """Load what every tokenize task needs."""
    from gristmill.tokens import encode  # noqa: F401


def run(work: TokenizeWork, folder: Path, stem: str) -> Outcome:
    """The task: encode one chunk's surviving documents."""
    from gristmill.tokens.encode import encoder

    spec = read_spec(Path(work.spec_folder), work.tokenizer)
    tokenizer = encoder(spec)
    notices: list[str] = []
    counts = {"docs": 0, "tokens": 0, "most_tokens": 0}

    def encoded() -> Iterator[tuple[Any, Any, Any]]:
        for batch in surviving(work.chunk, ["text"]):
            texts = batch.column("text")
            if counts["docs"] == 0:
                tokenizer.check(texts)
                if tokenizer.notice:
                    notices.append(tokenizer.notice)
            rows = batch.column("row").to_numpy()
            for tokens in tokenizer.encode_piecewise(texts):
                counts["docs"] += len(tokens)
                counts["tokens"] += len(tokens.ids)
                counts["most_tokens"] = max(counts["most_tokens"], int(np.diff(tokens.offsets).max()))
                yield rows[: len(tokens)], tokens.offsets, tokens.ids
                rows = rows[len(tokens) :]

    token_shard.write(folder / f"{stem}.arrow", spec.fingerprint, encoded())
    return Outcome(counts, [f"{stem}.arrow"], notices)
