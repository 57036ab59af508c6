"""What each deduplicator found: clusters by size, the largest, and some pairs with what they have in common."""

from __future__ import annotations

from itertools import islice
from typing import Any

import xxhash

from gristmill.report.duplicates import Document, Pair, binned_sizes, common_parts, pairs_of, records_of
from gristmill.report.evidence.folder import RunFolder
from gristmill.report.evidence.marked import LEFT_OUT, MARKED, PLAIN, added, marked, shortened
from gristmill.report.evidence.texts import TextStore

_TEXT_BYTES = 9 << 20
_LARGEST = 5
_PAIRS = 6
_PAIRS_LOOKED_AT = 2_000  # of each deduplicator


def duplicates(run: RunFolder, texts: TextStore) -> list[dict[str, Any]]:
    """One for each deduplicator that took documents away or cut them."""
    found = []
    texts.allow(_TEXT_BYTES)
    for record in records_of(run.output):
        counts = record["counts"]
        sizes = {int(size): count for size, count in counts.get("cluster_sizes", {}).items()}
        found.append(
            {
                "name": record["folder"].name,
                "documents": sum(sum(kinds.values()) for kinds in counts.get("dropped", {}).values()),
                "bytes": sum(sum(kinds.values()) for kinds in counts.get("dropped_bytes", {}).values()),
                "sizes": [list(row) for row in binned_sizes(sizes)] if sizes else [],
                "pairs": _pairs(record, texts),
                "largest": [_largest(cluster, texts) for cluster in counts.get("largest_clusters", ())[:_LARGEST]],
            }
        )
    return found


def _largest(cluster: dict[str, Any], texts: TextStore) -> dict[str, Any]:
    document = Document(*cluster["members"][0])
    text = texts.kept_text(document)
    return {
        "size": cluster["size"],
        "place": _place(document),
        "id": text.id if text else "",
        "pieces": marked(text.text, ()) if text else None,
    }


def _pairs(record: dict[str, Any], texts: TextStore) -> list[dict[str, Any]]:
    """Those whose texts cost the least to read, and of them those with the lowest hashes."""
    some = [pair for pair in islice(pairs_of([record]), _PAIRS_LOOKED_AT) if pair.stays is not None]
    found: list[dict[str, Any]] = []
    for pair in sorted(some, key=lambda one: (_bytes_to_read(one, texts), _hash(one))):
        shown = _pair(pair, texts)
        if shown is None or len(found) == _PAIRS:
            break
        found.append(shown)
    return found


def _pair(pair: Pair, texts: TextStore) -> dict[str, Any] | None:
    assert pair.stays is not None
    gone, stays = texts.kept_text(pair.gone), texts.kept_text(pair.stays)
    if gone is None or stays is None:
        return None
    left, right, share = common_parts(gone.text, stays.text)
    return {
        "kind": pair.kind,
        "share": round(share, 4),
        "gone": {"id": gone.id, "place": _place(pair.gone), "pieces": _pieces(left, gone.text)},
        "stays": {"id": stays.id, "place": _place(pair.stays), "pieces": _pieces(right, stays.text)},
    }


def _pieces(parts: list[tuple[str, bool]], text: str) -> list[tuple[str, int]]:
    """What is common is marked; what was not compared is left out."""
    pieces = shortened([(part, MARKED if common else PLAIN) for part, common in parts])
    rest = len(text) - sum(len(part) for part, _ in parts)
    return added([*pieces, (str(rest), LEFT_OUT)] if rest else pieces)


def _bytes_to_read(pair: Pair, texts: TextStore) -> int:
    assert pair.stays is not None
    return texts.bytes_to_read(pair.gone) + texts.bytes_to_read(pair.stays)


def _hash(pair: Pair) -> int:
    return xxhash.xxh64_intdigest(repr(pair.gone).encode())


def _place(document: Document) -> str:
    return f"{document.source}, chunk {document.chunk}, row {document.row}"
