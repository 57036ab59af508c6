"""`gristmill tokenize`: a folder of raw files in, a training set out, without a recipe.

    raw files → tokenize → [mix → pack] → export

The steps run in OUTPUT.work with the engine of `gristmill run`: a killed command goes on where it was. OUTPUT itself
is whole or absent, as export.py makes it. What is guaranteed: the same bytes for any number of workers and any batch
size; ids equal the Hugging Face tokenizer's for the raw text, nothing cleaned; every row read is in the ledger.
"""

from __future__ import annotations

import shutil
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path

from gristmill.drive import Silent, follow, locked
from gristmill.engine.ledger import Entry, Ledger, total
from gristmill.engine.local import LocalEngine, Observer
from gristmill.engine.pool import worker_count
from gristmill.engine.record import Record
from gristmill.engine.step import Step
from gristmill.export import (
    HIDDEN,
    TrainingSet,
    already_there,
    place_tokenizer,
    publish,
    tokenizer_name,
    wanted_fingerprint,
    work_folder,
)
from gristmill.formats import files, training_sets
from gristmill.formats.row_batch import DOCUMENTS, About
from gristmill.formats.training_sets import Options
from gristmill.recipe import Recipe
from gristmill.route import encode, export, sift, tokenizer
from gristmill.route.shards import of_step
from gristmill.route.steps import mixed_and_packed
from gristmill.tokens.tokenizer import TokenizerSpec

SOURCE = "input"
DEFAULT_CHUNK_ROWS = 10_000
_DOCUMENT_WIDTH = 2048  # a recipe must have a sequence length; that of documents is never looked at


@dataclass(frozen=True)
class Request:
    """What is to be tokenized, and how it is to lie on disk."""

    input_dir: str
    output: Path
    tokenizer: str  # tokenizer.json, a folder with one, or a Hub id
    sequence_length: int | None = None  # None: rows are documents
    strategy: str = "best_fit"
    format: str = "parquet"
    options: Options = field(default_factory=Options)
    chunk_rows: int | None = None  # at most so many documents or rows in a file; None: DEFAULT_CHUNK_ROWS
    batch_docs: int = 200  # encoded at once; the bytes do not depend on it
    text_column: str = "text"
    append_eos: bool = True
    workers: int | str = "auto"
    memory: int | str = "4GB"
    keep_work: bool = False

    def __post_init__(self) -> None:
        for name, value in (("chunk size", self.chunk_rows), ("batch size", self.batch_docs)):
            if value is not None and value < 1:
                raise ValueError(f"expected a {name} of 1 document at least, found {value}")
        if training_sets.format_of(self.format).one_part and self.chunk_rows is not None:
            raise ValueError(f"expected no chunk size for {self.format}, which is one file for all rows")

    def recipe(self) -> Recipe:
        """The same as a recipe. Raises RecipeError with every mistake."""
        local = Path(self.tokenizer).exists() or self.tokenizer.endswith(".json")
        return Recipe.from_dict(
            {
                "sources": [{"name": SOURCE, "path": self.input_dir, "text_column": self.text_column}],
                "tokenizer": {"path" if local else "hub": self.tokenizer, "append_eos": self.append_eos},
                "mixture": {"shuffle": False},
                "pack": {"strategy": self.strategy, "sequence_length": self.sequence_length or _DOCUMENT_WIDTH},
                "output": {"path": str(work_folder(self.output))},
                "engine": {"workers": self.workers, "memory": self.memory},
            },
            "gristmill tokenize",
        )


@dataclass(frozen=True)
class Tokenized:
    """What was made, and its books; None where all was there already."""

    set: TrainingSet
    ledger: Ledger


