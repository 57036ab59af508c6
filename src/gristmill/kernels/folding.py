"""Texts as they are compared: case, punctuation and white space folded away.

What enters: the two buffers of a string column, valid UTF-8. What leaves: the folded texts, end to end.

SIMPLE   datatrove's simplify_text with its defaults: lower case; each number is `0`; punctuation and white space are
         one blank; decomposed, without marks. Exactly, but that characters of category Mc that have a combining class
         (Hangul tone marks, musical stems: 25 in Unicode 14) are not put in canonical order among other such.
PLAIN    lower case; punctuation, white space and controls are one blank; invisible characters (Cf) go.

Both begin and end with no blank. Guaranteed: the same on every Python, because the tables are a file,
data/folded_forms.txt, made once by tools/make_folded_forms.py from the judges.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt
from numba import from_dtype, types

from gristmill.kernels.characters import code_point
from gristmill.kernels.compile import BYTES_IN, BYTES_OUT, I64_IN, I64_OUT, inline, kernel
from gristmill.kernels.vector import PADDING_BYTES, address

# What an entry says in its low bits; with FORM, the bytes pool[entry >> _OFFSET:][:entry >> _LENGTH & 15].
_SAME, _GAP, _NUMBER, _SIGMA, _FORM = range(5)
_KIND, _CASED, _IGNORABLE = 7, 8, 16
_LENGTH, _OFFSET, _LONGEST = 5, 9, 15
_BLANK, _ZERO = ord(" "), ord("0")
_CAPITAL_SIGMA, _SIGMAS = 0x3A3, "σς"
_IN_NUMBERS = [ord(character) for character in ".,،٫⎖⎗⎘"]  # one of them between two numbers makes them one
_LARGEST_GROWTH = 3  # a Hangul syllable of 3 bytes becomes 9; nothing else grows by more (tests look)


def _entries(name: str) -> npt.NDArray[np.void]:
    """The table of one fold: entries by blocks of 64 code points, the forms' bytes, and what ASCII becomes."""
    flat = np.zeros(0x110000, np.uint32)
    pool = bytearray()

    def put(code: int, form: str) -> None:
        raw = form.encode()
        assert len(raw) <= _LONGEST, "no form is longer"
        flat[code] |= np.uint32(len(pool) << _OFFSET | len(raw) << _LENGTH | _FORM)
        pool.extend(raw)

    for key, item in _items():
        if key == f"{name}.form":
            character, _, form = item.partition(":")
            put(int(character, 16), "".join(chr(int(part, 16)) for part in form.split("+")))
            continue
        bit = {"cased": _CASED, "ignorable": _IGNORABLE, f"{name}.gap": _GAP, f"{name}.number": _NUMBER,
               f"{name}.nothing": _FORM}.get(key)  # fmt: skip
        if bit is not None:
            first, _, last = item.partition("-")
            flat[int(first, 16) : int(last or first, 16) + 1] |= np.uint32(bit)
    flat[_CAPITAL_SIGMA] |= np.uint32(_SIGMA)
    if name == "simple":
        for code in range(0xAC00, 0xD7A4):
            put(code, _jamo(code - 0xAC00))
    numbers: dict[bytes, int] = {}
    block = [numbers.setdefault(row.tobytes(), len(numbers)) for row in flat.reshape(-1, 64)]
    entries = np.frombuffer(b"".join(numbers), np.uint32)
    layout = [("block", np.uint16, len(block)), ("entries", np.uint32, len(entries)), ("pool", np.uint8, len(pool)),
              ("ascii", np.uint8, 128)]  # fmt: skip
    table = np.zeros(1, layout)
    table["block"], table["entries"], table["pool"] = block, entries, np.frombuffer(bytes(pool), np.uint8)
    for code in range(128):
        kind = int(flat[code]) & _KIND
        assert kind != _FORM or code in range(65, 91), "of ASCII only capitals have a form"
        # A number's byte is 0, which no form has: it is looked at more closely.
        table["ascii"][0, code] = {_SAME: code, _GAP: _BLANK, _NUMBER: 0, _FORM: code + 32}[kind]
    return table


@cache
def _items() -> tuple[tuple[str, str], ...]:
    def read() -> Iterator[tuple[str, str]]:
        text = files("gristmill.kernels").joinpath("data/folded_forms.txt").read_text("utf-8")
        for line in text.splitlines():
            if not line.startswith("#"):
                name, *items = line.split()
                yield from ((name, item) for item in items)

    return tuple(read())


def _jamo(syllable: int) -> str:
    """A Hangul syllable's canonical decomposition (Unicode, section 3.12)."""
    lead, rest = divmod(syllable, 21 * 28)
    vowel, tail = divmod(rest, 28)
    return chr(0x1100 + lead) + chr(0x1161 + vowel) + (chr(0x11A7 + tail) if tail else "")


