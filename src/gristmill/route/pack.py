"""pack: draw plan, token shards → rows of exactly `sequence_length`, document bounds. One task a window of the plan.

Everything in `pack/` but the records is a pure function of recipe and input.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gristmill.engine.ledger import Entry
from gristmill.engine.record import Record
from gristmill.engine.step import Outcome, Step, Task
from gristmill.errors import LedgerError
from gristmill.formats import packed_rows
from gristmill.formats.draw_plan import DrawPlan
from gristmill.formats.files import atomic_file
from gristmill.formats.packed_rows import FileEntry, Layout
from gristmill.formats.row_file import I64, Ids
from gristmill.formats.token_shard import TokenShard
from gristmill.route.mix import PLAN_FILE
from gristmill.route.shards import SourceShards
from gristmill.tokens.tokenizer import TokenizerSpec

if TYPE_CHECKING:  # a worker would spend 0.1 s on loading the schema
    from gristmill.recipe import Recipe

VERSION = 1
_OPEN_SHARDS = 4096  # memory maps a worker keeps between windows


@dataclass(frozen=True)
class PackWork:
    """One window, and where its tokens are."""

    plan: str
    window: int
    sources: tuple[SourceShards, ...]
    layout: Layout


def step(
    recipe: Recipe,
    mixed: Record,
    folder: Path,
    shards: Sequence[SourceShards],
    spec: TokenizerSpec,
    reads: tuple[Step, ...],
) -> Step:
    """The step that packs. The fingerprint of `mix` stands for the shards: it covers their checksums."""
    layout = layout_of(recipe, shards, spec)
    literals = {"layout": asdict(layout)}
    tasks = [
        Task(
            name=f"{window:05}",
            inputs={"draws": mixed.fingerprint, "window": window},
            work=PackWork(str(folder / PLAN_FILE), window, tuple(shards), layout),
            bytes=int(tokens) * layout.dtype.itemsize,
        )
        for window, tokens in enumerate(mixed.counts["window_tokens"])
    ]
    return Step("pack", "gristmill.route.pack:run", VERSION, literals, tasks, reads)


def layout_of(recipe: Recipe, shards: Sequence[SourceShards], spec: TokenizerSpec) -> Layout:
    """What all rows of this run have in common."""
    return Layout(
        sequence_length=recipe.pack.sequence_length,
        strategy=recipe.pack.strategy,
        pad_id=spec.eos_id or 0,  # never read as text: labels at padding are -100
        vocab_size=spec.vocab_size,
        tokenizer_fingerprint=spec.fingerprint,
        sources=tuple(source.name for source in shards),
    )


def run(work: PackWork, folder: Path, stem: str) -> Outcome:
    """The task: plan one window's rows, gather their ids, write them."""
    from gristmill.packing.books import count_tokens
    from gristmill.packing.gather import gather, segments_of
    from gristmill.packing.packers import PACKERS

    with DrawPlan(work.plan) as plan:
        planned = PACKERS[work.layout.strategy].plan_window(plan, work.window, work.layout.sequence_length)
        ids = gather(planned, [_Shards(source) for source in work.sources], work.layout.pad_id, work.layout.dtype)
        lengths = planned.bins.row_lengths().astype(np.uint32)
        name = f"{stem}.arrow"
        entry = packed_rows.write(folder / name, work.layout, ids, lengths, segments_of(planned))
        books = count_tokens(planned, len(work.sources))
    return Outcome({**asdict(books), "file": asdict(entry)}, [name])


class _Shards:
    """The token shards of one source, as packing.gather wants them."""

    def __init__(self, source: SourceShards) -> None:
        self.name = source.name
        self.first_document: I64 = np.concatenate([[0], np.cumsum(np.array(source.docs, np.int64))])
        self._paths = source.paths

    def shard(self, number: int) -> tuple[I64, Ids]:
        """Offsets and ids of one shard, memory-mapped."""
        status = Path(self._paths[number]).stat()
        shard = _open(self._paths[number], status.st_ino, status.st_mtime_ns)
        return shard.offsets, shard.ids


@lru_cache(maxsize=_OPEN_SHARDS)
def _open(path: str, inode: int, changed_ns: int) -> TokenShard:
    """Kept between windows; a file that was made again meanwhile is another file."""
    return TokenShard.open(path)


def entries(sources: Sequence[SourceShards], packed: Sequence[Record], sequence_length: int) -> list[Entry]:
    """The ledger's entries: drawn = packed + cropped, by source. Raises LedgerError where places and tokens differ."""
    rows = sum(record.counts["rows"] for record in packed)
    padding = sum(record.counts["padding_tokens"] for record in packed)
    result = []
    for number, source in enumerate(sources):
        kept = sum(record.counts["packed_tokens"][number] for record in packed)
        cropped = sum(record.counts["cropped_tokens"][number] for record in packed)
        details = {"rows": rows, "padding_tokens": padding} if number == 0 else {}
        result.append(Entry("pack", source.name, "tokens", kept + cropped, kept, {"cropped": cropped}, details))
    places = rows * sequence_length
    if sum(entry.left for entry in result) + padding != places:
        raise LedgerError(
            f"pack: {rows:,} rows have {places:,} places, but {sum(entry.left for entry in result):,} tokens and "
            f"{padding:,} of padding lie in them"
        )
    return result


def write_manifest(folder: Path, layout: Layout, spec: TokenizerSpec, packed: Sequence[Record]) -> None:
    """The last files of a run: the manifest, and the tokenizer beside the rows."""
    with atomic_file(folder / layout.tokenizer_file) as file:
        file.write(spec.json_text.encode())
    packed_rows.write_manifest(folder, layout, [FileEntry(**record.counts["file"]) for record in packed])
