"""Deduplication by spans of sentences, in datatrove's three steps.

The files are datatrove's, byte for byte, so steps of datatrove's own and of these may follow each other:

    NNNN/RANK.c4_sig   step 1: hash, document, first sentence of each span, sorted; NNNN is the finder that reads it
    NNNN/RANK.c4_dup   step 2: document and first sentence of spans that occur before

Kernels know English sentences (or lines), the default normal form, and xxHash64; with anything else each step works as
datatrove's own.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from datatrove.pipeline.dedup import sentence_dedup as theirs
from datatrove.utils.hashing import HashConfig
from datatrove.utils.logging import logger
from datatrove.utils.text import TextNormConfig
from datatrove.utils.typeshelper import ExtensionHelperSD

from gristmill.datatrove import stats
from gristmill.datatrove.batches import batches, column_of
from gristmill.datatrove.cut_sentences import Cut, cut, is_left_enough
from gristmill.datatrove.merging import stretches
from gristmill.datatrove.words import is_english
from gristmill.dedup.sentences import Sentences
from gristmill.document import buffers

_PLACE = np.dtype([("doc", "<u4"), ("sent", "<u2")])


def _unit(config: theirs.SentDedupConfig) -> Sentences:
    return Sentences(config.n_sentences, config.split_sentences)


class SentenceDedupSignature(theirs.SentenceDedupSignature):
    """The same signatures."""

    def run(self, data: Iterable[Any], rank: int = 0, world_size: int = 1) -> None:
        """Writes a file for each finder that has something to read."""
        signatures = []
        first = 0
        for batch in batches(data):
            with self.track_time("batch"):
                stats.count(self, "total", len(batch))
                signatures.append(self._signatures(batch, first))
                first += len(batch)
        empty = np.empty(0, [("hash", self.config.hash_config.np_descr), *_PLACE.descr])
        with self.track_time("batch"):
            self.save_hashes(rank, np.concatenate([empty, *signatures]))

    def save_hashes(self, rank: int, signatures: npt.NDArray[Any]) -> None:
        """Sort and write them, to each finder its share of the hashes; none to finders behind the last signature."""
        order = np.lexsort([signatures["sent"], signatures["doc"], signatures["hash"]])
        signatures = signatures[order]
        hashes, most = signatures["hash"], self.config.hash_config.max
        each = most // self.finder_workers
        begin = 0
        for finder in range(self.finder_workers):
            last = most if finder == self.finder_workers - 1 else (finder + 1) * each
            end = int(np.searchsorted(hashes, hashes.dtype.type(last), side="right"))
            name = f"{finder:04d}/{rank:05d}{ExtensionHelperSD.stage_1_signature}"
            with self.output_folder.open(name, mode="wb") as file:
                file.write(signatures[begin:end].tobytes())
            begin = end
            if end == len(signatures):
                break

    def _signatures(self, batch: list[Any], first: int) -> npt.NDArray[Any]:
        texts = column_of([document.text for document in batch]) if self._has_kernels() else None
        kind = [("hash", self.config.hash_config.np_descr), *_PLACE.descr]
        if texts is None:
            each = [found for row, document in enumerate(batch, first) for found in self.get_hashes(document, row)]
            return np.array(each, kind)
        offsets, bytes_ = buffers(texts)
        unit = _unit(self.config)
        pieces, looked_at = unit.pieces(offsets, bytes_)
        hashes, _, start = unit.spans(pieces, looked_at, bytes_)
        # An empty document's only piece begins where the next one's first does, and is never meant.
        piece = np.searchsorted(pieces.start, start, "right") - 1
        document = np.searchsorted(pieces.first, piece, "right") - 1
        sentence = piece - pieces.first[document]
        if sentence.max(initial=0) > np.iinfo(np.uint16).max:
            raise OverflowError("expected documents of at most 65,536 sentences, which is what the format can hold")
        found = np.empty(len(hashes), kind)
        found["hash"], found["doc"], found["sent"] = hashes, document + first, sentence
        return found

    def _has_kernels(self) -> bool:
        usual = self.config.norm_config == TextNormConfig() and self.config.hash_config == HashConfig()
        return usual and (not self.config.split_sentences or is_english(self.tokenizer))


class SentenceFindDedups(theirs.SentenceFindDedups):
    """The same duplicates, a stretch of hashes at a time."""

    def run(self, data: Any = None, rank: int = 0, world_size: int = 1) -> None:
        """Writes for each task the places of its duplicates."""
        with self.track_time("corpus"):
            names = self._inputs(rank, world_size)
            indexes = self.index_folder.list_files() if self.index_folder else []
            hash_kind = [("hash", self.config.hash_config.np_descr)]
            kinds = [np.dtype([*hash_kind, *_PLACE.descr])] * len(names) + [np.dtype(hash_kind)] * len(indexes)
            files = [
                *self.data_folder.open_files(names),
                *(self.index_folder.open_files(indexes) if indexes else ()),
            ]
            stems = [Path(name).name.removesuffix(ExtensionHelperSD.stage_1_signature) for name in names]
            output = self.output_folder.get_output_file_manager(mode="wb")
            with contextlib.ExitStack() as stack:
                for file in files:
                    stack.enter_context(file)
                for parts in stretches(files, kinds, lambda records: records["hash"]):
                    for stem, places in zip(stems, self._repeated(parts, len(names)), strict=True):
                        if len(places):
                            name = f"{rank:04d}/{stem}{ExtensionHelperSD.stage_2_duplicates}"
                            output.write(name, places.tobytes())
            output.close()

    def _inputs(self, rank: int, world_size: int) -> list[str]:
        if world_size > 1:
            names: list[str] = self.data_folder.list_files(
                subdirectory=f"{rank:04d}", glob_pattern=ExtensionHelperSD.stage_1_signature
            )
            return names
        names = self.data_folder.list_files(glob_pattern="*/*" + ExtensionHelperSD.stage_1_signature)
        if any(not name.startswith("0000/") for name in names):
            raise ValueError(f"{world_size=} but found sig files for different hash buckets. Set tasks=finder_workers")
        return names

    def _repeated(self, parts: list[npt.NDArray[Any]], tasks: int) -> list[npt.NDArray[Any]]:
        """Of each task the places that are no first ones, in datatrove's order: by document, then by task."""
        of_index = np.concatenate([np.empty(0, parts[0]["hash"].dtype), *(part["hash"] for part in parts[tasks:])])
        hashes = np.concatenate([part["hash"] for part in parts[:tasks]])
        task = np.repeat(np.arange(tasks), [len(part) for part in parts[:tasks]])
        places = np.concatenate([part[["doc", "sent"]].astype(_PLACE) for part in parts[:tasks]])
        order = np.lexsort([places["sent"], task, places["doc"], hashes])
        hashes, task, places = hashes[order], task[order], places[order]
        known = np.isin(hashes, of_index)
        repeated = known.copy()
        if not (len(parts) > tasks and self.config.only_dedup_in_index):
            repeated[1:] |= hashes[1:] == hashes[:-1]
        return [places[repeated & (task == number)] for number in range(tasks)]


