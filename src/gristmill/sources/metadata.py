"""One key out of a column of metadata, which travels as JSON objects."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.document import buffers
from gristmill.kernels.json_text import unescape
from gristmill.kernels.jsonl import OTHER, STRING, scan
from gristmill.kernels.vector import PADDING_BYTES
from gristmill.sources.found import Found, column
from gristmill.sources.rows import readable

_NUMBER = r"^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$"


def string_values(metadata: Any, key: str) -> Any:
    """The values of a key: a large_string array, null where the key is missing or no string."""
    return _values(metadata, key, (STRING,))


def number_values(metadata: Any, key: str) -> npt.NDArray[np.float64]:
    """The values of a key as numbers, also those written as strings (CSV has no others); minus infinity, which is
    below all, where the key is missing or no number."""
    texts = _values(metadata, key, (STRING, OTHER))
    is_number = pc.match_substring_regex(texts, _NUMBER)
    numbers = pc.if_else(is_number, texts, pa.scalar(None, pa.large_string())).cast(pa.float64())
    return numbers.fill_null(-np.inf).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


def _values(metadata: Any, key: str, kinds: tuple[int, ...]) -> Any:
    line_end, nothing = pa.scalar("\n", pa.large_string()), pa.scalar("", pa.large_string())
    lines = pc.binary_join_element_wise(metadata.fill_null("{}"), line_end, nothing)
    offsets, data = buffers(lines)
    block = np.concatenate([data[offsets[0] : offsets[-1]], np.zeros(PADDING_BYTES, np.uint8)])
    found = Found(len(metadata), 1)
    name = np.frombuffer(key.encode(), np.uint8)
    count, _ = scan(block, len(block) - PADDING_BYTES, name, np.array([0, len(name)]), *found.room)
    assert count == len(metadata), "a line of metadata is no line"
    valid = np.isin(found.kinds[0], kinds)
    starts, stops = np.where(valid, found.starts[0], 0), np.where(valid, found.stops[0], 0)
    return readable(*column(unescape, block, starts, stops), valid)
