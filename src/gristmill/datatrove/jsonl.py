"""datatrove's JsonlReader and JsonlWriter, for pipelines in which they are what takes the time.

The reader gives the same documents: it asks once a file, not once a document, where the file lies, and decompresses
gzip with isal. One thing differs: a line that is not UTF-8 is passed over with a warning, as a line that is not JSON
is; datatrove leaves the rest of the file.

The writer writes the same lines. Where it compresses to gzip it uses isal: other bytes that hold the same lines,
somewhat more of them, at a multiple of the speed.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from typing import Any

import orjson
from datatrove.io import OutputFileManager
from datatrove.pipeline.readers import jsonl as their_reader
from datatrove.pipeline.readers.base import BaseReader
from datatrove.pipeline.writers import jsonl as their_writer
from datatrove.utils.logging import logger
from fsspec.utils import infer_compression
from isal import igzip

from gristmill.datatrove import stats

_READ_BYTES = 1 << 20
_LINES_AT_ONCE = 256
_ISAL_LEVEL = 2


class _Lengths:
    """Lengths of documents that are yet to be counted."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, Any]] = []

    def note(self, document: Any) -> None:
        self._waiting.append((len(document.text), document.metadata.get("token_count")))

    def count(self, step: Any) -> int:
        """How many they were."""
        documents = len(self._waiting)
        stats.add(step, "doc_len", [length for length, _ in self._waiting], "doc")
        stats.add(step, "doc_len_tokens", [tokens for _, tokens in self._waiting if tokens], "doc")
        self._waiting.clear()
        return documents


class JsonlReader(their_reader.JsonlReader):
    """The same documents of the same files."""

    def run(self, data: Any = None, rank: int = 0, world_size: int = 1) -> Iterator[Any]:
        """Yields documents; their lengths are counted at the end."""
        self._lengths = _Lengths()
        try:
            yield from super().run(data, rank, world_size)
        finally:
            self._lengths.count(self)

    def update_doc_stats(self, document: Any) -> None:
        """Count it later."""
        self._lengths.note(document)

    def read_file(self, filepath: str) -> Iterator[Any]:
        """Yields the documents of a file."""
        place = self.data_folder.resolve_paths(filepath) if self.add_file_path else None
        number = 0
        with self._opened(filepath) as file:
            while lines := file.readlines(_READ_BYTES):
                with self.track_time("batch"):
                    documents = [self._document(line, filepath, row, place) for row, line in enumerate(lines, number)]
                    number += len(lines)
                yield from filter(None, documents)

    def _document(self, line: bytes, filepath: str, number: int, place: str | None) -> Any:
        try:
            row = orjson.loads(line)
            for media in row.get("media", ()):
                if media["media_bytes"] is not None:
                    media["media_bytes"] = base64.decodebytes(media["media_bytes"].encode("ascii"))
            document = BaseReader.get_document_from_dict(self, row, filepath, number)
        except (EOFError, orjson.JSONDecodeError) as error:
            logger.warning(f"Error when reading `{filepath}`: {error}")
            return None
        if document and place is not None:
            document.metadata.setdefault("file_path", place)
        return document

    def _opened(self, filepath: str) -> Any:
        compression = infer_compression(filepath) if self.compression == "infer" else self.compression
        if compression != "gzip":
            return io.BufferedReader(self.data_folder.open(filepath, "rb", compression=compression), _READ_BYTES)
        return io.BufferedReader(_Gzip(self.data_folder.open(filepath, "rb"), "rb"), _READ_BYTES)


class _Gzip(igzip.IGzipFile):
    """A gzip file that closes the file below with itself."""

    def __init__(self, raw: Any, mode: str) -> None:
        super().__init__(filename="", fileobj=raw, mode=mode, compresslevel=_ISAL_LEVEL, mtime=0)
        self._raw_below = raw

    def close(self) -> None:
        """Both."""
        super().close()
        self._raw_below.close()


class _GzipFiles(OutputFileManager):
    """Opens output files that isal compresses."""

    def get_file(self, filename: str) -> Any:
        """The open file of this name."""
        if filename not in self._output_files:
            self._output_files[filename] = _Gzip(self.fs.open(filename, mode=self.mode), self.mode)
        return self._output_files[filename]


class JsonlWriter(their_writer.JsonlWriter):
    """The same lines in the same files."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        if self.compression == "gzip":
            self.output_mg: Any = _GzipFiles(self.output_folder, "wb", None)
        # Adapters of the user's, files by metadata or of a certain size: those are datatrove's own.
        by_rank = self.output_filename.safe_substitute(rank="") == self.output_filename.template.replace("${rank}", "")
        plain = self.adapter.__func__ is their_writer.JsonlWriter._default_adapter
        self._is_simple = by_rank and "$" not in self.output_filename.safe_substitute(rank="") and plain
        self._is_simple &= self.max_file_size <= 0
        self._lengths = _Lengths()
        self._lines: dict[Any, list[bytes]] = {}

    def write(self, document: Any, rank: int = 0, **named: Any) -> None:
        """Keep a line; some of them go to the file together."""
        if not self._is_simple or named or document.media:
            super().write(document, rank, **named)
            return
        row: dict[str, Any] = {"text": document.text, "id": document.id, "metadata": document.metadata}
        row = {key: value for key, value in row.items() if value}
        if self.expand_metadata:
            row |= row.pop("metadata", {})
        lines = self._lines.setdefault(rank, [])
        lines.append(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE, default=their_writer._json_default))
        self._lengths.note(document)
        if len(lines) >= _LINES_AT_ONCE:
            self._flush(rank)

    def run(self, data: Any, rank: int = 0, world_size: int = 1) -> Iterator[Any]:
        """Writes each document and yields it."""
        with self:
            for document in data:
                self.write(document, rank)
                yield document

    def close(self) -> None:
        """Write what waits, then close the files."""
        for rank in list(self._lines):
            self._flush(rank)
        super().close()

    def _flush(self, rank: Any) -> None:
        with self.track_time("batch"):
            lines = self._lines.pop(rank)
            name = self.output_filename.substitute(rank=str(rank).zfill(5))
            self._get_output_file_with_retry(name).write(b"".join(lines))
            written = self._lengths.count(self)
            stats.count(self, self.output_filename.substitute(rank="XXXXX"), written)
            stats.count(self, "total", written)
