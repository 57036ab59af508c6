"""The strings that the word rule knows by heart, as a record that a kernel can search.

What enters: the exceptions and units of words_exceptions, and how the rule alone would cut each exception.
What leaves: a record of LEXICON's layout, and inline lookups. Its entries are exceptions, units, and the tokens of
`sequences`: where the rule, left alone, cuts an exception into several tokens, the same tokens in a row are put
together again wherever they meet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from numba import from_dtype, types

from gristmill.kernels.compile import inline

LONGEST_ENTRY_BYTES = 48
LONGEST_SEQUENCE_TOKENS = 16
_SLOTS, _SIEVE_BITS, _ENTRIES, _TEXT_BYTES, _TOKENS, _STATES = 8192, 15, 2048, 16384, 256, 1024
_SIEVE_ODD = 0x9E3779B1
_FNV_START, _FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3

# Sizes are fixed, with room to spare, so that every lexicon is of one type and a kernel is compiled once.
LEXICON = np.dtype(
    [
        ("sieve", np.uint8, 1 << _SIEVE_BITS),  # 1 where an entry has these first, middle and last byte, and length
        ("slots", np.int32, _SLOTS),  # hash -> entry, -1 = empty
        ("entry_start", np.int32, _ENTRIES + 1),  # entry -> its bytes in `text`
        ("text", np.uint8, _TEXT_BYTES),
        ("cut_start", np.int32, _ENTRIES + 1),  # entry -> its pieces in `cuts`; none unless it is an exception
        ("cuts", np.int32, 2 * _ENTRIES),  # where each piece ends, in bytes from the start of the exception
        ("is_unit", np.uint8, _ENTRIES),  # 1 if the entry is cut off after a digit
        ("token", np.int32, _ENTRIES),  # entry -> its number among the tokens of sequences, or -1
        ("follows", np.uint8, (_TOKENS, _TOKENS)),  # 1 where some sequence has these two in a row
        ("next_state", np.int32, (_STATES, _TOKENS)),  # 0 = no sequence goes on like this
        ("completes", np.int32, _STATES),  # state -> the exception that ends here, or -1
    ]
)
LEXICON_IN = types.Array(from_dtype(LEXICON), 1, "C")


@inline
def _sieve(first, middle, last, length):
    told = np.uint32(first) | np.uint32(middle) << np.uint32(8) | np.uint32(last) << np.uint32(16)
    told |= np.uint32(length) << np.uint32(24)
    return np.int64(np.uint32(told * np.uint32(_SIEVE_ODD)) >> np.uint32(32 - _SIEVE_BITS))


@inline
def find(lexicon, data, start, stop):
    """The entry that is exactly data[start:stop], or -1. There is at least one byte."""
    length = stop - start
    if length > LONGEST_ENTRY_BYTES:
        return np.int64(-1)
    if not lexicon.sieve[_sieve(data[start], data[start + (length >> 1)], data[stop - 1], length)]:
        return np.int64(-1)
    state = np.uint64(_FNV_START)
    for index in range(start, stop):
        state = (state ^ np.uint64(data[index])) * np.uint64(_FNV_PRIME)
    slot = np.int64((state ^ (state >> np.uint64(32))) & np.uint64(_SLOTS - 1))
    while True:
        entry = np.int64(lexicon.slots[slot])
        if entry < 0:
            return entry
        at = np.int64(lexicon.entry_start[entry])
        if np.int64(lexicon.entry_start[entry + 1]) - at == length:
            same = 0
            while same < length and lexicon.text[at + same] == data[start + same]:
                same += 1
            if same == length:
                return entry
        slot = (slot + 1) & (_SLOTS - 1)


@inline
def find_exception(lexicon, data, start, stop):
    entry = find(lexicon, data, start, stop)
    if entry >= 0 and lexicon.cut_start[entry] == lexicon.cut_start[entry + 1]:
        return np.int64(-1)
    return entry


def build(
    exceptions: Mapping[str, Sequence[str]], units: frozenset[str], sequences: Mapping[str, Sequence[str]]
) -> npt.NDArray[np.void]:
    """`sequences`: for exceptions that the rule alone cuts into several tokens, these tokens."""
    lexicon = np.zeros(1, LEXICON)
    tokens = sorted({token for sequence in sequences.values() for token in sequence})
    entries = sorted({*exceptions, *units, *tokens})
    assert len(entries) <= _ENTRIES and len(tokens) <= _TOKENS
    _index(lexicon[0], [entry.encode() for entry in entries])
    ends = [np.cumsum([len(piece.encode()) for piece in exceptions.get(entry, ())]) for entry in entries]
    lexicon["cut_start"][0, : len(entries) + 1] = np.cumsum([0, *map(len, ends)])
    lexicon["cuts"][0, : sum(map(len, ends))] = np.concatenate(ends)
    lexicon["is_unit"][0, : len(entries)] = [entry in units for entry in entries]
    lexicon["token"][0, : len(entries)] = [tokens.index(entry) if entry in tokens else -1 for entry in entries]
    _link(lexicon[0], entries, tokens, sequences)
    return lexicon


def _index(lexicon: np.void, entries: list[bytes]) -> None:
    """Lay out the entries so that `find` finds them."""
    text = b"".join(entries)
    lexicon["text"][: len(text)] = np.frombuffer(text, np.uint8)
    lexicon["entry_start"][: len(entries) + 1] = np.cumsum([0, *map(len, entries)])
    lexicon["slots"] = -1
    for number, entry in enumerate(entries):
        assert len(entry) <= LONGEST_ENTRY_BYTES
        told = entry[0] | entry[len(entry) // 2] << 8 | entry[-1] << 16 | len(entry) << 24
        lexicon["sieve"][(told * _SIEVE_ODD % 2**32) >> (32 - _SIEVE_BITS)] = 1
        state = _FNV_START
        for byte in entry:
            state = (state ^ byte) * _FNV_PRIME % 2**64
        slot = (state ^ state >> 32) % _SLOTS
        while lexicon["slots"][slot] >= 0:
            slot = (slot + 1) % _SLOTS
        lexicon["slots"][slot] = number


def _link(lexicon: np.void, entries: list[str], tokens: list[str], sequences: Mapping[str, Sequence[str]]) -> None:
    """The automaton over tokens that recognises the sequences."""
    lexicon["completes"] = -1
    states: dict[tuple[str, ...], int] = {(): 0}
    for exception, sequence in sequences.items():
        assert len(sequence) <= LONGEST_SEQUENCE_TOKENS
        for length, token in enumerate(sequence):
            before = states[tuple(sequence[:length])]
            state = states.setdefault(tuple(sequence[: length + 1]), len(states))
            lexicon["next_state"][before, tokens.index(token)] = state
            if length > 0:
                lexicon["follows"][tokens.index(sequence[length - 1]), tokens.index(token)] = 1
        lexicon["completes"][state] = entries.index(exception)