def tokenize_folder(request: Request, observer: Observer | None = None) -> Tokenized:
    """Bring the output up to date. Raises a GristmillError that says what was found, where, and what to do."""
    recipe = request.recipe()
    spec = tokenizer.load(recipe.tokenizer, None)
    about = _about(request, spec)
    training_sets.check(request.format, about, request.options)
    work = work_folder(request.output)
    [source] = recipe.sources
    spec_step = tokenizer.spec_step(spec)
    chunks = sift.chunks_of(source, recipe.output.chunk, recipe.output.tasks)
    encode_step = encode.step(source, chunks, spec, work / spec_step.name, request.batch_docs)
    made_from = {
        "tokenize": [encode_step.task_fingerprint(task) for task in encode_step.tasks],
        "window": recipe.pack.window,
        "chunk": request.chunk_rows or DEFAULT_CHUNK_ROWS,
    }
    wanted = wanted_fingerprint(request.format, about, request.options, made_from)
    if (there := already_there(request.output, wanted)) is not None:
        return Tokenized(there, Ledger.read(request.output / HIDDEN))
    workers = worker_count(recipe.engine.workers, recipe.engine.memory)
    ledger = Ledger()
    with locked(work):
        files.sweep(work)
        place_tokenizer(work, spec.json_text.encode())
        with LocalEngine(work, workers, observer or Silent()) as engine:
            engine.begin(encode.FIRST_WORK)
            records, expected = follow(
                engine, lambda: _steps(request, recipe, spec, about, spec_step, encode_step, ledger.emptied())
            )
        result = publish(
            work, request.output, request.format, about, request.options, records, wanted, expected, ledger
        )
    if not request.keep_work:
        shutil.rmtree(work)
    return Tokenized(result, ledger)


def _about(request: Request, spec: TokenizerSpec) -> About:
    return About(
        tokenizer=tokenizer_name(request.tokenizer),
        tokenizer_fingerprint=spec.fingerprint,
        vocab_size=spec.vocab_size,
        pad_id=spec.pad_id,
        eos_id=spec.eos_id,
        strategy=DOCUMENTS if request.sequence_length is None else request.strategy,
        sequence_length=request.sequence_length,
        sources=(SOURCE,),
    )


def _steps(
    request: Request,
    recipe: Recipe,
    spec: TokenizerSpec,
    about: About,
    spec_step: Step,
    encode_step: Step,
    ledger: Ledger,
) -> Generator[list[Step], list[list[Record]], tuple[list[Record], tuple[int, int]]]:
    """The route; gives the records of the parts, and how many rows and tokens must be in them."""
    [source] = recipe.sources
    output = Path(recipe.output.path)
    yield [spec_step]
    [encoded] = yield [encode_step]
    rows, docs, tokens = (sum(record.counts[name] for record in encoded) for name in ("rows", "docs", "tokens"))
    gone = total(record.counts["dropped"] for record in encoded)
    if (error := sift.unreadable_error(source, encoded, gone)) is not None:
        raise error
    ledger.add(Entry("tokenize", SOURCE, "documents", rows, docs, gone))
    ledger.require_some("tokenize")
    ledger.add(Entry("tokenize", SOURCE, "tokens", tokens, tokens))
    shards = of_step(SOURCE, encode_step, encoded, output)
    reads: tuple[Step, ...] = (encode_step,)
    if request.sequence_length is None:
        rows_files = [
            export.RowsFile(*shard) for shard in zip(shards.paths, shards.checksums, shards.docs, strict=True)
        ]
    else:
        packed = yield from mixed_and_packed(recipe, output, [shards], spec, reads, ledger)
        [pack_step], [pack_records] = packed.steps, packed.records
        rows_files = [
            export.RowsFile(str(output / pack_step.name / file.path), file.checksum, record.counts["rows"])
            for record in pack_records
            for file in record.files
        ]
        reads = (pack_step,)
    most_rows = request.chunk_rows or DEFAULT_CHUNK_ROWS
    export_step = export.step(request.format, about, request.options, rows_files, most_rows, reads)
    [written] = yield [export_step]
    return written, (sum(file.rows for file in rows_files), ledger.left(SOURCE, "tokens"))
