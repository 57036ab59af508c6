"""The list of what was planted, beside the corpus: `planted.json`, written last, so it also says that all is there."""

from __future__ import annotations

import os
from dataclasses import asdict
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from gristmill.demo.corpus import DOCUMENTS, SEED, DemoCorpus, generate
from gristmill.formats.files import read_json, write_json

MANIFEST = "planted.json"


def write_corpus(folder: str | os.PathLike[str], documents: int = DOCUMENTS, seed: int = SEED) -> DemoCorpus:
    """Write the demo corpus of about so many rows into the folder, and say what is hidden in it."""
    manifest = Path(folder) / MANIFEST
    manifest.unlink(missing_ok=True)
    corpus = generate(Path(folder), documents, seed)
    files = {source: path.name for source, path in corpus.files.items()}
    write_json(manifest, {"made_by": _made_by(documents, seed), **asdict(corpus), "files": files})
    return corpus


def prepare(folder: str | os.PathLike[str] = "demo-output/corpus") -> DemoCorpus:
    """The demo corpus in the folder; written there only if it is not there yet, or was written by another version."""
    manifest = Path(folder) / MANIFEST
    found: dict[str, Any] = read_json(manifest) if manifest.exists() else {}
    if found.get("made_by") != _made_by(DOCUMENTS, SEED):
        return write_corpus(folder)
    return DemoCorpus(
        files={source: Path(folder) / name for source, name in found["files"].items()},
        documents=found["documents"],
        planted={kind: tuple(ids) for kind, ids in found["planted"].items()},
        originals=found["originals"],
    )


def _made_by(documents: int, seed: int) -> dict[str, object]:
    return {"generator": _generator(), "documents": documents, "seed": seed}


@cache
def _generator() -> str:
    """SHA-256 of the code and the vocabularies that make the corpus."""
    files = sorted(path for path in Path(__file__).parent.iterdir() if path.suffix in (".py", ".yaml"))
    return sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
