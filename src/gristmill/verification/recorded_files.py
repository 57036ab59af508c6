"""Every file that a record speaks of: is it there, with the bytes that were written?"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gristmill.engine import record as records
from gristmill.engine.record import WrittenFile
from gristmill.errors import GristmillError
from gristmill.formats import files
from gristmill.quantities import show_bytes
from gristmill.verification.check import Check
from gristmill.verification.run_folder import RunFolder


def check_files(output: Path, threads: int) -> Check:
    """Checksums of all files below a run's folder, in threads: hashing and reading wait for no one; and its records,
    which know their own."""
    listed = [(folder / file.path, file) for folder, file in _recorded(output)]
    check = check_listed(listed, threads)
    for path in sorted(output.rglob("*.json")):
        check.looked(1)
        if records.is_damaged(path):
            check.fails(f"damaged (or of another version): {path}")
    return check


def check_listed(listed: list[tuple[Path, WrittenFile]], threads: int) -> Check:
    """The same for files that are listed elsewhere."""
    check = Check("files are as they were written", "files")
    check.note = show_bytes(sum(file.bytes for _, file in listed))
    with ThreadPoolExecutor(max(1, threads)) as pool:
        for problem in pool.map(_problem, listed):
            check.looked(1)
            if problem:
                check.fails(problem)
    return check


def check_manifests(run: RunFolder) -> Check:
    """The manifests say what the records of packing say."""
    check = Check("manifests list the packed rows", "files")
    for stage in run.stages:
        try:
            listed = [(entry.name, entry.checksum) for entry in stage.manifest.files]
        except GristmillError as error:
            check.looked(1)
            check.fails(str(error).split("\n", 1)[0])
            continue
        written = [(file.path, file.checksum) for record in stage.records for file in record.files]
        check.looked(len(listed))
        differing = sorted({*listed} ^ {*written})
        if listed != written:
            place = differing[0][0] if differing else "their order"
            check.fails(f"{stage.folder / 'manifest.json'}: {place}", len({name for name, _ in differing}) or 1)
    return check


def _recorded(output: Path) -> Iterator[tuple[Path, WrittenFile]]:
    """Each file that a record lists, and the record's folder."""
    for path in sorted(output.rglob("*.json")):
        record = records.read(path.parent, path.stem)
        for file in record.files if record is not None else ():
            yield path.parent, file


def _problem(item: tuple[Path, WrittenFile]) -> str | None:
    path, file = item
    try:
        return None if files.checksum(path) == file.checksum else f"damaged (its checksum differs): {path}"
    except FileNotFoundError:
        return f"missing: {path}"
    except OSError as error:
        return f"cannot be read ({error.strerror}): {path}"
