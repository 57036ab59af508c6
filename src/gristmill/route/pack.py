"""pack: draw plan, token shards → rows of exactly `sequence_length`, document bounds. One task a window of the plan.

Everything in `pack/` but the records is a pure function of recipe and input. A mixture in stages has a folder of rows
for each of them, and `pack/stages.json` says in which order they are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from gristmill.formats.packed_stages import STAGES, write_stages
from gristmill.formats.row_file import I64, Ids
from gristmill.formats.token_shard import TokenShard
from gristmill.route.mix import PLAN_FILE, Asked, folder_of
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
    layout: Layout,
    asked: Asked,
    mixed: Record,
    output: Path,
    shards: Sequence[SourceShards],
    reads: tuple[Step, ...],
) -> Step:
    """The step that packs one stage. The fingerprint of `mix` stands for the shards: it covers their checksums."""
    plan = output / folder_of("mix", asked) / PLAN_FILE
    literals = {"layout": asdict(layout)}
    tasks = [
        Task(
            name=f"{window:05}",
            inputs={"draws": mixed.fingerprint, "window": window},
            work=PackWork(str(plan), window, tuple(shards), layout),
            bytes=int(tokens) * layout.dtype.itemsize,
        )
        for window, tokens in enumerate(mixed.counts["window_tokens"])
    ]
    return Step(folder_of("pack", asked), "gristmill.route.pack:run", VERSION, literals, tasks, reads)


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
        shard = self._shard(number)
        return shard.offsets, shard.ids

    def let_go(self, number: int) -> None:
        """Its pages leave this process, not the system's cache: a window that draws from every shard would else map
        the whole corpus."""
        self._shard(number).let_go()

    def _shard(self, number: int) -> TokenShard:
        status = Path(self._paths[number]).stat()
        return _open(self._paths[number], status.st_ino, status.st_mtime_ns)


@lru_cache(maxsize=_OPEN_SHARDS)
def _open(path: str, inode: int, changed_ns: int) -> TokenShard:
    """Kept between windows; a file that was made again meanwhile is another file."""
    return TokenShard.open(path)


def entries(
    sources: Sequence[SourceShards], packed: Sequence[Sequence[Record]], sequence_length: int
) -> Iterator[Entry]:
    """The ledger's entries: drawn = packed + cropped, by source, over all stages. Raises LedgerError where places and
    tokens differ."""
    records = [record for of_stage in packed for record in of_stage]
    rows = sum(record.counts["rows"] for record in records)
    padding = sum(record.counts["padding_tokens"] for record in records)
    left = 0
    for number, source in enumerate(sources):
        kept = sum(record.counts["packed_tokens"][number] for record in records)
        cropped = sum(record.counts["cropped_tokens"][number] for record in records)
        details = {"rows": rows, "padding_tokens": padding} if number == 0 else {}
        left += kept
        yield Entry("pack", source.name, "tokens", kept + cropped, kept, {"cropped": cropped}, details)
    if left + padding != rows * sequence_length:
        raise LedgerError(
            f"pack: {rows:,} rows have {rows * sequence_length:,} places, but {left:,} tokens and {padding:,} of "
            "padding lie in them"
        )


def write_manifests(
    output: Path, layout: Layout, spec: TokenizerSpec, stages: Sequence[Asked], packed: Sequence[Sequence[Record]]
) -> list[Path]:
    """The last files of a run: a manifest for each stage, the tokenizer beside its rows, and the order of stages."""
    written = []
    for asked, records in zip(stages, packed, strict=True):
        folder = output / folder_of("pack", asked)
        with atomic_file(folder / layout.tokenizer_file) as file:
            file.write(spec.json_text.encode())
        packed_rows.write_manifest(folder, layout, [FileEntry(**record.counts["file"]) for record in records])
        written += [folder / layout.tokenizer_file, folder / packed_rows.MANIFEST]
    names = [asked.name for asked in stages if asked.name]
    write_stages(output / "pack", names)
    return [*written, output / "pack" / STAGES] if names else written
