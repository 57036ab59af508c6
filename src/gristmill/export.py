"""`gristmill export`: a run's packed rows in another format, in a folder that is whole or absent.

    DESTINATION/                       what the other project's reader opens, and nothing else that is not hidden
    DESTINATION/.gristmill/set.json    format, counts, files with checksums, fingerprint
                           tokenizer.json
    DESTINATION.work/                  while it is being made: parts with their records; a killed export goes on there

The same export again finds the fingerprint and does nothing; another one into the same folder takes its place.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from gristmill.drive import Silent, follow, locked, shared
from gristmill.engine.ledger import Ledger
from gristmill.engine.local import LocalEngine, Observer
from gristmill.engine.pool import worker_count
from gristmill.engine.record import Record
from gristmill.engine.step import Step, fingerprint
from gristmill.errors import FormatError, LedgerError, ResumeError
from gristmill.finished import pack_folder, read_recipe
from gristmill.formats import files, training_sets
from gristmill.formats.packed_rows import PackedRows
from gristmill.formats.row_batch import About
from gristmill.formats.training_sets import Options, Part
from gristmill.route import export as route

HIDDEN = ".gristmill"
SET_FILE = "set.json"
TOKENIZER_FILE = "tokenizer.json"


@dataclass(frozen=True)
class TrainingSet:
    """A finished export."""

    folder: Path
    format: str
    rows: int
    tokens: int
    ids: int  # padding included
    files: tuple[dict[str, Any], ...] = field(repr=False)
    fingerprint: str

    @property
    def bytes(self) -> int:
        """On disk, hidden files not counted."""
        return sum(file["bytes"] for file in self.files)

    @staticmethod
    def open(folder: str | Path) -> TrainingSet:
        """Raises FormatError where the folder holds no finished export, or a file of another size."""
        path = Path(folder) / HIDDEN / SET_FILE
        if not path.is_file():
            raise FormatError(f"expected a folder that `gristmill export` or `tokenize` wrote, found none: {folder}")
        found = files.read_json(path)
        result = TrainingSet(Path(folder), **{name: found[name] for name in _KEPT} | {"files": tuple(found["files"])})
        for file in result.files:
            place = result.folder / file["path"]
            if not place.is_file() or place.stat().st_size != file["bytes"]:
                raise FormatError(f"expected {file['bytes']:,} bytes, found another file or none: {place}")
        return result

    def read_rows(self) -> Iterator[Any]:
        """Every row in order: its ids, or its text where the format holds text."""
        names = [file["path"] for file in self.files if file["part"]]
        return training_sets.format_of(self.format).writer().read(self.folder, names)


_KEPT = ("format", "rows", "tokens", "ids", "fingerprint")


def export(
    output: Path,
    format_name: str,
    destination: Path | None = None,
    options: Options | None = None,
    workers: int | str = "auto",
    memory_bytes: int = 4 << 30,
    observer: Observer | None = None,
    stage: str | None = None,
) -> TrainingSet:
    """Write the packed rows of a finished run in another format; of a mixture in stages, those of `stage` or of the
    first. Raises a GristmillError that says what to do."""
    options = options or Options()
    training_sets.format_of(format_name)
    with shared(output):
        return _export(output, format_name, destination, options, workers, memory_bytes, observer or Silent(), stage)


def _export(
    output: Path,
    format_name: str,
    destination: Path | None,
    options: Options,
    workers: int | str,
    memory_bytes: int,
    observer: Observer,
    stage: str | None,
) -> TrainingSet:
    packed = PackedRows.open(pack_folder(output, stage))
    about = about_run(output, packed)
    training_sets.check(format_name, about, options)
    destination = destination or output / "export" / "-".join(filter(None, [format_name, stage]))
    wanted = wanted_fingerprint(format_name, about, options, {"pack": packed.manifest.fingerprint})
    if (there := already_there(destination, wanted)) is not None:
        return there
    rows_files = [
        route.RowsFile(str(packed.folder / entry.name), entry.checksum, entry.rows) for entry in packed.manifest.files
    ]
    work = work_folder(destination)
    with locked(work):
        files.sweep(work)
        place_tokenizer(work, (packed.folder / packed.manifest.layout.tokenizer_file).read_bytes())
        step = route.step(format_name, about, options, rows_files)
        with LocalEngine(work, worker_count(workers, memory_bytes), observer) as engine:
            records = follow(engine, lambda: _only(step))
        expected = (packed.manifest.rows, packed.manifest.tokens)
        result = publish(work, destination, format_name, about, options, records, wanted, expected)
    shutil.rmtree(work)
    return result


def about_run(output: Path, packed: PackedRows) -> About:
    """What the rows of a finished run have in common."""
    layout = packed.manifest.layout
    spec = files.read_json(output / "tokenizer" / "tokenizer.spec.json")
    asked = read_recipe(output)["tokenizer"]
    return About(
        tokenizer=tokenizer_name(asked["hub"] or asked["path"]),
        tokenizer_fingerprint=layout.tokenizer_fingerprint,
        vocab_size=layout.vocab_size,
        pad_id=layout.pad_id,
        eos_id=spec["eos_id"],
        strategy=layout.strategy,
        sequence_length=layout.sequence_length,
        sources=layout.sources,
    )


def tokenizer_name(asked: str | None) -> str:
    """A name for people: the Hub id, or the file's name without the folders above it."""
    if asked is None:
        return "trained with its run"
    return Path(asked).name if Path(asked).exists() else asked


