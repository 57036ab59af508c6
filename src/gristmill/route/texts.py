"""texts: the surviving documents as JSON lines for other tools, where the recipe asks for `output.texts`.

`ORG_NAME/CONFIG/00000.jsonl.gz` below the output folder, one file a chunk, with the lines
`{"text", "id", "metadata": {"source", "config", "weight"}}`. A source without a dataset id goes by its name, one
without a config by `default`.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from gristmill.document import buffers, large_strings, strings
from gristmill.engine.step import Outcome, Step, Task
from gristmill.errors import RecipeError
from gristmill.formats.files import atomic_file
from gristmill.route.survivors import ChunkFiles, SiftedChunk, surviving

if TYPE_CHECKING:  # a worker would spend 0.1 s on loading the schema
    from gristmill.recipe import Recipe, Source

VERSION = 1
STAGE_FOLDERS = ("sift", "judge", "dedup", "tokenizer", "tokenize", "mix", "pack")
_LEVEL = 1  # of gzip: higher ones take most of a run's time


@dataclass(frozen=True)
class TextsWork:
    """One chunk's documents, and what stands in the metadata of all of them."""

    chunk: ChunkFiles
    metadata: str  # a JSON object


def steps(recipe: Recipe, chunks: Sequence[SiftedChunk], reads: tuple[Step, ...]) -> list[Step]:
    """One step a folder. Sources of one dataset and config share it, one after the other."""
    tasks: dict[str, list[Task]] = {}
    for source in recipe.sources:
        metadata = _metadata(recipe, source)
        of_folder = tasks.setdefault(_folder_of(source), [])
        for chunk in chunks:
            if chunk.source == source.name:
                inputs = {**chunk.inputs(), "metadata": metadata}
                work = TextsWork(chunk.files(), metadata)
                text_bytes = int(chunk.judged.counts["kept_bytes"])
                of_folder.append(Task(f"{len(of_folder):05}", inputs, work, bytes=text_bytes))
    return [
        Step(folder, "gristmill.route.texts:run", VERSION, {}, of_folder, reads) for folder, of_folder in tasks.items()
    ]


def _folder_of(source: Source) -> str:
    """Where the texts of a source lie below the output."""
    name = source.dataset.strip("/").replace("/", "_") if source.dataset else source.name
    if name in STAGE_FOLDERS:
        raise RecipeError(f"expected another name for source `{name}`, whose texts would lie among those of a stage")
    return f"{name}/{source.config or 'default'}"


def run(work: TextsWork, folder: Path, stem: str) -> Outcome:
    """The task: write one chunk's survivors."""
    from gristmill.kernels.json_escape import json_strings

    name = f"{stem}.jsonl.gz"
    docs = 0
    end = pa.scalar(f', "metadata": {work.metadata}}}\n', pa.large_string())
    begin, between, nothing = (pa.scalar(text, pa.large_string()) for text in ('{"text": ', ', "id": ', ""))
    with (
        atomic_file(folder / name) as file,
        gzip.GzipFile(filename="", mode="wb", compresslevel=_LEVEL, fileobj=file, mtime=0) as lines,
    ):
        for batch in surviving(work.chunk, ["id", "text"]):
            text, id_ = (strings(*json_strings(*buffers(large_strings(batch.column(key))))) for key in ("text", "id"))
            written = pc.binary_join_element_wise(begin, text, between, id_, end, nothing)
            offsets, data = buffers(written)
            lines.write(data[offsets[0] : offsets[-1]].data)
            docs += len(batch)
    return Outcome({"docs": docs}, [name])


def _metadata(recipe: Recipe, source: Source) -> str:
    weight: Any = source.weight
    if recipe.mixture.stages:
        weight = {stage.name: stage.weights.get(source.name, 0.0) for stage in recipe.mixture.stages}
    values = {"source": source.dataset or source.name, "config": source.config or "default", "weight": weight}
    return json.dumps(values, ensure_ascii=False)
