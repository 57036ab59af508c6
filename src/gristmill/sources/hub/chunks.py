"""A dataset's files as chunks, cut by their sizes alone; and pieces of them as local files, once somebody reads them.

Nothing is downloaded to be cut: sizes come from the listing, expansions are guesses. So a compressed file has ranges of
decompressed bytes of which the last may be long, and a columnar file is cut into shares of its row groups, which are
counted when it is there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

from gristmill.sources.hub.asking import patiently
from gristmill.sources.hub.listing import files_of, repository
from gristmill.sources.piece import Chunk, Piece
from gristmill.sources.registry import COMPRESSIONS, FORMATS, Cut, compression, format_name, unit_bytes

ADDRESS = "hub://"
_SHARES = "shares"


def chunks(
    dataset: str, config: str | None, split: str, chunk_bytes: int, limit_docs: int | None, tasks: int | None
) -> list[Chunk]:
    """The files of a config's split as chunks of about `chunk_bytes`, or as about so many `tasks`; a limit makes it
    one chunk."""
    found = repository(dataset)
    whole = []
    for file in files_of(found, config, split):
        name = format_name(file.path, {})
        assert name is not None
        path = f"{ADDRESS}{dataset}@{found.commit}/{file.path}"
        whole.append(Piece(path, name, 0, None, file.bytes, file.stamp))
    if limit_docs is not None:
        return [Chunk(tuple(whole), limit_docs)]
    if tasks is not None:
        chunk_bytes = max(1, int(sum(map(_expected_bytes, whole)) / tasks))
    return [Chunk((piece,)) for file in whole for piece in _cut(file, chunk_bytes)]


def _expected_bytes(piece: Piece) -> float:
    """Of uncompressed data: a guess."""
    return piece.bytes * COMPRESSIONS.get(compression(piece.path) or "", 1.0) * FORMATS[piece.format].expansion


def _cut(piece: Piece, chunk_bytes: int) -> Iterator[Piece]:
    cut = FORMATS[piece.format].cut
    count = max(1, -int(-_expected_bytes(piece) // chunk_bytes))
    if count == 1 or cut not in (Cut.UNITS, Cut.BYTES, Cut.STREAM):
        yield piece
        return
    for number in range(count):
        share = replace(piece, start=number, stop=number + 1, bytes=piece.bytes // count)
        if cut is Cut.UNITS:
            yield replace(share, options=((_SHARES, str(count)),))
        else:
            stop = (number + 1) * chunk_bytes if number + 1 < count else None
            yield replace(share, start=number * chunk_bytes, stop=stop)


def fetched(piece: Piece) -> Piece:
    """The same piece of a file on this machine; one of another origin is returned as it is."""
    if not piece.path.startswith(ADDRESS):
        return piece
    local = replace(piece, path=_download(piece.path))
    shares = piece.option(_SHARES)
    if shares is None:
        return local
    units = len(unit_bytes(piece.format)(local.path))
    assert piece.stop is not None
    return replace(local, start=piece.start * units // int(shares), stop=piece.stop * units // int(shares), options=())


def _download(address: str) -> str:
    place, _, path = address.removeprefix(ADDRESS).partition("@")
    commit, _, path = path.partition("/")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")  # a bar of its own for each worker would be in the way
    from huggingface_hub import hf_hub_download

    return patiently(lambda: hf_hub_download(place, path, repo_type="dataset", revision=commit), f"{place}/{path}")