class SentenceDedupFilter(theirs.SentenceDedupFilter):
    """The same texts, and the same marks in what is excluded."""

    def run(self, data: Iterable[Any], rank: int = 0, world_size: int = 1) -> Iterator[Any]:
        """Yields documents without the spans that occur before, if enough of them is left."""
        if not is_english(self.tokenizer):
            yield from super().run(data, rank, world_size)
            return
        places = self._places(rank)
        first = 0
        with self.exclusion_writer or contextlib.nullcontext() as writer:
            for batch in batches(data):
                with self.track_time("batch"):
                    begin, end = np.searchsorted(places["doc"], [first, first + len(batch)])
                    cuts = self._cut(batch, places[begin:end], first)
                    stats.count(self, "total", len(batch))
                    kept = [
                        document
                        for row, document in enumerate(batch)
                        if (cuts[row].is_kept if row in cuts else document.text)
                    ]
                    stats.add_lengths(self, kept)  # as they were before
                    first += len(batch)
                for row, document in enumerate(batch):
                    found = cuts.get(row, Cut(document.text, None, bool(document.text)))
                    if found.is_kept:
                        if found.text != document.text and writer is not None:
                            writer.write(dataclasses.replace(document, text=found.marked), rank=rank)
                        document.text = found.text
                        yield document
                    elif writer is not None:
                        document.text = found.marked
                        writer.write(document, rank=rank)

    def _places(self, rank: int) -> npt.NDArray[Any]:
        """All duplicates of this task, from every finder."""
        folders = self.data_folder.list_files(include_directories=True, recursive=False)
        names = [f"{folder}/{rank:05d}{ExtensionHelperSD.stage_2_duplicates}" for folder in folders]
        names = [name for name in names if self.data_folder.exists(name)]
        logger.info(f"Loading duplicate indexes from {len(names)} results files.")
        found = [self.read_duplicates(file) for file in self.data_folder.open_files(names)] if names else []
        places = np.concatenate([np.empty(0, _PLACE), *found])
        return places[np.lexsort([places["sent"], places["doc"]])]

    def _cut(self, batch: list[Any], places: npt.NDArray[Any], first: int) -> dict[int, Cut]:
        """By row in the batch, those that have duplicates."""
        if not len(places):
            return {}
        documents, begins = np.unique(places["doc"], return_index=True)
        rows = (documents.astype(np.int64) - first).tolist()
        sentences = [part.tolist() for part in np.split(places["sent"], begins[1:])]
        texts = column_of([batch[row].text for row in rows])
        if texts is None:
            raise ValueError("expected texts that UTF-8 can hold, found a lone surrogate: clean them before")
        changed = cut(texts, sentences, self.config)
        enough = is_left_enough([one.text for one in changed], self.config)
        found: dict[int, Cut] = {}
        for row, one, is_enough in zip(rows, changed, enough, strict=True):
            if one.removed:
                self.stat_update("removed_sentences", value=one.removed)
            self.stat_update("original_sentences", value=one.pieces)
            is_same = one.text == batch[row].text
            found[row] = Cut(one.text, one.marked, bool(one.text) and (is_same or is_enough))
        return found
