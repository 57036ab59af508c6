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

from gristmill.engine.ledger import Entry, total
from gristmill.engine.record import Record
from gristmill.engine.step import Outcome, Step, Task
from gristmill.formats import token_shard
from gristmill.route.survivors import ChunkFiles, SiftedChunk, surviving
from gristmill.route.tokenizer import read_spec
from gristmill.tokens.tokenizer import TokenizerSpec

VERSION = 2
_COUNTED = ("docs", "tokens", "short_docs", "short_tokens")


@dataclass(frozen=True)
class TokenizeWork:
    """One chunk's documents, and the tokenizer."""

    chunk: ChunkFiles
    tokenizer: str  # fingerprint of the spec that lies in spec_folder
    spec_folder: str
    min_tokens: int  # documents of fewer are dropped


def steps(
    chunks: Sequence[SiftedChunk], spec: TokenizerSpec, spec_folder: Path, min_tokens: int, reads: tuple[Step, ...]
) -> list[Step]:
    """One step a source."""
    tasks: dict[str, list[Task]] = {}
    for chunk in chunks:
        work = TokenizeWork(chunk.files(), spec.fingerprint, str(spec_folder), min_tokens)
        text_bytes = int(chunk.judged.counts["kept_bytes"])
        tasks.setdefault(chunk.source, []).append(Task(chunk.stem, chunk.inputs(), work, bytes=text_bytes))
    literals = {"tokenizer": spec.fingerprint, "min_tokens": min_tokens}
    return [
        Step(f"tokenize/{source}", "gristmill.route.tokenize:run", VERSION, literals, of_source, reads)
        for source, of_source in tasks.items()
    ]


def entries(source: str, records: Sequence[Record], min_tokens: int) -> list[Entry]:
    """The ledger's entries of a source: documents and tokens, and what was too short."""
    counts = total({unit: record.counts[unit] for unit in _COUNTED} for record in records)
    result = []
    for unit, left, short in (("documents", "docs", "short_docs"), ("tokens", "tokens", "short_tokens")):
        gone = {"min_tokens": counts.get(short, 0)} if min_tokens else {}
        result.append(
            Entry("tokenize", source, unit, counts.get(left, 0) + sum(gone.values()), counts.get(left, 0), gone)
        )
    return result


def warm_up() -> None:
    """Load what every tokenize task needs."""
    from gristmill.tokens import encode  # noqa: F401


def run(work: TokenizeWork, folder: Path, stem: str) -> Outcome:
    """The task: encode one chunk's surviving documents."""
    from gristmill.tokens.encode import encoder

    spec = read_spec(Path(work.spec_folder), work.tokenizer)
    tokenizer = encoder(spec)
    notices: list[str] = []
    counts = dict.fromkeys((*_COUNTED, "most_tokens"), 0)

    def encoded() -> Iterator[tuple[Any, Any, Any]]:
        for batch in surviving(work.chunk, ["text"]):
            texts = batch.column("text")
            if counts["docs"] + counts["short_docs"] == 0:
                tokenizer.check(texts)
                if tokenizer.notice:
                    notices.append(tokenizer.notice)
            rows = batch.column("row").to_numpy()
            for tokens in tokenizer.encode_piecewise(texts):
                here, rows = rows[: len(tokens)], rows[len(tokens) :]
                lengths = np.diff(tokens.offsets)
                long_enough = lengths >= work.min_tokens
                counts["short_docs"] += int(len(lengths) - long_enough.sum())
                counts["short_tokens"] += int(lengths[~long_enough].sum())
                counts["docs"] += int(long_enough.sum())
                counts["tokens"] += int(lengths[long_enough].sum())
                counts["most_tokens"] = max(counts["most_tokens"], int(lengths.max(initial=0)))
                yield (here, tokens.offsets, tokens.ids) if long_enough.all() else _only(long_enough, here, tokens)

    token_shard.write(folder / f"{stem}.arrow", spec.fingerprint, encoded())
    return Outcome(counts, [f"{stem}.arrow"], notices)


def _only(chosen: Any, rows: Any, tokens: Any) -> tuple[Any, Any, Any]:
    """The chosen ones of some documents: row numbers, bounds, ids."""
    lengths = np.diff(tokens.offsets)
    offsets = np.concatenate([[0], np.cumsum(lengths[chosen])])
    return rows[chosen], offsets, tokens.ids[np.repeat(chosen, lengths)]
