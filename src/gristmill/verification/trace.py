"""One document's whole story: from its raw file and position to its places in packed rows, or to where it went.

What enters: a finished run and a name of the document. What leaves: a story for each row that is meant, as plain data.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.formats import cuts, drops
from gristmill.formats.documents import read_batches
from gristmill.formats.draw_plan import DrawPlan
from gristmill.formats.row_file import RowFile
from gristmill.formats.token_shard import TokenShard
from gristmill.verification.find_document import Place, find_document, id_of
from gristmill.verification.raw_row import cleaned, signals_of, where_read
from gristmill.verification.run_folder import RunFolder

_MOST_STORIES = 10


def stories_of(output: Path, wanted: str) -> list[dict[str, Any]]:
    """The stories of what is meant, the first ones. Raises RecipeError, with near names, where nothing is."""
    run = RunFolder(output)
    return [_story(run, place) for place in find_document(run, wanted)[:_MOST_STORIES]]


def _story(run: RunFolder, place: Place) -> dict[str, Any]:
    chunk = place.chunk.sifted
    story: dict[str, Any] = {
        "id": id_of(place), "source": chunk.source, "chunk": chunk.number, "row": place.row, "raw": where_read(place),
    }  # fmt: skip
    verdict = _verdict(place)
    if story["id"] is not None:
        story["cleaned"] = cleaned(run, place)
        story |= {"signals": _signals(place), "rules": _rules(place)}
    story["verdict"] = verdict
    if verdict is None:
        story |= {"dedup": _dedup(run, place), "duplicates": _duplicates(run, place)}
        story["tokens"] = tokens = _tokens(place)
        if tokens and "shard" in tokens:
            document = _ordinal(run, place, tokens["document"])
            story["draws"] = [_drawn(run, stage, chunk.source, document) for stage in run.stages]
            story["packed"] = [
                part for stage in run.stages for part in _packed(run, stage, run.sources.index(chunk.source), document)
            ]
    story["end"] = _end(story)
    return story


def _verdict(place: Place) -> str | None:
    for batch in read_batches(Path(place.chunk.files.verdicts), ["row", "verdict"]):
        at = pc.index(batch.column("row"), pa.scalar(place.row, pa.int32())).as_py()
        if at >= 0:
            found: str | None = batch.column("verdict")[at].as_py()
            return found
    raise AssertionError(f"no verdict on row {place.row}: {place.chunk.files.verdicts}")


def _signals(place: Place) -> dict[str, Any]:
    """What filters measured; sketches are not for people."""
    return {
        name: value for name, value in signals_of(place).items() if "." in name and isinstance(value, (int, float, str))
    }


def _rules(place: Place) -> list[dict[str, Any]]:
    """Every rule with its bounds and the document's value."""
    signals = signals_of(place)
    rules = []
    for name, (signal, least, most) in place.chunk.sifted.judged.counts["bounds"].items():
        value = signals.get(signal)
        kept = value is None or ((least is None or value >= least) and (most is None or value <= most))
        rules.append({"rule": name, "value": value, "minimum": least, "maximum": most, "kept": kept})
    return rules


def _dedup(run: RunFolder, place: Place) -> list[dict[str, Any]]:
    """What deduplicators did to it: dropped, for whose sake, or cut."""
    chunk, found = place.chunk, []
    for path in chunk.files.drops:
        for batch in read_batches(Path(path), drops.SCHEMA.names):
            for row in batch.filter(pc.equal(batch.column("row"), place.row)).to_pylist():
                found.append({"dropped": row["kind"], "survivor": _survivor(run, place, row)})
    for path in chunk.files.cuts:
        of_unit = cuts.read(Path(path))
        which = np.flatnonzero(of_unit.row == place.row)
        spans = [[int(of_unit.start[one]), int(of_unit.stop[one])] for one in which]
        if spans:
            found.append({"cut": str(Path(path).relative_to(run.path).parts[1]), "byte_spans": spans})
    return found


