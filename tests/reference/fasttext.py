"""Slow, obvious twin of the fastText kernel: row after row in float32, written from what fastText is said to do."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gristmill.formats.fasttext_model import DenseRows, FastTextModel

WHITE = " \n\r\t\v\f\0"
END = "</s>"


def row(model: FastTextModel, matrix: Any, number: int) -> Any:
    if isinstance(matrix, DenseRows):
        start = matrix.start + 4 * matrix.width * number
        return np.frombuffer(model.data[start : start + 4 * matrix.width].tobytes(), np.float32)
    parts = [matrix.centroids[part, code] for part, code in enumerate(matrix.codes[number])]
    return np.concatenate(parts)[: matrix.width] * matrix.norms[number]


def fnv(raw: bytes) -> int:
    state = 2166136261
    for byte in raw:
        state = (state ^ (byte if byte < 128 else byte + 0xFFFFFF00)) * 16777619 % 2**32
    return state


def words_of(line: str) -> list[str]:
    """Up to the end of the line, which is a word, too."""
    for white in WHITE[1:]:
        line = line.replace(white, " ")
    words = [word for word in line.split(" ") if word]
    return [*words[: words.index(END)], END] if END in words else [*words, END]


def ngrams(word: str, shortest: int, longest: int) -> list[str]:
    """Of `<word>`, by place and length; but for the brackets alone."""
    bracketed = f"<{word}>"
    return [
        bracketed[first : first + n]
        for first in range(len(bracketed))
        for n in range(max(shortest, 1), longest + 1)
        if first + n <= len(bracketed) and not (n == 1 and first in (0, len(bracketed) - 1))
    ]


class Twin:
    """A model, ready to be slow."""

    def __init__(self, model: FastTextModel) -> None:
        self.model = model
        spans = zip(model.entry_start.tolist(), model.entry_stop.tolist(), strict=True)
        entries = [model.data[start:stop].tobytes() for start, stop in spans]
        self.entries = {entry: number for number, entry in enumerate(entries)}
        kept = model.kept_buckets
        self.kept = None if kept is None else dict(kept.tolist())
        self.output = np.stack([row(model, model.output, label) for label in range(len(model.labels))])

    def rows(self, line: str) -> list[int]:
        """The rows of all that is in a line, in fastText's order."""
        model = self.model
        found: list[int] = []
        hashes: list[int] = []
        for word in words_of(line):
            raw = word.encode()
            entry = self.entries.get(raw, -1)
            if entry >= model.words or (entry < 0 and raw.startswith(b"__label__")):
                continue
            hashes.append(int(np.uint32(fnv(raw)).astype(np.int32)))
            if entry >= 0:
                found.append(entry)
            if word != END:
                for ngram in ngrams(word, model.shortest_ngram, model.longest_ngram):
                    found += self.bucket(fnv(ngram.encode()))
        for first in range(len(hashes)):
            state = hashes[first]
            for other in hashes[first + 1 : first + model.word_ngrams]:
                state = (state * 116049371 + other) % 2**64
                found += self.bucket(state)
        return found

    def bucket(self, state: int) -> list[int]:
        number = state % self.model.buckets
        if self.kept is not None:
            return [self.model.words + self.kept[number]] if number in self.kept else []
        return [self.model.words + number]

    def scores(self, line: str) -> dict[str, float]:
        """Label to score; no label at all where no row is in the line, none below 0.00001 of a tree."""
        rows = self.rows(line)
        if not rows:
            return {}
        hidden = np.zeros(self.model.width, np.float32)
        for number in rows:
            hidden += row(self.model, self.model.input, number)
        hidden *= np.float32(1 / len(rows))
        products = (self.output.astype(np.float64) @ hidden.astype(np.float64)).tolist()
        if self.model.loss == "hs":
            logarithms = self.leaves(products)
        elif self.model.loss == "softmax":
            exponentials = [math.exp(product - max(products)) for product in products]
            logarithms = [math.log(value / sum(exponentials) + 1e-5) for value in exponentials]
        else:
            logarithms = [math.log(sigmoid(product) + 1e-5) for product in products]
        pairs = zip(self.model.labels, logarithms, strict=True)
        return {label: math.exp(value) for label, value in pairs if value >= math.log(1e-5)}

    def leaves(self, products: list[float]) -> list[float]:
        """Huffman's tree: the two lightest nodes become one, the lighter to the left; of equal ones the older inner
        node goes first."""
        counts = self.model.label_counts.tolist()
        waiting = [(count, 1, -label, label) for label, count in enumerate(counts)]
        paths: dict[int, list[tuple[int, bool]]] = {label: [] for label in range(len(counts))}
        members = {label: [label] for label in range(len(counts))}
        for inner in range(len(counts) - 1):
            waiting.sort(key=lambda node: node[:3])
            (left_count, _, _, left), (right_count, _, _, right), *waiting = waiting
            node = len(counts) + inner
            for child, is_right in ((left, False), (right, True)):
                for label in members[child]:
                    paths[label].append((inner, is_right))
            members[node] = members[left] + members[right]
            waiting.append((left_count + right_count, 0, node, node))
        return [
            sum(
                math.log((1 / (1 + math.exp(-products[inner])) if is_right else 1 / (1 + math.exp(products[inner])))
                         + 1e-5)
                for inner, is_right in paths[label]
            )
            for label in range(len(counts))
        ]  # fmt: skip


def sigmoid(product: float) -> float:
    if abs(product) > 8:
        return float(product > 0)
    step = int((product + 8) * 512 / 16)
    return 1 / (1 + math.exp(-(step * 16 / 512 - 8)))
