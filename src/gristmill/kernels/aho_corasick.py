"""All places of many phrases in one pass over a text: the automaton of Aho and Corasick (1975).

What enters: phrases as sequences of symbols (numbers from 1), a table that gives each code point its symbol, and the
buffers of a string column. What leaves: `Found`, counts for each text. Every place counts, also where phrases overlap
or one lies in another. What a character is (its case, whether it counts at all) is the table's business:

    NO_SYMBOL   stands in no phrase: what went before is forgotten
    SKIPPED     is not there
    UNSETTLED   the table cannot tell: the text is given up, its hits are -1

Moves are a dense table of states × symbols, 4 bytes each: 150 kB for the built-in list, 80 MB for 10,000 phrases of 20
letters. A `Shortcut` leaves out what is in no phrase: the built-in list takes 3,000 MB/s of English and
2,800 of Vietnamese, without it 570 and 350. Vietnamese, whose common syllables begin its phrases, took 580 before a
window of four bytes was followed by one of eight, and before đ and ă, which share a lead with İ, were told from it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from gristmill.kernels.characters import code_point
from gristmill.kernels.compile import BYTES_IN, I32_IN, I32_OUT, I64_IN, I64_OUT, U16_IN, inline, kernel
from gristmill.kernels.phrase_windows import NOTHING_KNOWN, WINDOW_BYTES, WINDOWS, Windows, next_place, windows_of
from gristmill.kernels.spans import with_padding
from gristmill.kernels.vector import PADDING_BYTES, address, equal64, first_bit

NO_SYMBOL, SKIPPED, UNSETTLED = 0, 0xFFFE, 0xFFFF
MOST_SYMBOLS = SKIPPED - 1
_LONGEST_CHARACTER = 4  # bytes


class Automaton(NamedTuple):
    """Phrases, ready to be looked for. A state is named by where its row begins in `moves`."""

    moves: npt.NDArray[np.int32]  # state + symbol → state, or ~state where a phrase ends
    width: int  # of a row: symbols and NO_SYMBOL
    phrase: npt.NDArray[np.int32]  # number of state → the longest phrase that ends there, or -1
    shorter: npt.NDArray[np.int32]  # number of state → that of the next shorter one where a phrase ends, or 0
    lengths: npt.NDArray[np.int64]  # symbols of each phrase


class Found(NamedTuple):
    """Of each text."""

    hits: npt.NDArray[np.int64]  # places where a phrase stands; -1 for a text with an UNSETTLED character
    phrases: npt.NDArray[np.int64]  # different ones
    first: npt.NDArray[np.int64]  # number of the phrase that begins first, the longest of them; -1: none


@kernel(types.int64(I32_IN, I64_IN, types.int64, I32_OUT, I32_OUT, I32_OUT))
def _grow(symbols, bounds, width, moves, phrase, shorter):
    """Phrase p is symbols[bounds[p]:bounds[p + 1]], no two alike. Returns how many states there are."""
    states = np.int64(1)
    phrase[:] = -1
    for number in range(bounds.size - 1):
        state = np.int64(0)
        for at in range(bounds[number], bounds[number + 1]):
            move = state * width + symbols[at]
            if moves[move] == 0:
                moves[move] = states
                states += 1
            state = np.int64(moves[move])
        phrase[state] = number
    # Breadth first: a state's suffix is nearer to the root, so its row is complete when it is needed.
    suffix = np.zeros(states, np.int64)
    queue = np.empty(states, np.int64)
    read = np.int64(0)
    write = np.int64(1)
    queue[0] = 0
    while read < write:
        state = queue[read]
        read += 1
        behind = suffix[state]
        if phrase[state] >= 0:
            shorter[state] = behind if phrase[behind] >= 0 else 0
        elif phrase[behind] >= 0:
            phrase[state] = phrase[behind]
            shorter[state] = shorter[behind]
        for symbol in range(width):
            inherited = np.int64(moves[behind * width + symbol]) if state else np.int64(0)
            target = np.int64(moves[state * width + symbol])
            if target:
                suffix[target] = inherited
                queue[write] = target
                write += 1
            else:
                moves[state * width + symbol] = inherited
    for move in range(states * width):
        target = moves[move]
        moves[move] = ~(target * width) if phrase[target] >= 0 else target * width
    return states


def automaton(phrases: Sequence[Sequence[int]], width: int) -> Automaton:
    """For phrases of symbols from 1 to width - 1, none empty, no two alike."""
    most_states = 1 + sum(map(len, phrases))
    if most_states * width >= 1 << 31:
        raise ValueError(f"expected phrases of fewer than {(1 << 31) // width:,} symbols in all, found {most_states:,}")
    symbols = np.array([symbol for phrase in phrases for symbol in phrase], np.int32)
    lengths = np.array([len(phrase) for phrase in phrases], np.int64)
    moves = np.zeros(most_states * width, np.int32)
    phrase, shorter = np.zeros(most_states, np.int32), np.zeros(most_states, np.int32)
    states = _grow(symbols, np.concatenate([[0], np.cumsum(lengths)]), width, moves, phrase, shorter)
    return Automaton(moves[: states * width].copy(), width, phrase[:states], shorter[:states], lengths)


@inline
def _has_unsettled(data, at, stop, symbols, leads, leads_there):
    """Whether a text has an UNSETTLED character. `leads`: see Shortcut."""
    while at < stop:
        found = np.uint64(0)
        for lead in range(leads_there):
            here = equal64(data, at, leads[2 * lead])
            if leads[2 * lead + 1]:
                here &= equal64(data, at + 1, leads[2 * lead + 1])
            found |= here
        while found:
            begin = at + first_bit(found)
            if begin < stop and symbols[code_point(data, begin)[0]] == UNSETTLED:
                return True
            found &= found - np.uint64(1)
        at += PADDING_BYTES
    return False


@inline
def _skip(windows, data, at, stop):
    """From `at` on: where to go on reading, and up to where at least; nothing before it is in a phrase."""
    place = next_place(windows, data, at, stop)
    begin = min(max(place - windows.step + 1, at), stop)
    while begin > at and data[begin] & 0xC0 == 0x80:
        begin -= 1
    return begin, place + WINDOW_BYTES + _LONGEST_CHARACTER


@kernel(
    types.void(
        *(I64_IN, BYTES_IN, U16_IN, I32_IN, types.int64, I32_IN, I32_IN, I64_IN, WINDOWS, BYTES_IN, types.int64),
        *(I64_OUT, types.Array(types.int64, 2, "C")),
    )
)
def _find(
    offsets, data_array, symbol_array, move_array, width, phrase, shorter, lengths, windows, leads, edge, seen, out
):
    data, symbols, moves = address(data_array), address(symbol_array), address(move_array)
    may_skip = windows.step > 0
    for text in range(offsets.size - 1):
        hits = np.int64(0)
        different = np.int64(0)
        first = np.int64(-1)
        first_start = np.int64(1) << 62
        position = np.int64(0)
        at = offsets[text]
        stop = offsets[text + 1]
        state = np.int64(moves[edge])
        ended = False
        read_to = stop
        if may_skip:
            if _has_unsettled(data, at, stop, symbols, address(leads), leads.size // 2):
                hits = np.int64(-1)
                ended, at = True, stop
            at, read_to = _skip(windows, data, at, stop)
        while True:
            here = at
            if at < stop:
                code = np.int64(data[at])
                at += 1
                if code >= 0x80:
                    code, length = code_point(data, at - 1)
                    at += length - 1
                symbol = np.int64(symbols[code])
                if symbol >= SKIPPED:
                    if symbol == SKIPPED:
                        continue
                    hits = np.int64(-1)
                    break
            elif ended:
                break
            else:
                symbol = edge
                ended = True
            position += 1
            state = np.int64(moves[state + symbol])
            if state < 0:
                state = ~state
                number = state // width
                start = position - lengths[phrase[number]]
                if start <= first_start:
                    first, first_start = np.int64(phrase[number]), start
                while number:
                    hits += 1
                    if seen[phrase[number]] != text:
                        seen[phrase[number]] = text
                        different += 1
                    number = np.int64(shorter[number])
            elif may_skip and at >= read_to and state == moves[symbol]:
                # What was read last, if anything, is the first character of a phrase: it is read again. Positions only
                # have to be in order, so a byte that is left out counts like a character.
                at, read_to = _skip(windows, data, here, stop)
                position += at - here - 1
                state = np.int64(0)
        out[0, text] = hits
        out[1, text] = different
        out[2, text] = first


class Shortcut(NamedTuple):
    """What lets `find` leave out most of a text. Of no use where characters are SKIPPED."""

    windows: Windows
    leads: npt.NDArray[np.uint8]  # of UNSETTLED characters: first byte; second byte where there is but one, else 0


NO_SHORTCUT = Shortcut(NOTHING_KNOWN, np.zeros(0, np.uint8))


def shortcut(beginnings: Collection[bytes], symbols: npt.NDArray[np.uint16]) -> Shortcut:
    """`beginnings`: each phrase's, in all ways to write it that `symbols` takes for the same (see windows_of)."""
    assert not (symbols == SKIPPED).any()
    seconds: dict[int, set[int]] = {}
    for code in np.flatnonzero(symbols == UNSETTLED).tolist():
        lead, second, *_ = (*chr(code).encode("utf-8", "surrogatepass"), 0)
        seconds.setdefault(lead, set()).add(second)
    leads = [number for lead, found in sorted(seconds.items()) for number in (lead, max(found) * (len(found) == 1))]
    return Shortcut(windows_of(beginnings), np.array(leads, np.uint8))


def find(
    offsets: npt.NDArray[np.int64],
    data: npt.NDArray[np.uint8],
    symbols: npt.NDArray[np.uint16],
    machine: Automaton,
    edge: int = NO_SYMBOL,
    shortcut: Shortcut = NO_SHORTCUT,
) -> Found:
    """`symbols`: of each code point. `edge`: a symbol that is taken to stand before each text and behind it; none where
    there is a shortcut."""
    assert edge == NO_SYMBOL or shortcut is NO_SHORTCUT
    out = np.zeros((len(Found._fields), offsets.size - 1), np.int64)
    seen = np.full(len(machine.lengths), -1, np.int64)
    _find(
        *(offsets, with_padding(data, int(offsets[-1])), symbols, machine.moves, machine.width),
        *(machine.phrase, machine.shorter, machine.lengths, *shortcut, edge, seen, out),
    )
    return Found(*out)