def _survivor(run: RunFolder, place: Place, drop: dict[str, Any]) -> dict[str, Any] | None:
    """The document for whose sake this one went; None where it is not known by name, or is this one itself."""
    here = (place.chunk.sifted.source, place.chunk.sifted.number, place.row)
    there = (drop["survivor_source"], drop["survivor_chunk"], drop["survivor_row"])
    if there[0] is None or there == here:
        return None
    [chunk] = [one for one in run.chunks if (one.sifted.source, one.sifted.number) == there[:2]]
    return {"id": id_of(Place(chunk, there[2])), "source": there[0], "chunk": there[1], "row": there[2]}


def _duplicates(run: RunFolder, place: Place) -> int:
    """How many documents went for this one's sake."""
    here, count = place.chunk.sifted, 0
    for path in {path for chunk in run.chunks for path in chunk.files.drops}:
        for batch in read_batches(Path(path), drops.SCHEMA.names):
            same = pc.and_(pc.equal(batch.column("survivor_chunk"), here.number),
                           pc.equal(batch.column("survivor_row"), place.row))  # fmt: skip
            of_source = pc.equal(batch.column("survivor_source").cast(pa.string()), here.source)
            count += int(pc.sum(pc.and_(same, of_source)).as_py() or 0)
    return count


def _tokens(place: Place) -> dict[str, Any] | None:
    """Where its tokens are; why there are none; None where it did not come so far."""
    shard = TokenShard.open(place.chunk.shard)
    at = int(np.searchsorted(shard.rows, place.row))
    if at < len(shard) and shard.rows[at] == place.row:
        return {"shard": str(place.chunk.shard), "document": at, "tokens": int(shard.lengths[at])}
    gone = any(place.row in drops.read_rows(Path(path)) for path in place.chunk.files.drops)
    return None if gone else {"gone": "tokenizer.min_tokens", "least": place.chunk.tokenized.made_from["min_tokens"]}


def _ordinal(run: RunFolder, place: Place, in_shard: int) -> int:
    """Its number among all documents of its source."""
    source = run.shards[run.sources.index(place.chunk.sifted.source)]
    return sum(source.docs[: place.chunk.sifted.number]) + in_shard


def _drawn(run: RunFolder, stage: Any, source: str, document: int) -> dict[str, Any]:
    times = 0
    number = run.sources.index(source)
    with DrawPlan(stage.plan) as plan:
        for window in range(len(plan)):
            draws = plan.window_draws(window)
            times += int(np.count_nonzero((draws.source == number) & (draws.document == document)))
    return {"stage": stage.name, "times": times}


def _packed(run: RunFolder, stage: Any, source: int, document: int) -> Iterator[dict[str, Any]]:
    """Each of its parts: file, row (in the file, and among all rows), columns, and which of its tokens lie there."""
    first = 0
    for entry in stage.manifest.files:
        file = RowFile.open(stage.folder / entry.name, stage.manifest.layout)
        segments = file.segments
        for part in np.flatnonzero((segments.source == source) & (segments.document == document)).tolist():
            row = int(np.searchsorted(segments.offsets, part, side="right")) - 1
            last = part + 1 == int(segments.offsets[row + 1])
            begin = int(segments.start[part])
            end = int(file.lengths[row]) if last else int(segments.start[part + 1])
            yield {
                "stage": stage.name, "file": str(stage.folder / entry.name), "row": row, "row_of_all": first + row,
                "columns": [begin, end], "first_token": int(segments.token[part]), "tokens": end - begin,
            }  # fmt: skip
        first += entry.rows


def _end(story: dict[str, Any]) -> str:
    """How the story ends, in a sentence."""
    if story["verdict"] is not None:
        return f"dropped: {story['verdict']}"
    if dropped := next((step for step in story["dedup"] if "dropped" in step), None):
        return f"dropped: {dropped['dropped']}"
    if "gone" in (story["tokens"] or {}):
        return f"dropped: {story['tokens']['gone']}"
    times = sum(stage["times"] for stage in story["draws"])
    if times == 0:
        return "kept, tokenized, not drawn"
    tokens = sum(part["tokens"] for part in story["packed"])
    cropped = times * story["tokens"]["tokens"] - tokens
    cut_off = f", {cropped:,} tokens cropped" if cropped else ""
    return f"drawn {times} times, packed into {len(story['packed'])} places{cut_off}"
