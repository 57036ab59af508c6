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
from gristmill.route.dedup import SiftedChunk
from gristmill.route.tokenizer import DropFiles, read_spec, surviving
from gristmill.tokens.encode import encoder
from gristmill.tokens.tokenizer import TokenizerSpec

VERSION = 1


@dataclass(frozen=True)
class TokenizeWork:
    """One chunk's documents, what is dropped of them, and the tokenizer."""

    documents: str
    drops: tuple[str, ...]
    tokenizer: str  # fingerprint of the spec that lies in spec_folder
    spec_folder: str


def steps(
    chunks: Sequence[SiftedChunk],
    drop_files: DropFiles,
    spec: TokenizerSpec,
    spec_folder: Path,
    reads: tuple[Step, ...],
) -> list[Step]:
    """One step a source. `drop_files`: of each (source, chunk)."""
    result = []
    for source in dict.fromkeys(chunk.source for chunk in chunks):
        tasks = []
        for chunk in (chunk for chunk in chunks if chunk.source == source):
            documents = chunk.record.file(f"{chunk.stem}.parquet")
            drop = drop_files.get((source, chunk.number), ())
            tasks.append(
                Task(
                    name=chunk.stem,
                    inputs={"documents": documents.checksum, "drops": [file.checksum for _, file in drop]},
                    work=TokenizeWork(
                        str(chunk.folder / documents.path),
                        tuple(str(path) for path, _ in drop),
                        spec.fingerprint,
                        str(spec_folder),
                    ),
                    bytes=int(chunk.record.counts["kept_bytes"]),
                )
            )
        literals = {"tokenizer": spec.fingerprint}
        result.append(Step(f"tokenize/{source}", "gristmill.route.tokenize:run", VERSION, literals, tasks, reads))
    return result


def run(work: TokenizeWork, folder: Path, stem: str) -> Outcome:
    """The task: encode one chunk's surviving documents."""
    spec = read_spec(Path(work.spec_folder), work.tokenizer)
    tokenizer = encoder(spec)
    notices: list[str] = []
    counts = {"docs": 0, "tokens": 0, "most_tokens": 0}

    def encoded() -> Iterator[tuple[Any, Any, Any]]:
        for batch in surviving(Path(work.documents), [Path(path) for path in work.drops], ["text"]):
            texts = batch.column("text")
            if counts["docs"] == 0:
                tokenizer.check(texts)
                if tokenizer.notice:
                    notices.append(tokenizer.notice)
            tokens = tokenizer.encode(texts)
            lengths = np.diff(tokens.offsets)
            counts["docs"] += len(batch)
            counts["tokens"] += int(lengths.sum())
            counts["most_tokens"] = max(counts["most_tokens"], int(lengths.max()))
            yield batch.column("row").to_numpy(), tokens.offsets, tokens.ids

    token_shard.write(folder / f"{stem}.arrow", spec.fingerprint, encoded())
    return Outcome(counts, [f"{stem}.arrow"], notices)
