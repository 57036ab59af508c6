"""What stands around every document: the ids that a post-processor or the EOS policy adds.

Enters: ids of many documents, end to end, 32 bits each, and their bounds. Leaves: the same with a prefix before
and a suffix after each document, in the width that the vocabulary needs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Offsets = npt.NDArray[np.int64]
Ids = npt.NDArray[np.uint32]


def with_affixes(
    offsets: Offsets, ids: Ids, prefix: Ids, suffix: Ids, bytes_per_id: int
) -> tuple[Offsets, npt.NDArray[Any]]:
    """Bounds and ids with `prefix` and `suffix` around each document; ids become uint16 or uint32.

    `offsets` starts at 0. Every id must fit in `bytes_per_id`.

    A numba loop over the documents was tried: 1.3 ms for 2 M ids in 2,000 documents, against 0.7 ms here,
    because numpy copies the runs of a mask whole.
    """
    width = np.uint16 if bytes_per_id == 2 else np.uint32
    affix_tokens = len(prefix) + len(suffix)
    if affix_tokens == 0:
        return offsets, ids.astype(width, copy=False)
    out_offsets = offsets + affix_tokens * np.arange(len(offsets), dtype=np.int64)
    starts, ends = out_offsets[:-1], out_offsets[1:]
    out_ids = np.empty(out_offsets[-1], width)
    from_text = np.ones(len(out_ids), np.bool_)
    for i, token in enumerate(prefix):
        from_text[starts + i] = False
        out_ids[starts + i] = token
    for i, token in enumerate(suffix[::-1], start=1):
        from_text[ends - i] = False
        out_ids[ends - i] = token
    out_ids[from_text] = ids
    return out_offsets, out_ids
