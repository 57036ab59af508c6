"""What kind of character a code point is: one table for every kernel that looks at characters.

What leaves: one bit for each class, CHARACTERS (the table), and inline functions that read UTF-8 with it.
Guaranteed: the same answer on every Python, because the table is a file, data/character_classes.txt, made once by
tools/make_character_classes.py from the judges: spaCy, datatrove and one version of Unicode.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import from_dtype, types

from gristmill.kernels.character_classes import spans_of_classes
from gristmill.kernels.compile import inline

# In the file: what spaCy's rule asks of a character, then what filters ask.
SPACE, PREFIX, SUFFIX, ALPHA, LOWER, UPPER, ICON, QUOTE, BEFORE_FULL_STOP, DECIMAL, WORD = (
    1 << bit for bit in range(11)
)
LETTER, PUNCTUATION, SYMBOL, TERMINAL, SENTENCE_END, LINE_END = (1 << bit for bit in range(11, 17))
ALPHANUMERIC, ANY_DIGIT, CAPITAL = (1 << bit for bit in range(24, 27))  # as str.isalnum, isdigit, isupper
# Not in the file, because a few words say it.
DIGIT, APOSTROPHE, DASH, RELATION, OPERATOR, INSIDE, HOST = (1 << bit for bit in range(17, 24))

_IN_FILE = {
    "space": SPACE, "prefix": PREFIX, "suffix": SUFFIX, "alpha": ALPHA, "lower": LOWER, "upper": UPPER, "icon": ICON,
    "quote": QUOTE, "before_full_stop": BEFORE_FULL_STOP, "decimal": DECIMAL, "word": WORD, "letter": LETTER,
    "punctuation": PUNCTUATION, "symbol": SYMBOL, "terminal": TERMINAL, "sentence_end": SENTENCE_END,
    "line_end": LINE_END, "alphanumeric": ALPHANUMERIC, "digit": ANY_DIGIT, "capital": CAPITAL,
}  # fmt: skip
_SPELLED_OUT = {
    DIGIT: "0123456789",
    APOSTROPHE: "'’",
    DASH: "-–—~",
    RELATION: ":<>=/",
    OPERATOR: "+-*^",
    INSIDE: ".,-–—~:<>=/+*^$'’",  # and icons: what may cut a chunk from within, not only at its ends
    HOST: "".join(map(chr, (*range(0x30, 0x3A), *range(0x41, 0x5B), *range(0x61, 0x7B), *range(0xA1, 0x10000)))),
}


def _read() -> npt.NDArray[np.void]:
    flat = np.zeros(0x110000, np.uint32)
    for name, span in spans_of_classes():
        flat[span.start : span.stop : span.step] |= np.uint32(_IN_FILE[name])
    for bit, characters in _SPELLED_OUT.items():
        flat[[ord(character) for character in characters]] |= np.uint32(bit)
    flat[flat & ICON > 0] |= np.uint32(INSIDE)
    # Blocks are numbered as they come up, so an ASCII character is its own index in `classes`.
    numbers: dict[bytes, int] = {}
    block = [numbers.setdefault(row.tobytes(), len(numbers)) for row in flat.reshape(-1, 64)]
    classes = np.frombuffer(b"".join(numbers), np.uint32)
    table = np.zeros(1, [("block", np.uint16, len(block)), ("classes", np.uint32, len(classes))])
    table["block"], table["classes"] = block, classes
    return table


# One record: numba hands records to functions as a pointer, arrays with their reference counts.
CHARACTERS = _read()
CHARACTERS_IN = types.Array(from_dtype(CHARACTERS.dtype), 1, "C")


def code_points(classes: int) -> npt.NDArray[np.int64]:
    """All code points of these classes, ascending."""
    table = CHARACTERS[0]
    places = (table["block"].astype(np.int64)[:, None] << 6) + np.arange(64)
    return np.flatnonzero(table["classes"][places.reshape(-1)] & classes)


@inline
def code_point(data, at):
    """The code point whose UTF-8 begins at `at`, and how many bytes it takes. The text is valid UTF-8."""
    lead = np.int64(data[at])
    if lead < 0x80:
        return lead, 1
    second = np.int64(data[at + 1]) & 0x3F
    if lead < 0xE0:
        return (lead & 0x1F) << 6 | second, 2
    third = np.int64(data[at + 2]) & 0x3F
    if lead < 0xF0:
        return (lead & 0x0F) << 12 | second << 6 | third, 3
    return (lead & 0x07) << 18 | second << 12 | third << 6 | (np.int64(data[at + 3]) & 0x3F), 4


@inline
def character(data, at, characters):
    """The classes of the character whose UTF-8 begins at `at`, and how many bytes it takes."""
    code, width = code_point(data, at)
    return np.int64(characters.classes[(np.int64(characters.block[code >> 6]) << 6) + (code & 63)]), width
