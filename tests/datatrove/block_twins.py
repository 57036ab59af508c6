"""The same pipeline of datatrove's blocks and of ours: what each leaves on disk, and its stats."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

Pipelines = Callable[[Any, Path], list[tuple[int, list[Any]]]]


def their_blocks() -> Any:
    """datatrove's classes by name, as ours are."""
    from datatrove.pipeline import dedup, filters
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.tokens import DocumentTokenizer
    from datatrove.pipeline.writers import JsonlWriter

    named = {name: getattr(module, name) for module in (dedup, filters) for name in dir(module)}
    return SimpleNamespace(
        **named, JsonlReader=JsonlReader, JsonlWriter=JsonlWriter, DocumentTokenizer=DocumentTokenizer
    )


def our_blocks() -> Any:
    import gristmill.datatrove

    return gristmill.datatrove


def run(pipelines: Pipelines, blocks: Any, folder: Path, workers: int = 1) -> list[list[dict[str, Any]]]:
    """Run (tasks, pipeline) one after the other; returns their stats without times."""
    from datatrove.executor import LocalPipelineExecutor

    folder.mkdir()
    found = []
    for number, (tasks, pipeline) in enumerate(pipelines(blocks, folder)):
        logs = folder / f"logs_{number}"
        LocalPipelineExecutor(pipeline, tasks=tasks, workers=workers, logging_dir=str(logs)).run()
        found.append(json.loads((logs / "stats.json").read_text()))
    return [[{key: of for key, of in one.items() if key != "time_stats"} for one in stats] for stats in found]


def _totals(stats: dict[str, Any]) -> dict[str, Any]:
    return {name: of["total"] if isinstance(of, dict) else of for name, of in stats["stats"].items()}


def files_of(folder: Path) -> dict[str, bytes]:
    """Everything but the logs, decompressed."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_file() and not name.startswith("logs_"):
            found[name] = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return found


def check_twins(pipelines: Pipelines, folder: Path, workers: int = 1) -> dict[str, bytes]:
    """Both leave the same files and stats; returns the files."""
    theirs = run(pipelines, their_blocks(), folder / "theirs")
    ours = run(pipelines, our_blocks(), folder / "ours", workers)
    if workers == 1:
        assert ours == theirs
    else:  # tasks are added up as they end: the last digits of means are not always the same
        assert [[_totals(one) for one in stats] for stats in ours] == [
            [_totals(one) for one in stats] for stats in theirs
        ]
    found, expected = files_of(folder / "ours"), files_of(folder / "theirs")
    assert found.keys() == expected.keys()
    for name, content in expected.items():
        there, here = ((re.sub(rb"/(ours|theirs)/", b"/", one)) for one in (content, found[name]))
        assert here == there, name
    return found


def write_jsonl(folder: Path, files: Iterable[Iterable[dict[str, Any]]]) -> str:
    """A file for each list of documents."""
    folder.mkdir(parents=True)
    for number, documents in enumerate(files):
        lines = (json.dumps(document, ensure_ascii=False) + "\n" for document in documents)
        (folder / f"{number:02}.jsonl").write_text("".join(lines), encoding="utf-8")
    return str(folder)
