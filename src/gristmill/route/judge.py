"""judge: signals → verdicts. No text is read, so a changed bound costs what reading a few numbers costs.

Every row read is kept or carries a reason: why it was unreadable, or the first rule it breaks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.engine.ledger import total
from gristmill.engine.record import Record
from gristmill.engine.step import Outcome, Step, Task
from gristmill.formats.documents import DocumentWriter, read_batches
from gristmill.units import Choice

if TYPE_CHECKING:  # a worker would spend 0.1 s on loading the schema
    from gristmill.recipe import Recipe, Source

VERSION = 2
SCHEMA = pa.schema(
    [
        pa.field("row", pa.int32(), nullable=False),
        pa.field("verdict", pa.dictionary(pa.int16(), pa.string())),  # null: kept
    ]
)


@dataclass(frozen=True)
class JudgeWork:
    """One chunk's signals, and who judges."""

    signals: str
    filters: tuple[Choice, ...]


def step(recipe: Recipe, source: Source, sifted: Step, records: Sequence[Record], output: Path) -> Step:
    """The step that judges one source."""
    filters = recipe.filters_of(source)
    tasks = []
    for task, record in zip(sifted.tasks, records, strict=True):
        signals = record.file(f"{task.name}.signals.parquet")
        work = JudgeWork(str(output / sifted.name / signals.path), filters)
        tasks.append(Task(task.name, {"signals": signals.checksum}, work, signals.bytes))
    literals = {"filters": [choice.literals("filter") for choice in filters]}
    name = sifted.name.replace("sift/", "judge/", 1)
    return Step(name, "gristmill.route.judge:run", VERSION, literals, tasks, (sifted,), sifted.meanwhile)


def run(work: JudgeWork, folder: Path, stem: str) -> Outcome:
    """The task: judge one chunk."""
    from gristmill.filters.histogram import histogram
    from gristmill.filters.sequence import FilterSequence, verdicts_of

    filters = FilterSequence([choice.make("filter") for choice in work.filters])
    dropped: dict[str, int] = {}
    rules = {name: {"broken": 0, "alone": 0} for name in filters.rule_names()}
    bounds = filters.bounds()
    bounded = sorted({rule.signal for rule in bounds.values()})
    histograms: dict[str, dict[str, int]] = {name: {} for name in bounded}
    kept = kept_bytes = 0
    names = filters.signal_names()
    with DocumentWriter(folder / f"{stem}.parquet", SCHEMA, "verdicts") as writer:
        for batch in read_batches(Path(work.signals), ["row", "verdict", *names]):
            base = batch.column("verdict").cast(pa.string())
            judged = pc.is_null(base).to_numpy(zero_copy_only=False)
            signals = {name: _values(batch.column(name)) for name in names}
            broken = [(name, which & judged) for name, which in filters.broken_rules(signals)]
            verdicts = verdicts_of(base, broken)
            writer.write(pa.record_batch({"row": batch.column("row"), "verdict": verdicts.dictionary_encode()}))
            for item in pc.value_counts(verdicts.drop_null()).to_pylist():
                dropped[item["values"]] = dropped.get(item["values"], 0) + item["counts"]
            for name in bounded:
                histograms[name] = total([histograms[name], histogram(signals[name][judged])])
            times_broken = sum((which.astype(np.int32) for _, which in broken), np.zeros(len(batch), np.int32))
            for name, which in broken:
                rule = rules.setdefault(name, {"broken": 0, "alone": 0})
                rule["broken"] += int(which.sum())
                rule["alone"] += int((which & (times_broken == 1)).sum())
            keep = pc.is_null(verdicts)
            kept += int(pc.sum(keep).as_py() or 0)
            kept_bytes += int(pc.sum(batch.column("bytes").filter(keep)).as_py() or 0)
    counts = {
        "kept": kept,
        "kept_bytes": kept_bytes,
        "dropped": dict(sorted(dropped.items())),
        "rules": rules,
        "bounds": {name: [rule.signal, rule.minimum, rule.maximum] for name, rule in bounds.items()},
        "histograms": histograms,
    }
    return Outcome(counts, [f"{stem}.parquet"])


def _values(column: Any) -> Any:
    """A column of signals as numbers; what a null stands for is never looked at."""
    if pa.types.is_string(column.type) or pa.types.is_dictionary(column.type):
        return column
    return column.fill_null(0).to_numpy(zero_copy_only=False) if column.null_count else column.to_numpy()
