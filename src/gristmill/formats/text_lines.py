"""Rows as texts: `00000.jsonl`, `.jsonl.zst` or `.jsonl.gz`, one object `{"text": ...}` a line.

A document is decoded without the end-of-sequence token behind it: tokenizing the text again gives its ids. Of a
packed row all real tokens are decoded, special ones spelled out, so that the documents' ends stay visible.
Decoding is the work of `tokenizers`, at a few MB/s a core: this format is for eyes and other tools.
"""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

import zstandard

from gristmill.formats import files
from gristmill.formats.row_batch import DOCUMENTS, About, RowBatch
from gristmill.formats.training_sets import Compression, Options, Part

TOKENIZER_FILE = "tokenizer.json"
_ENDINGS = {"none": "", "zstd": ".zst", "gzip": ".gz"}
_ROWS_AT_ONCE = 200


class TextLines:
    """Writes and reads JSONL. `tokenizer.json` has to lie in the folder."""

    def write_part(
        self, folder: Path, stem: str, about: About, options: Options, batches: Iterable[RowBatch]
    ) -> tuple[list[str], Mapping[str, Any]]:
        """One file, some rows decoded at a time."""
        name = f"{stem}.jsonl{_ENDINGS[options.compression.codec]}"
        tokenizer = _tokenizer(str(folder / TOKENIZER_FILE))
        ids = 0
        with files.atomic_file(folder / name) as file, _compressed(file, options.compression) as lines:
            for batch in batches:
                for texts in _decoded(tokenizer, about, batch):
                    lines.write(
                        "".join(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in texts).encode()
                    )
                ids += len(batch.ids)
        return [name], {"ids": ids}

    def write_index(self, folder: Path, about: About, options: Options, parts: Sequence[Part]) -> list[str]:
        """Nothing."""
        return []

    def count(self, folder: Path, part: Part) -> tuple[int, int]:
        """Lines are counted; how many ids were decoded into them only the writer knows."""
        with _open(folder / part.files[0]) as lines:
            return sum(1 for _ in lines), part.details["ids"]

    def read(self, folder: Path, files: Sequence[str]) -> Iterator[Any]:
        """Every text."""
        for name in files:
            with _open(folder / name) as lines:
                yield from (json.loads(line)["text"] for line in lines)


@lru_cache(maxsize=2)
def _tokenizer(path: str) -> Any:
    from tokenizers import Tokenizer

    return Tokenizer.from_file(path)


def _decoded(tokenizer: Any, about: About, batch: RowBatch) -> Iterator[list[str]]:
    ends = (batch.offsets[:-1] + batch.lengths).tolist()
    begins = batch.offsets[:-1].tolist()
    if about.strategy == DOCUMENTS and about.eos_id is not None:
        ends = [
            end - (end > begin and batch.ids[end - 1] == about.eos_id) for begin, end in zip(begins, ends, strict=True)
        ]
    for first in range(0, batch.rows, _ROWS_AT_ONCE):
        some = slice(first, first + _ROWS_AT_ONCE)
        rows = [batch.ids[begin:end].tolist() for begin, end in zip(begins[some], ends[some], strict=True)]
        yield tokenizer.decode_batch(rows, skip_special_tokens=False)


@contextmanager
def _compressed(file: IO[bytes], compression: Compression) -> Iterator[Any]:
    if compression.codec == "zstd":
        with zstandard.ZstdCompressor(compression.level or 1).stream_writer(file, closefd=False) as stream:
            yield stream
    elif compression.codec == "gzip":
        with gzip.GzipFile("", "wb", compression.level or 6, file, mtime=0) as stream:  # no name, no time: same bytes
            yield stream
    else:
        yield file


def _open(path: Path) -> Any:
    if path.suffix == ".zst":
        return io.BufferedReader(zstandard.open(path, "rb"))
    return gzip.open(path) if path.suffix == ".gz" else open(path, "rb")
