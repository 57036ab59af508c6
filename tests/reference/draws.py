"""The slow, obvious twin of kernels/draws.py: all documents as points on a line, sorted."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from reference.bijection import derive_key, permuted

Draw = tuple[int, int, int]  # source, document, tokens


def draws(lengths: Sequence[Sequence[int]], targets: Sequence[int], keys: Sequence[int] | None) -> list[Draw]:
    points = []
    for source, (documents, target) in enumerate(zip(lengths, targets, strict=True)):
        drawn, position = 0, 0
        while drawn < target:
            epoch, index = divmod(position, len(documents))
            document = index
            if keys is not None:
                document = permuted(index, len(documents), derive_key(keys[source], epoch))
            tokens = documents[document]
            position += 1
            if tokens == 0:
                continue
            if abs(drawn + tokens - target) > abs(drawn - target):
                break
            points.append((Fraction(2 * drawn + tokens, 2 * target), source, drawn, document, tokens))
            drawn += tokens
    return [(source, document, tokens) for _, source, _, document, tokens in sorted(points)]
