"""What is refused before the first batch: impossible options, no pack, rows of another length or tokenizer."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, TypeAlias

from gristmill.errors import FormatError, RecipeError, ResumeError, TokenizerError, unknown_name
from gristmill.formats.packed_rows import MANIFEST, Manifest, PackedRows
from gristmill.formats.packed_stages import read_stages
from gristmill.places.opened import fetcher_of, opened

Framework: TypeAlias = Literal["numpy", "torch", "pinned"]  # what batches are made of

_PACK = "pack"
_STAGES = ("sift", "dedup", "tokenize", "mix", _PACK)
_FRAMEWORKS = ("auto", "numpy", "torch")


def check_options(
    batch_size: int,
    rank: int,
    world_size: int,
    shuffle_seed: int | None,
    epochs: int | None,
    workers: int,
    prefetch: int,
    framework: str,
) -> None:
    """Raises RecipeError that names every option of `load` that cannot be."""
    rules = (
        ("batch_size", batch_size, batch_size >= 1, "1 or more"),
        ("world_size", world_size, world_size >= 1, "1 or more"),
        ("rank", rank, 0 <= rank < max(world_size, 1), "a number from 0, below world_size"),
        ("shuffle_seed", shuffle_seed, 0 <= (shuffle_seed or 0) < 1 << 64, "None or a number from 0 to 2^64 - 1"),
        ("epochs", epochs, epochs is None or epochs >= 1, "None or 1 or more"),
        ("workers", workers, workers >= 0, "0 or more"),
        ("prefetch", prefetch, prefetch >= 1, "1 or more"),
    )
    problems = [f"{name}: expected {expected}, found {found!r}" for name, found, holds, expected in rules if not holds]
    if framework not in _FRAMEWORKS:
        problems.append(unknown_name("framework", framework, _FRAMEWORKS))
    if problems:
        raise RecipeError("expected options that a loader can have, found others", problems)


def choose_framework(asked: str, pin_memory: bool) -> Framework:
    """What batches are made of. Raises RecipeError where torch is needed and not installed, or not wanted."""
    installed = find_spec("torch") is not None
    if (asked == "torch" or pin_memory) and not installed:
        raise RecipeError('expected torch, found it is not installed.\n  Run `pip install "gristmill[train]"`.')
    if asked == "numpy" and pin_memory:
        raise RecipeError('expected framework "torch" for pin_memory, found "numpy": arrays are never pinned')
    if pin_memory:
        from gristmill.loader.torch_data import can_pin_memory

        return "pinned" if can_pin_memory() else "torch"
    return "torch" if installed and asked != "numpy" else "numpy"


def find_stages(path: str | os.PathLike[str]) -> list[Path]:
    """The packs of a run in stages, in order; none where `path` is another."""
    folder = opened(path)
    for candidate in (folder / _PACK, folder):
        if names := read_stages(candidate):
            return [candidate / name for name in names]
    return []


def find_pack(path: str | os.PathLike[str]) -> Path:
    """The pack folder at `path`, which is that folder or the output folder of a run."""
    folder = Path(path)
    for candidate in (folder / _PACK, folder):
        if (candidate / MANIFEST).is_file():
            return candidate
    if any((folder / stage).is_dir() for stage in _STAGES) or any(folder.glob("*.arrow")):
        raise ResumeError(
            f"expected the output folder of a finished run, or its pack, found one without {MANIFEST}: {folder}\n"
            "  Run `gristmill run` with the same recipe again: it goes on where it stopped."
        )
    found = "a folder of something else" if folder.is_dir() else "a file" if folder.exists() else "nothing"
    raise FormatError(
        f"expected the output folder of a run or the `{_PACK}` folder in it, found {found}: {folder}\n"
        "  Run `gristmill run RECIPE`, and load the path that the recipe names as `output`."
    )


def open_pack(path: str | os.PathLike[str]) -> PackedRows:
    """The rows at `path`. Raises FormatError where there are none."""
    folder = find_pack(opened(path))
    packed = PackedRows.open(folder, fetcher_of(folder))
    if not len(packed):
        raise FormatError(f"expected packed rows, found a pack without any: {folder}")
    return packed


def check_sequence_length(manifest: Manifest, expected: int, folder: Path) -> None:
    """Raises FormatError where the rows have another length."""
    found = manifest.layout.sequence_length
    if found != expected:
        raise FormatError(
            f"expected rows of {expected} tokens, found rows of {found}: {folder}\n"
            f"  Set `pack: {{sequence_length: {expected}}}` in the recipe and run it again; only pack runs anew."
        )


def check_strategy(manifest: Manifest, expected: Sequence[str], path: str | os.PathLike[str]) -> None:
    """Raises FormatError where the rows were packed in another way."""
    found = manifest.layout.strategy
    if found not in expected:
        raise FormatError(
            f"expected rows packed as {' or '.join(expected)}, found {found}: {path}\n"
            f"  Set `pack: {{strategy: {expected[0]}}}` in the recipe and run it again; only pack runs anew."
        )


def check_tokenizer(manifest: Manifest, expected: str | os.PathLike[str], folder: Path) -> None:
    """Raises FormatError where the rows were made with another tokenizer.

    `expected` is a tokenizer.json, a folder with one, or a fingerprint.
    """
    layout, path = manifest.layout, Path(expected)
    path = path / "tokenizer.json" if path.is_dir() else path
    if path.is_file():
        same = _definition(path) == _definition(folder / layout.tokenizer_file)
        wanted = str(path)
    else:
        same = str(expected) == layout.tokenizer_fingerprint
        wanted = f"fingerprint {expected} (there is no such file)"
    if not same:
        raise FormatError(
            f"expected rows made with the tokenizer {wanted}, found rows of another one, "
            f"fingerprint {layout.tokenizer_fingerprint}: {folder}\n"
            f"  Load the model's tokenizer from {folder / layout.tokenizer_file}, or name yours in the recipe and run "
            "it again."
        )


def _definition(path: Path) -> str:
    """The tokenizer as `tokenizers` writes it, without how it was last called: comparable across its versions."""
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises nothing narrower
        raise TokenizerError(f"expected a tokenizer.json, found something else ({error}): {path}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return str(tokenizer.to_str())
