"""A fastText model, ready to predict: from its file to the tables that the kernel takes.

What enters: a path or an address. What leaves: a `Predictor`, one for each model and process. A model of which a
mapped `.bin` is the file costs no memory of its own but its dictionary's index; quantised vectors are unpacked where
that costs little.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from gristmill.document import Bytes, Offsets
from gristmill.errors import FormatError
from gristmill.filters import fasttext_file
from gristmill.formats.fasttext_model import DenseRows, FastTextModel, Floats, QuantisedRows
from gristmill.kernels import fasttext_labels as output
from gristmill.kernels.fasttext import Predictions, predict
from gristmill.kernels.fasttext_ngrams import LONGEST_NGRAM
from gristmill.kernels.fasttext_tables import Model, WordTable, index_entries, word_table_for
from gristmill.kernels.float_rows import BLOCK_NUMBERS
from gristmill.kernels.vector import PADDING_BYTES

_LOSSES = {
    "hs": output.HIERARCHICAL_SOFTMAX, "softmax": output.SOFTMAX, "ns": output.INDEPENDENT, "ova": output.INDEPENDENT,
}  # fmt: skip
_UNPACKED_BYTES = 64 << 20
_END = b"</s>"
_NOTHING: Any = np.zeros(0, np.uint8)


class Predictor:
    """Predicts labels and scores of texts. Safe to use from several threads."""

    def __init__(self, model: FastTextModel) -> None:
        self.labels = model.labels
        self._names = pa.array(model.labels, pa.string())
        self._numbers = {label: number for number, label in enumerate(model.labels)}
        self._model = _tables(model)
        self._idle_tables: list[WordTable] = []  # each with the words that it has learnt

    def predict(self, offsets: Offsets, data: Bytes, asked: Sequence[str] = ()) -> Predictions:
        """For each text the best label, by its number, and its score; and the scores of the labels asked for."""
        try:
            table = self._idle_tables.pop()
        except IndexError:
            table = word_table_for(self._model.blocks)
        numbers = np.array([self._numbers[label] for label in asked], np.int32)
        found = predict(offsets, data, self._model, table, numbers)
        self._idle_tables.append(table)
        return found

    def named(self, labels: npt.NDArray[np.int32]) -> Any:
        """Numbers of labels as a string array; null where there is none."""
        return self._names.take(pa.array(labels, mask=labels < 0))


def predictor_of(model: str) -> Predictor:
    """The model of this name, path or address, ready; made once a process."""
    return _predictor(fasttext_file.opened(model))


@lru_cache(maxsize=4)
def _predictor(model: FastTextModel) -> Predictor:
    return Predictor(model)


def _tables(model: FastTextModel) -> Model:
    if model.longest_ngram > LONGEST_NGRAM:
        raise FormatError(f"expected n-grams of {LONGEST_NGRAM} characters at most, found {model.longest_ngram}")
    blocks = -(-model.width // BLOCK_NUMBERS)
    slots = index_entries(model.data, model.entry_start, model.entry_stop)
    left, right, parent = output.huffman_tree(model.label_counts.tolist())
    columns, output_norms = _output(model)
    tables = Model(
        text=model.data,
        entry_start=model.entry_start,
        entry_stop=model.entry_stop,
        slots=slots,
        **_kept(model),
        **_rows(model, blocks),
        words=model.words,
        width=model.width,
        blocks=blocks,
        shortest=max(model.shortest_ngram, 1),
        longest=model.longest_ngram,
        word_ngrams=model.word_ngrams,
        buckets=model.buckets,
        end=next((row for row in range(model.words) if _entry(model, row) == _END), -1),
        output=columns,
        output_norms=output_norms,
        output_blocks=-(-len(model.labels) // BLOCK_NUMBERS),
        labels=len(model.labels),
        loss=_LOSSES[model.loss],
        left=left,
        right=right,
        parent=parent,
    )
    return Model._make(_read_only(field) if isinstance(field, np.ndarray) else field for field in tables)


def _read_only(array: Any) -> Any:
    """As the kernel's signature has it: the arrays of a mapped file are so anyway."""
    view = array.view()
    view.flags.writeable = False
    return view


def _entry(model: FastTextModel, entry: int) -> bytes:
    return model.data[model.entry_start[entry] : model.entry_stop[entry]].tobytes()


def _kept(model: FastTextModel) -> dict[str, Any]:
    """The fields of `Model` that say which buckets have a row."""
    has_row = np.zeros((model.buckets // 32 + 1) * 32, np.bool_)
    has_row[slice(None) if model.kept_buckets is None else model.kept_buckets[:, 0]] = True
    counts = has_row.reshape(-1, 32).sum(axis=1, dtype=np.uint32)
    before = np.zeros(0, np.uint32) if model.kept_buckets is None else np.cumsum(counts, dtype=np.uint32) - counts
    return {"kept": np.packbits(has_row, bitorder="little").view("<u4"), "kept_before": before}


def _rows(model: FastTextModel, blocks: int) -> dict[str, Any]:
    """The fields of `Model` that hold the rows of the input matrix, those of n-grams in the order of buckets."""
    found = model.input
    nothing = {"codes": _NOTHING, "centroids": np.zeros(0, np.float32), "norms": np.zeros(0, np.float32)}
    if isinstance(found, DenseRows):
        row_bytes = 4 * model.width
        stop = found.start + found.rows * row_bytes
        if stop + 4 * blocks * BLOCK_NUMBERS <= len(model.data):
            return {"rows": model.data, "row_start": found.start, "row_bytes": row_bytes, **nothing}
        rows = np.concatenate([model.data[found.start : stop], np.zeros(PADDING_BYTES, np.uint8)])
        return {"rows": rows, "row_start": 0, "row_bytes": row_bytes, **nothing}
    order = np.arange(model.words)
    behind = np.arange(len(found.codes) - model.words) if model.kept_buckets is None else model.kept_buckets[:, 1]
    order = np.concatenate([order, model.words + behind])
    found = QuantisedRows(found.codes[order], found.centroids, found.width, found.norms[order])
    row_bytes = 4 * blocks * BLOCK_NUMBERS
    if len(order) * row_bytes > _UNPACKED_BYTES:
        packed = {"codes": found.codes.ravel(), "centroids": found.centroids.ravel(), "norms": found.norms}
        return {"rows": _NOTHING, "row_start": 0, "row_bytes": found.codes.shape[1], **packed}
    rows = np.zeros((len(order), blocks * BLOCK_NUMBERS), np.float32)
    rows[:, : model.width] = found.parts(0, len(order)) * found.norms[:, None]
    return {"rows": rows.ravel().view(np.uint8), "row_start": 0, "row_bytes": row_bytes, **nothing}


def _output(model: FastTextModel) -> tuple[Floats, Floats]:
    """The output matrix by columns, in whole blocks, and what each product is to be multiplied by."""
    found = model.output
    if isinstance(found, DenseRows):
        stop = found.start + 4 * found.rows * found.width
        matrix = np.frombuffer(model.data[found.start : stop].tobytes(), np.float32).reshape(found.rows, found.width)
        norms = np.ones(found.rows, np.float32)
    else:
        matrix, norms = found.parts(0, len(found.codes)), found.norms
    columns = np.zeros((model.width, -(-len(matrix) // BLOCK_NUMBERS) * BLOCK_NUMBERS), np.float32)
    columns[:, : len(matrix)] = matrix.T
    return columns.ravel(), norms
