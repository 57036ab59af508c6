"""One key out of a column of metadata, which travels as JSON objects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.document import buffers
from gristmill.kernels.json_text import unescape
from gristmill.kernels.jsonl import STRING, scan
from gristmill.kernels.vector import PADDING_BYTES
from gristmill.sources.found import Found, column
from gristmill.sources.rows import readable


def string_values(metadata: Any, key: str) -> Any:
    """The values of a key: a large_string array, null where the key is missing or no string."""
    line_end, nothing = pa.scalar("\n", pa.large_string()), pa.scalar("", pa.large_string())
    lines = pc.binary_join_element_wise(metadata.fill_null("{}"), line_end, nothing)
    offsets, data = buffers(lines)
    block = np.concatenate([data[offsets[0] : offsets[-1]], np.zeros(PADDING_BYTES, np.uint8)])
    found = Found(len(metadata), 1)
    name = np.frombuffer(key.encode(), np.uint8)
    count, _ = scan(block, len(block) - PADDING_BYTES, name, np.array([0, len(name)]), *found.room)
    assert count == len(metadata), "a line of metadata is no line"
    valid = found.kinds[0] == STRING
    starts, stops = np.where(valid, found.starts[0], 0), np.where(valid, found.stops[0], 0)
    return readable(*column(unescape, block, starts, stops), valid)
