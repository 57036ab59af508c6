"""What a task reads: a chunk, made of pieces of raw files. Plain data, picklable, the same for any worker count."""

from __future__ import annotations

from dataclasses import dataclass

# One of these lies in every folder that Hugging Face's `save_to_disk` made.
SAVED_DATASET_MARKS = ("state.json", "dataset_dict.json")
MOST_DOCUMENT_BYTES = 64 << 20  # a longer text is counted as `skipped.too_long`, unless the source says otherwise
_LEAST_RECORD_BYTES = 16 << 20  # what a record may always have: more than any block in which files are read


@dataclass(frozen=True)
class Columns:
    """Which columns of the raw rows become a document. Plain text has no columns: all of it is the text."""

    text: str = "text"
    id: str | None = None
    metadata: tuple[str, ...] = ()
    most_bytes: int = MOST_DOCUMENT_BYTES  # of a text; longer ones are not worth the memory that they take

    @property
    def most_record_bytes(self) -> int:
        """How long a line may be that such a text stands in, its escapes and other values included."""
        return max(2 * self.most_bytes, _LEAST_RECORD_BYTES)

    @property
    def wanted(self) -> tuple[str, ...]:
        """All of them: the text, the id if there is one, the metadata."""
        return (self.text, *([self.id] if self.id is not None else []), *self.metadata)


@dataclass(frozen=True)
class InputFile:
    """One raw file as it was found. `stamp` changes whenever the file does; the path is not part of it."""

    path: str
    bytes: int
    stamp: str


@dataclass(frozen=True)
class Piece:
    """A range of one raw file. What start and stop count depends on the format (see registry.py): decompressed
    bytes, row groups, record batches or rows. A record belongs to the piece in which it starts."""

    path: str
    format: str
    start: int
    stop: int | None  # exclusive; None: to the end of the file, however far that is
    bytes: int  # size on disk of what will be read, for progress and estimates
    stamp: str
    options: tuple[tuple[str, str], ...] = ()  # what else the format must know, e.g. (("split", "train"),)

    def option(self, name: str) -> str | None:
        """The option of that name, None where it was not given."""
        return dict(self.options).get(name)


@dataclass(frozen=True)
class Chunk:
    """One task's worth of input: consecutive pieces, cut by a recipe constant."""

    pieces: tuple[Piece, ...]
    limit: int | None = None  # read this many rows at most, good and bad ones

    @property
    def bytes(self) -> int:
        """Bytes on disk, for progress and estimates."""
        return sum(piece.bytes for piece in self.pieces)