SIMPLE, PLAIN = _entries("simple"), _entries("plain")
_TABLES = [types.Array(from_dtype(table.dtype), 1, "C") for table in (SIMPLE, PLAIN)]


@inline
def _entry(table, code):
    return np.int64(table.entries[(np.int64(table.block[code >> 6]) << 6) + (code & 63)])


@inline
def _before(data, at):
    """Where the character before `at` begins."""
    at -= 1
    while data[at] & 0xC0 == 0x80:
        at -= 1
    return at


@inline
def _ends_word(data, start, at, stop, table):
    """Whether a capital sigma at `at` becomes a final one: a cased character before it, none after it, those passed
    over that case ignores (Unicode, table 3-17, as str.lower() has it)."""
    left = at
    while left > start:
        left = _before(data, left)
        entry = _entry(table, code_point(data, left)[0])
        if not entry & _IGNORABLE:
            if not entry & _CASED:
                return False
            right = at + 2
            while right < stop:
                code, width = code_point(data, right)
                entry = _entry(table, code)
                if not entry & _IGNORABLE:
                    return not entry & _CASED
                right += width
            return True
    return False


@inline
def _after_number(data, at, stop, table, separators):
    """Where the number that begins at `at` ends: its decimals, and once a separator with more decimals."""
    parted = False
    while at < stop:
        code, width = code_point(data, at)
        if _entry(table, code) & _KIND != _NUMBER:
            if parted or at + width >= stop:
                return at
            known = False
            for separator in separators:
                known |= code == separator
            if not known or _entry(table, code_point(data, at + width)[0]) & _KIND != _NUMBER:
                return at
            parted = True
        at += width
    return at


@inline
def _put_sigma(target, written, final):
    target[written] = 0xCF
    target[written + 1] = 0x82 if final else 0x83
    return written + 2


@kernel([types.int64(I64_IN, BYTES_IN, table, I64_IN, I64_OUT, BYTES_OUT) for table in _TABLES])
def _fold(offsets, bytes_, tables, separators, new_offsets, out):
    table = tables[0]
    data, target = address(bytes_), address(out)
    written = np.int64(0)
    new_offsets[0] = 0
    for text in range(len(offsets) - 1):
        start, at, stop = offsets[text], offsets[text], offsets[text + 1]
        first = written
        gap = True  # whether what is written ends with a gap: a text begins as if
        while at < stop:
            byte = data[at]
            if byte < 0x80:
                form = table.ascii[byte]
                if form != 0:
                    at += 1
                    blank = form == _BLANK
                    target[written] = form
                    written += not (blank and gap)
                    gap = blank
                    continue
            code, width = code_point(data, at)
            entry = _entry(table, code)
            kind = entry & _KIND
            if kind == _GAP:
                target[written] = _BLANK
                written += not gap
                gap = True
                at += width
                continue
            gap = False
            if kind == _SAME:
                for near in range(width):
                    target[written + near] = data[at + near]
                written += width
                at += width
            elif kind == _FORM:
                length = entry >> _LENGTH & _LONGEST
                for near in range(length):
                    target[written + near] = table.pool[(entry >> _OFFSET) + near]
                written += length
                at += width
            elif kind == _NUMBER:
                target[written] = _ZERO
                written += 1
                at = _after_number(data, at, stop, table, separators)
            else:
                written = _put_sigma(target, written, _ends_word(data, start, at, stop, table))
                at += width
        # What was written may begin or end with blanks around characters that left nothing.
        while written > first and target[written - 1] == _BLANK:
            written -= 1
        blanks = np.int64(0)
        while first + blanks < written and target[first + blanks] == _BLANK:
            blanks += 1
        if blanks:
            for place in range(first, written - blanks):
                target[place] = target[place + blanks]
            written -= blanks
        new_offsets[text + 1] = written
    return written


_SEPARATORS = np.array(_IN_NUMBERS, np.int64)


def fold(
    offsets: npt.NDArray[np.int64], data: npt.NDArray[np.uint8], table: npt.NDArray[np.void]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """The texts folded by SIMPLE or PLAIN: offsets, and bytes with PADDING_BYTES behind them."""
    new_offsets = np.empty(len(offsets), np.int64)
    out = np.empty(_LARGEST_GROWTH * int(offsets[-1] - offsets[0]) + 2 * PADDING_BYTES, np.uint8)
    written = _fold(offsets, data, table, _SEPARATORS, new_offsets, out)
    return new_offsets, out[: written + PADDING_BYTES]
