"""What two documents have in common when they are the same: the text, its normal form, or the address.

What enters: a large_string column, nulls where there is no value. What leaves: what is to be hashed, and which
documents have nothing to compare.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from gristmill.document import buffers, strings

Formed = tuple[Any, npt.NDArray[np.bool_]]


def as_it_is(texts: Any) -> Formed:
    """The text, byte by byte."""
    return texts, np.zeros(len(texts), np.bool_)


def address(values: Any) -> Formed:
    """A URL without what seldom tells pages apart: http or https, the case of the host, its default port, `www.`, the
    slash at the end of the path, and the fragment. The path's case and the query stay. Missing and empty values
    compare with nothing."""
    trimmed = pc.utf8_trim_whitespace(values.fill_null(""))
    bare = pc.replace_substring_regex(trimmed, r"(?s)#.*", "")
    bare = pc.replace_substring_regex(bare, r"^(?i:https?:)?//", "")
    parts = pc.extract_regex(bare, r"(?s)^(?P<host>[^/?]*)(?P<rest>.*)$")
    host = pc.utf8_lower(pc.struct_field(parts, "host"))
    host = pc.replace_substring_regex(pc.replace_substring_regex(host, r":(80|443)$", ""), r"^www\.", "")
    rest = pc.replace_substring_regex(pc.struct_field(parts, "rest"), r"^([^?]*?)/+(\?|$)", r"\1\2")
    formed = pc.binary_join_element_wise(host, rest, pa.scalar("", pa.large_string()))
    return formed, (pc.binary_length(formed).to_numpy(zero_copy_only=False) == 0)


def folded(texts: Any) -> Formed:
    """The text in lower case, with one blank for each run of punctuation, white space and controls, none at its ends,
    and without invisible characters (Unicode's category Cf). Symbols (category S: +, $, emoji) stay."""
    from gristmill.kernels.folding import PLAIN, fold

    offsets, data = fold(*buffers(texts), PLAIN)
    return strings(offsets, data), np.diff(offsets) == 0


NORMAL_FORMS: dict[str, Callable[[Any], Formed]] = {"text": as_it_is, "normalized": folded, "url": address}
