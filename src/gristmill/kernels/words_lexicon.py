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

from gristmill.kernels.compile import fold, inline
from gristmill.kernels.spans import equal_spans, load64, lowest_bytes

LONGEST_SEQUENCE_TOKENS = 16
_SLOT_BITS, _SIEVE_BITS = 13, 16
_SLOTS, _ENTRIES, _TEXT_BYTES, _TOKENS, _STATES = 1 << _SLOT_BITS, 2048, 16384, 256, 1024
_HEAD_BYTES = 8
_OF_LENGTH, _OF_TAIL, _OF_ALL = 0xD6E8FEB86659FD93, 0xC2B2AE3D27D4EB4F, 0x9E3779B97F4A7C15

# Sizes are fixed, with room to spare, so that every lexicon is of one type and a kernel is compiled once.
LEXICON = np.dtype(
    [
        ("sieve", np.uint64, 1 << _SIEVE_BITS - 6),  # a bit for each hash that an entry has
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


@fold
def find(lexicon, data, start, stop):
    """The entry that is exactly data[start:stop], or -1. There is at least one byte, and 8 are readable behind it."""
    length = stop - start
    state = lowest_bytes(load64(data, start), min(length, _HEAD_BYTES)) ^ np.uint64(length) * np.uint64(_OF_LENGTH)
    if length > _HEAD_BYTES:
        state ^= load64(data, stop - _HEAD_BYTES) * np.uint64(_OF_TAIL)
    state *= np.uint64(_OF_ALL)
    sieve = lexicon.sieve[state >> np.uint64(64 - _SIEVE_BITS + 6)]
    if sieve >> (state >> np.uint64(64 - _SIEVE_BITS) & np.uint64(63)) & np.uint64(1) == 0:
        return np.int64(-1)
    return _look_up(lexicon, data, start, length, state)


@inline
def _look_up(lexicon, data, start, length, state):
    slot = np.int64(state >> np.uint64(64 - _SLOT_BITS))
    while True:
        entry = np.int64(lexicon.slots[slot])
        if entry < 0:
            return entry
        at = np.int64(lexicon.entry_start[entry])
        if lexicon.entry_start[entry + 1] - at == length and equal_spans(lexicon.text, at, data, start, length):
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
    assert len(text) + _HEAD_BYTES <= _TEXT_BYTES
    lexicon["text"][: len(text)] = np.frombuffer(text, np.uint8)
    lexicon["entry_start"][: len(entries) + 1] = np.cumsum([0, *map(len, entries)])
    lexicon["slots"] = -1
    for number, entry in enumerate(entries):
        state = _hash(entry)
        bit = state >> 64 - _SIEVE_BITS
        lexicon["sieve"][bit >> 6] |= np.uint64(1 << (bit & 63))
        slot = state >> 64 - _SLOT_BITS
        while lexicon["slots"][slot] >= 0:
            slot = (slot + 1) % _SLOTS
        lexicon["slots"][slot] = number


def _hash(entry: bytes) -> int:
    """As `find` has it."""
    state = int.from_bytes(entry[:_HEAD_BYTES], "little") ^ len(entry) * _OF_LENGTH
    if len(entry) > _HEAD_BYTES:
        state ^= int.from_bytes(entry[-_HEAD_BYTES:], "little") * _OF_TAIL
    return state * _OF_ALL % 2**64


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
