"""Raw files → token shards in one task a chunk: what `gristmill tokenize` does in place of sift, judge and tokenize.

Nothing is filtered and no text is written. Rows without text are counted by reason, texts are made valid UTF-8 and
otherwise encoded as they are, so their ids are those of `tokenizers` for the raw text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc

from gristmill import sources
from gristmill.cleaning.sequence import EMPTY
from gristmill.engine.step import Outcome, Step, Task
from gristmill.formats import token_shard
from gristmill.route.sift import MOST_EXAMPLES, piece_inputs, unreadable_rows
from gristmill.route.tokenizer import read_spec
from gristmill.sources.piece import Chunk, Columns
from gristmill.tokens.tokenizer import TokenizerSpec

if TYPE_CHECKING:  # a worker would spend 0.1 s on loading the schema
    from gristmill.recipe import Source

VERSION = 1
FIRST_WORK = "gristmill.route.encode:warm_up"


@dataclass(frozen=True)
class EncodeWork:
    """One chunk, and the tokenizer."""

    chunk: Chunk
    columns: Columns
    tokenizer: str  # fingerprint of the spec that lies in spec_folder
    spec_folder: str
    batch_docs: int  # encoded at once; the ids do not depend on it


def step(source: Source, chunks: Sequence[Chunk], spec: TokenizerSpec, spec_folder: Path, batch_docs: int) -> Step:
    """The step that reads and encodes one source."""
    columns = Columns(source.text_column)
    tasks = [
        Task(
            f"{number:05}",
            piece_inputs(chunk),
            EncodeWork(chunk, columns, spec.fingerprint, str(spec_folder), batch_docs),
            chunk.bytes,
        )
        for number, chunk in enumerate(chunks)
    ]
    literals = {"tokenizer": spec.fingerprint, "column": source.text_column}
    return Step(f"tokenize/{source.name}", "gristmill.route.encode:run", VERSION, literals, tasks, in_order=True)


def warm_up() -> None:
    """Load what every task needs."""
    from gristmill.kernels import utf8  # noqa: F401
    from gristmill.sources import batches, jsonl  # noqa: F401
    from gristmill.tokens import encode  # noqa: F401


def run(work: EncodeWork, folder: Path, stem: str) -> Outcome:
    """The task: read and encode one chunk."""
    from gristmill.cleaning.unicode import Unicode
    from gristmill.tokens.encode import encoder

    spec = read_spec(Path(work.spec_folder), work.tokenizer)
    tokenizer = encoder(spec)
    counts = dict.fromkeys(("rows", "docs", "bytes", "tokens", "most_tokens"), 0)
    gone: Counter[str] = Counter()
    examples: list[str] = []

    def encoded() -> Iterator[token_shard.Batch]:
        for batch in sources.read(work.chunk, work.columns):
            numbers = np.arange(counts["rows"], counts["rows"] + len(batch), dtype=np.int32)
            counts["rows"] += len(batch)
            for item in pc.value_counts(batch["unreadable"].drop_null()).to_pylist():
                gone[item["values"]] += item["counts"]
            if len(examples) < MOST_EXAMPLES:
                examples.extend(unreadable_rows(batch, work.chunk))
            texts = Unicode().clean(batch["text"])
            has_text = pc.greater(pc.binary_length(texts).fill_null(0), 0)
            used = np.flatnonzero(has_text.to_numpy(zero_copy_only=False))
            gone[EMPTY] += batch["unreadable"].null_count - len(used)
            yield from _encoded(texts.filter(has_text), numbers[used])

    def _encoded(texts: Any, numbers: Any) -> Iterator[token_shard.Batch]:
        if counts["docs"] == 0:
            tokenizer.check(texts)
        counts["bytes"] += int(pc.sum(pc.binary_length(texts)).as_py() or 0)
        for first in range(0, len(texts), work.batch_docs):
            for tokens in tokenizer.encode_piecewise(texts.slice(first, work.batch_docs)):
                rows, numbers = numbers[: len(tokens)], numbers[len(tokens) :]
                counts["docs"] += len(tokens)
                counts["tokens"] += len(tokens.ids)
                counts["most_tokens"] = max(counts["most_tokens"], int(np.diff(tokens.offsets).max()))
                yield rows, tokens.offsets, tokens.ids

    token_shard.write(folder / f"{stem}.arrow", spec.fingerprint, encoded())
    found = {reason: count for reason, count in sorted(gone.items()) if count}
    more = {"dropped": found, "unreadable_rows": examples[:MOST_EXAMPLES]}
    return Outcome({**counts, **more}, [f"{stem}.arrow"], [tokenizer.notice] if tokenizer.notice else [])
