"""Documents with characters that gigatoken and `tokenizers` may see differently, found before they are encoded.

Enters: the buffers of a string column. Leaves: the numbers of the documents that hold a character on which the
two libraries' Unicode tables differ. These go to `tokenizers`, which is the judge, so ids are equal even there.

Each library carries Unicode tables of its own age, and a split regex asks them what is a letter: for gigatoken
0.10 Unicode 17, for `tokenizers` >= 0.21.2 Unicode 16, but Unicode 9 for its NFC. gigatoken's issues 35, 37 and
43 call that a bug of `tokenizers`; a model was trained with its ids all the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.document import Bytes, Offsets
from gristmill.kernels.compile import BOOL_IN, BOOL_OUT, BYTES_IN, I64_IN, inline, kernel

# Assigned or given another category in Unicode 17.0 or 18.0 (unassigned neighbours included).
# Source: general categories of unicodedata2 16.0.0, 17.0.0 and 18.0.0. `bench/token_parity.py --every-character`
# compares the libraries on every code point and names those that are missing here.
_AFTER_UNICODE_16 = """
295 558 58b-58c 5c8-5c9 88f b53-b54 c5c cdc 1acf-1af0 208f 209d-209f 20c1-20c4 2b96 2e60-2e63 a7ce-a7cf a7d2 a7d4
a7dd-a7f1 ab6c-ab6d fbc3-fbd2 fd90-fd91 fdc8-fdce 107bb-107bf 10940-10959 10ec5-10efb 11b0a-11b67 11db0-11df1
1246f 12475-1247f 12550-12686 16ea0-16ed3 16ff2-16ff6 187f8-187ff 18cd6-18cda 18d09-191d2 1b123-1b128 1b168
1ccfa-1ccfc 1ceba-1cefd 1d127-1d128 1d1eb-1d1ff 1d250-1d281 1d6a6 1db00-1db1c 1df1f-1df24 1df2b-1dfff 1e6c0-1e6ff
1f1ae 1f6d8-1f6d9 1f777-1f77a 1f7da-1f7db 1f7f1-1f7ff 1f8d0-1f8d8 1fa54-1fa57 1fa8a-1fa8e 1fac8-1facd 1fadd
1faea-1faef 1faf9-1fafa 1fbfa 2b73a-2b73f 2b81e 2cea2-2cead 323b0-3fc3f
"""

# Assigned after Unicode 9.0, with a combining class or a part in a canonical composition: what NFC looks at.
_NFC_AFTER_UNICODE_9 = """
7fd 897-89f 8ca-8d3 9fe c3c d3b-d3c eba 1715 1abf-1ace 1df6-1dfa a82c 105c9 105d2 105da 105e4 10d24-10d27
10d69-10d6d 10eab-10eac 10efd-10eff 10f46-10f50 10f82-10f85 11070 1133b 11382-11385 1138b-11391 113b8 113bb
113c2-113c9 113ce-113d0 1145e 11839-1183a 11930 11935 11938 1193d-1193e 11943 119e0 11a34 11a47 11a99 11d42
11d44-11d45 11d97 11f41-11f42 1611e-16129 1612f 16d63 16d67-16d6a 16ff0-16ff1 1e08f 1e130-1e136 1e2ae
1e2ec-1e2ef 1e4ec-1e4ef 1e5ee-1e5ef
"""

_CODE_POINTS = 0x40000  # above lie only tags, variation selectors and private use, all older than both tables
_BLOCK_BYTES = 256


def _members(ranges: str) -> npt.NDArray[np.bool_]:
    members = np.zeros(_CODE_POINTS, np.bool_)
    for item in ranges.split():
        first, _, last = item.partition("-")
        members[int(first, 16) : int(last or first, 16) + 1] = True
    return members


NEWER = _members(_AFTER_UNICODE_16 + _NFC_AFTER_UNICODE_9)


def _lead_pairs() -> npt.NDArray[np.bool_]:
    """May a newer character start with these two bytes? By the first byte and 6 bits of the second."""
    pairs = np.zeros(1 << 14, np.bool_)
    for code_point in np.flatnonzero(NEWER):
        first, second = chr(code_point).encode()[:2]
        pairs[first << 6 | second & 0x3F] = True
    return pairs


_LEAD_PAIRS = _lead_pairs()


def documents_with_newer(offsets: Offsets, data: Bytes) -> npt.NDArray[np.int64]:
    """The numbers of the documents that hold a character of NEWER, ascending. `data` is valid UTF-8."""
    found = np.zeros(len(offsets) - 1, np.bool_)
    _find(offsets, data, _LEAD_PAIRS, NEWER, found)
    return np.flatnonzero(found)


@inline
def _is_newer(data: Any, i: Any, newer: Any) -> Any:
    """Is the character that starts at byte i one of `newer`? True only at a lead byte."""
    lead = np.int64(data[i])
    second = np.int64(data[i + 1]) & 0x3F
    if lead < 0xE0:
        return newer[(lead & 0x1F) << 6 | second]
    third = np.int64(data[i + 2]) & 0x3F
    if lead < 0xF0:
        return newer[(lead & 0x0F) << 12 | second << 6 | third]
    code_point = (lead & 0x07) << 18 | second << 12 | third << 6 | (np.int64(data[i + 3]) & 0x3F)
    return code_point < len(newer) and newer[code_point]


@kernel(types.void(I64_IN, BYTES_IN, BOOL_IN, BOOL_IN, BOOL_OUT))
def _find(offsets: Any, data: Any, lead_pairs: Any, newer: Any, found: Any) -> None:
    """Skip ASCII blocks; look up every pair of bytes of the others, branchless; decode only where that hits.

    Tried: a branch at every lead byte, 235 MB/s in Vietnamese and 205 MB/s in Russian against 2,500 here;
    a block's maximum over indices of `data` and not of a slice, which LLVM does not vectorise: 1.5 against
    10 GB/s in English.
    """
    for document in range(len(offsets) - 1):
        last = offsets[document + 1] - 1  # no character of two bytes starts there
        start = offsets[document]
        while start < last and not found[document]:
            end = min(start + _BLOCK_BYTES, last)
            firsts = data[start:end]
            seconds = data[start + 1 : end + 1]
            highest = np.uint8(0)
            for i in range(len(firsts)):
                highest = max(highest, firsts[i])
            if highest >= 0xC0:
                hit = False
                for i in range(len(firsts)):
                    hit |= lead_pairs[np.uint64(firsts[i]) << 6 | np.uint64(seconds[i] & 0x3F)]
                if hit:
                    for i in range(start, end):
                        if lead_pairs[np.uint64(data[i]) << 6 | np.uint64(data[i + 1] & 0x3F)]:
                            found[document] |= _is_newer(data, i, newer)
            start = end
