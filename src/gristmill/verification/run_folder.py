"""What lies in the folder of a finished run, told from its records alone: neither raw input nor recipe is asked.

What enters: an output folder. What leaves: its chunks in order, with the files that say what became of their rows,
and its stages with plan and packed rows. A record that is missing or damaged is a FormatError that names it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from gristmill.engine import record as records
from gristmill.engine.record import Record
from gristmill.errors import FormatError
from gristmill.finished import read_recipe
from gristmill.formats.packed_rows import Manifest
from gristmill.formats.packed_stages import read_stages
from gristmill.route.mix import PLAN_FILE
from gristmill.route.shards import SourceShards
from gristmill.route.survivors import ChunkFiles, SiftedChunk
from gristmill.route.tokenizer import spec_in
from gristmill.tokens.tokenizer import TokenizerSpec


@dataclass(frozen=True)
class RunChunk:
    """One chunk, from its raw rows to its token shard."""

    sifted: SiftedChunk
    tokenized: Record
    shard: Path

    @property
    def name(self) -> str:
        """What people call it."""
        return f"{self.sifted.source}/{self.sifted.stem}"

    @property
    def files(self) -> ChunkFiles:
        """Which documents survive, and what they say."""
        return self.sifted.files()

    @property
    def signals(self) -> Path:
        """A row for each row read."""
        return self.sifted.output / "sift" / self.sifted.source / f"{self.sifted.stem}.signals.parquet"


@dataclass(frozen=True)
class RunStage:
    """One stage of the mixture; a mixture without stages is one of no name."""

    name: str
    plan: Path
    folder: Path  # of its packed rows
    records: tuple[Record, ...]  # of its windows, in order

    @cached_property
    def manifest(self) -> Manifest:
        """What its rows have in common, and their files."""
        return Manifest.read(self.folder)


@dataclass(frozen=True)
class RunFolder:
    """A finished run."""

    path: Path

    @cached_property
    def recipe(self) -> dict[str, Any]:
        """The recipe as plain data: nothing that it names is imported."""
        return read_recipe(self.path)

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """The names of the sources, in the order of the recipe."""
        return tuple(source["name"] for source in self.recipe["sources"])

    @cached_property
    def spec(self) -> TokenizerSpec:
        """The tokenizer."""
        return spec_in(self.path / "tokenizer")

    @cached_property
    def chunks(self) -> list[RunChunk]:
        """All chunks, in the order of the route."""
        return [chunk for source in self.sources for chunk in self._chunks_of(source)]

    @cached_property
    def shards(self) -> tuple[SourceShards, ...]:
        """Each source's token shards."""
        of_source = {name: [chunk for chunk in self.chunks if chunk.sifted.source == name] for name in self.sources}
        return tuple(
            SourceShards(
                name,
                tuple(str(chunk.shard) for chunk in chunks),
                tuple(chunk.tokenized.files[0].checksum for chunk in chunks),
                tuple(int(chunk.tokenized.counts["docs"]) for chunk in chunks),
            )
            for name, chunks in of_source.items()
        )

    @cached_property
    def stages(self) -> list[RunStage]:
        """The stages of the mixture, in order."""
        return [
            RunStage(name, self.path / "mix" / name / PLAN_FILE, folder, tuple(_all_records(folder).values()))
            for name in read_stages(self.path / "pack") or [""]
            for folder in [self.path / "pack" / name]
        ]

    @cached_property
    def _deduplicated(self) -> dict[str, tuple[str, records.WrittenFile]]:
        """Checksum → step and file: tasks name what they read by what is in it."""
        return {
            file.checksum: (str(path.parent.relative_to(self.path)), file)
            for path in sorted((self.path / "dedup").rglob("*.json"))
            if (record := records.read(path.parent, path.stem)) is not None
            for file in record.files
        }

    def _chunks_of(self, source: str) -> list[RunChunk]:
        stages = ("sift", "judge", "tokenize")
        sifted, judged, tokenized = (_all_records(self.path / stage / source) for stage in stages)
        chunks = []
        for number, (stem, of_sift) in enumerate(sifted.items()):
            for stage, found in (("judge", judged), ("tokenize", tokenized)):
                if stem not in found:
                    raise FormatError(
                        f"expected a record of each chunk, found none: {self.path / stage / source / stem}.json\n"
                        "  Run `gristmill run` again to make this chunk again."
                    )
            chunk = SiftedChunk(source, number, self.path, of_sift, judged[stem])
            read = tokenized[stem].made_from["inputs"]
            chunk.drops += [self._deduplicated[checksum] for checksum in read["drops"]]
            chunk.cuts += [self._deduplicated[checksum] for checksum in read["cuts"]]
            shard = self.path / "tokenize" / source / f"{stem}.arrow"
            chunks.append(RunChunk(chunk, tokenized[stem], shard))
        return chunks


def _all_records(folder: Path) -> dict[str, Record]:
    """The records in a folder, by the names of their tasks, in order."""
    found = {path.stem: records.read(folder, path.stem) for path in sorted(folder.glob("*.json"))}
    return {name: record for name, record in found.items() if record is not None}
