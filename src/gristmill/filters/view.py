"""What several filters need of a batch of texts, computed once, when first asked for."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.document import Bytes, Offsets, buffers

if TYPE_CHECKING:
    from gristmill.kernels.words import Words

_BYTES_BEHIND = 128  # more than any kernel reads behind a text

Made = TypeVar("Made")
ALL_METADATA = "*"  # as a column: the whole of each document's metadata, as JSON


class TextView:
    """A batch of texts (large_string, no nulls) and what has been measured of it so far."""

    def __init__(
        self, texts: Any, column: Callable[[str], Any] | None = None, own_buffers: tuple[Offsets, Bytes] | None = None
    ) -> None:
        """`column(name)` gives a metadata column of the same documents; without it none has any. `own_buffers`: the
        same texts as kernels are to read them, where that is elsewhere."""
        self.texts = texts
        self._column = column
        self.offsets, self.data = buffers(texts) if own_buffers is None else own_buffers
        self._words: dict[str, Words] = {}
        self._known_words: dict[str, Callable[[], Words]] = {}
        self._made: dict[Hashable, Any] = {}

    def __len__(self) -> int:
        return len(self.texts)

    def beside(self, texts: Any) -> TextView:
        """A view of other texts of the same documents."""
        return TextView(texts, self._column)

    def parts(self, most_bytes: int) -> Iterator[TextView]:
        """The documents in views of so many bytes of text (or of one longer text) each. Behind the texts of each there
        are bytes to be read, so that no kernel has to copy them for that."""
        if len(self) == 0:
            yield self
            return
        limits = np.arange(self.offsets[0], max(self.offsets[-1], self.offsets[0] + 1), most_bytes)
        starts = np.unique(np.searchsorted(self.offsets[:-1], limits)).tolist()
        for start, stop in pairwise([*starts, len(self)]):
            offsets, data = self.offsets[start : stop + 1], self.data
            if offsets[-1] + _BYTES_BEHIND > data.size:
                data = np.concatenate([data[offsets[0] : offsets[-1]], np.zeros(_BYTES_BEHIND, np.uint8)])
                offsets = offsets - offsets[0]
            texts = self.texts.slice(start, stop - start)
            yield TextView(texts, partial(self._column_of_part, start, stop - start), (offsets, data))

    def _column_of_part(self, start: int, documents: int, name: str) -> Any:
        return self.once(("column", name), lambda: self.column(name)).slice(start, documents)

    def column(self, name: str) -> Any:
        """One key of the documents' metadata: a large_string array, null where it is missing."""
        return pa.nulls(len(self), pa.large_string()) if self._column is None else self._column(name)

    @cached_property
    def lengths_bytes(self) -> npt.NDArray[np.int64]:
        """Bytes of each text."""
        return np.diff(self.offsets)

    @cached_property
    def lengths_characters(self) -> npt.NDArray[np.int64]:
        """Code points of each text."""
        return pc.utf8_length(self.texts).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]

    @cached_property
    def lengths_words(self) -> npt.NDArray[np.int64]:
        """Words of each text, as white space parts them."""
        from gristmill.kernels import utf8

        words = np.empty(len(self), np.int64)
        utf8.count_words(self.offsets, self.data, words)
        return words

    def words(self, splitter: str) -> Words:
        """The words of each text, as this splitter has them (see filters/words.py)."""
        from gristmill.filters import words

        if splitter in self._known_words:
            self._words[splitter] = self._known_words.pop(splitter)()
        elif splitter not in self._words:
            self._words[splitter] = words.split(splitter, self.offsets, self.data)
        return self._words[splitter]

    def has_words(self, splitter: str) -> bool:
        """Whether `words(splitter)` was asked for before."""
        return splitter in self._words

    def know_words(self, splitter: str, words: Callable[[], Words]) -> None:
        """Take over what `words(splitter)` would find, when it is asked for, from who has it already."""
        self._known_words[splitter] = words

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """What `make` gives, made when first asked for: what a filter measures on and then writes."""
        if key not in self._made:
            self._made[key] = make()
        made: Made = self._made[key]
        return made