def wanted_fingerprint(format_name: str, about: About, options: Options, made_from: Mapping[str, Any]) -> str:
    """What the content of an export depends on."""
    parameters = {"version": route.VERSION, "format": format_name, "about": asdict(about), "options": asdict(options)}
    return fingerprint({**parameters, "made_from": made_from})


def already_there(destination: Path, wanted: str) -> TrainingSet | None:
    """The finished export of this fingerprint, if it is there. Raises ResumeError where something else is."""
    if (destination / HIDDEN / SET_FILE).is_file():
        try:
            found = TrainingSet.open(destination)
        except FormatError:
            return None
        return found if found.fingerprint == wanted else None
    if destination.is_file() or (destination.is_dir() and any(destination.iterdir())):
        raise ResumeError(
            f"expected no folder yet, an empty one or an earlier export, found something else: {destination}\n"
            "  Name another folder with --output."
        )
    return None


def work_folder(destination: Path) -> Path:
    """Where an export is made: beside its destination, so that giving it its name is one rename."""
    return destination.absolute().with_name(f"{destination.absolute().name}.work")


def place_tokenizer(work: Path, content: bytes) -> None:
    """Lay the tokenizer where parts and index are written: some formats hold it, some need it."""
    with files.atomic_file(work / route.STEP / TOKENIZER_FILE) as file:
        file.write(content)


def publish(
    work: Path,
    destination: Path,
    format_name: str,
    about: About,
    options: Options,
    records: Sequence[Record],
    wanted: str,
    expected: tuple[int, int],
    ledger: Ledger | None = None,
) -> TrainingSet:
    """Put the parts and their index into a new folder, and give it its name. Raises LedgerError where rows or tokens
    are not as expected."""
    parts = [route.part_of(record) for record in records]
    found = (sum(part.rows for part in parts), sum(part.tokens for part in parts))
    if found != expected:
        raise LedgerError(
            f"export: expected {expected[0]:,} rows of {expected[1]:,} tokens, found {found[0]:,} and {found[1]:,}\n"
            f"  This is a mistake of Gristmill's, or a damaged folder: {work}"
        )
    with files.scratch_folder(work) as scratch:
        new = scratch / "new"
        (new / HIDDEN).mkdir(parents=True)
        listed = []
        for record in records:
            for written in record.files:
                _link(work / route.STEP / written.path, new / written.path)
                listed.append({"path": written.path, "part": True, **_measured(written.bytes, written.checksum)})
        tokenizer = work / route.STEP / TOKENIZER_FILE
        listed += _index(new, format_name, about, options, parts, tokenizer)
        _link(tokenizer, new / HIDDEN / TOKENIZER_FILE)
        if ledger is not None:
            ledger.write(new / HIDDEN)
        counts = {"rows": found[0], "tokens": found[1], "ids": sum(part.ids for part in parts)}
        content = {"kind": "training set", "version": 1, "format": format_name, **asdict(about)}
        content |= {"compression": str(options.compression), "shard_bytes": options.shard_bytes, **counts}
        files.write_json(new / HIDDEN / SET_FILE, {**content, "fingerprint": wanted, "files": listed})
        if destination.exists():
            destination.rename(scratch / "old")
        destination.parent.mkdir(parents=True, exist_ok=True)
        new.rename(destination)
    return TrainingSet.open(destination)


def _only(step: Step) -> Generator[list[Step], list[list[Record]], list[Record]]:
    [records] = yield [step]
    return records


def _index(
    new: Path, format_name: str, about: About, options: Options, parts: Sequence[Part], tokenizer: Path
) -> list[dict[str, Any]]:
    names = training_sets.format_of(format_name).writer().write_index(new, about, options, parts)
    if about.sequence_length is not None and format_name == "gristmill":  # its manifest names the file
        _link(tokenizer, new / about.layout.tokenizer_file)
        names.append(about.layout.tokenizer_file)
    return [
        {"path": name, "part": False, **_measured((new / name).stat().st_size, files.checksum(new / name))}
        for name in names
    ]


def _measured(size_bytes: int, checksum: str) -> dict[str, Any]:
    return {"bytes": size_bytes, "checksum": checksum}


def _link(source: Path, target: Path) -> None:
    """A second name for the file; a copy where the file system has none."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
