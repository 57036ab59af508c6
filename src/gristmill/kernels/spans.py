"""Spans of bytes that are told apart by what stands in them: the hash table under every count of repetitions.

What enters: the address of some bytes and the bounds of a span in them. What leaves: the span's number among the
different ones. Guaranteed: two spans get one number if and only if their bytes are equal; the hash only says where
to look. Behind the last span PADDING_BYTES are readable (`with_padding`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from gristmill.kernels.compile import inline
from gristmill.kernels.vector import PADDING_BYTES, below64, count_bits

_VECTOR = ir.VectorType(ir.IntType(8), PADDING_BYTES)
_ODD = np.uint64(0x9E3779B97F4A7C15)
_OTHER_ODD = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)
HIGH = np.uint64(0xFFFFFFFF00000000)
LOW = np.uint64(0x00000000FFFFFFFF)


def with_padding(data: npt.NDArray[np.uint8], stop: int) -> npt.NDArray[np.uint8]:
    """`data`, or a copy, with PADDING_BYTES readable bytes behind `stop`."""
    if data.size >= stop + PADDING_BYTES:
        return data
    return np.concatenate([data[:stop], np.zeros(PADDING_BYTES, np.uint8)])


@intrinsic  # type: ignore[untyped-decorator]
def differ64(typing_context: Any, base: Any, one: Any, other_base: Any, other: Any) -> Any:
    """differ64(base, one, other_base, other) -> uint64: in which of the 64 bytes from there on the two differ."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        found = [
            builder.load(builder.bitcast(builder.gep(place, [position]), _VECTOR.as_pointer()), align=1)
            for place, position in (arguments[:2], arguments[2:])
        ]
        return builder.bitcast(builder.icmp_unsigned("!=", *found), ir.IntType(PADDING_BYTES))

    return types.uint64(base, types.int64, other_base, types.int64), generate


@inline
def load64(base, at):
    """Eight bytes, little end first; LLVM makes one load of it."""
    value = np.uint64(0)
    for near in range(8):
        value |= np.uint64(base[at + near]) << np.uint64(8 * near)
    return value


@inline
def lowest_bytes(value, count):
    """`value` with only its `count` (1 to 8) lowest bytes."""
    return value & (~np.uint64(0) >> np.uint64(64 - 8 * count))


@inline
def hash_span(base, start, stop):
    state = np.uint64(stop - start) * _OTHER_ODD
    at = start
    while at + 8 < stop:
        state = (state ^ load64(base, at)) * _ODD
        state ^= state >> _HALF
        at += 8
    if at < stop:
        state = (state ^ lowest_bytes(load64(base, at), stop - at)) * _ODD
    return (state ^ (state >> _HALF)) * _OTHER_ODD


@inline
def hash_word(base, start, stop):
    """A hash of a span that is mostly of 16 bytes at most; these take no branch that depends on the length."""
    length = stop - start
    if length > 16:
        return hash_span(base, start, stop)
    head = lowest_bytes(load64(base, start), min(length, 8))
    tail = lowest_bytes(load64(base, start + 8), max(length - 8, 1))
    state = (head ^ np.uint64(length) * _OTHER_ODD) * _ODD
    state ^= state >> _HALF
    state = (state ^ (tail if length > 8 else np.uint64(0))) * _OTHER_ODD
    return state ^ (state >> _HALF)


@inline
def _hash_long(base, start, stop):
    """A hash of a span of any length, four words at a time."""
    if stop - start <= 16:
        return hash_word(base, start, stop)
    if stop - start <= 32:
        one = (load64(base, start) ^ np.uint64(stop - start) * _OTHER_ODD) * _ODD
        two = (load64(base, start + 8) ^ _OTHER_ODD) * _ODD
        three = (load64(base, stop - 16) + _ODD) * _OTHER_ODD
        four = (load64(base, stop - 8) ^ _ODD) * _OTHER_ODD
        state = (one ^ (one >> _HALF)) + (two ^ (two >> _HALF)) * _OTHER_ODD
        state ^= (three ^ (three >> _HALF)) + (four ^ (four >> _HALF)) * _ODD
        state *= _OTHER_ODD
        return state ^ (state >> _HALF)
    one = np.uint64(stop - start) * _OTHER_ODD
    two, three, four = one ^ _ODD, one + _ODD, one - _OTHER_ODD
    at = start
    last = stop - 32
    while True:
        one = (one ^ load64(base, at)) * _ODD
        two = (two ^ load64(base, at + 8)) * _ODD
        three = (three ^ load64(base, at + 16)) * _ODD
        four = (four ^ load64(base, at + 24)) * _ODD
        if at == last:
            break
        at = min(at + 32, last)
    state = one ^ (one >> _HALF)
    state = (state * _ODD) ^ two ^ (two >> _HALF)
    state = (state * _ODD) ^ three ^ (three >> _HALF)
    state = (state * _ODD) ^ four ^ (four >> _HALF)
    state *= _OTHER_ODD
    return state ^ (state >> _HALF)


@inline
def equal_spans(base, one, other_base, other, length):
    while length > 8:
        if load64(base, one) != load64(other_base, other):
            return False
        one += 8
        other += 8
        length -= 8
    return length == 0 or lowest_bytes(load64(base, one) ^ load64(other_base, other), length) == np.uint64(0)


@inline
def equal_padded(base, one, other_base, other, length):
    """As equal_spans, where PADDING_BYTES are readable behind both."""
    while length > PADDING_BYTES:
        if differ64(base, one, other_base, other):
            return False
        one += PADDING_BYTES
        other += PADDING_BYTES
        length -= PADDING_BYTES
    return length == 0 or differ64(base, one, other_base, other) << np.uint64(PADDING_BYTES - length) == np.uint64(0)


def table_size(items: int) -> int:
    """How many slots a table for so many items has: a power of two, at most half full."""
    slots = 16
    while slots < 2 * items:
        slots *= 2
    return slots


def full_table_size(items: int) -> int:
    """As `table_size`, but at most two thirds full: where memory counts."""
    slots = 16
    while 2 * slots < 3 * items:
        slots *= 2
    return slots


slots_for, full_slots_for = inline(table_size), inline(full_table_size)  # the same, for kernels


@inline
def number_of_span(base, start, stop, slots, mask, starts, stops, known):
    """The number of this span among the `known` ones; `known` if it is new, and from now on its number.

    A slot holds the upper half of a hash and, counted from 1, a number; `slots` is all zero at first.
    """
    state = _hash_long(base, start, stop)
    slot = np.int64(state) & mask
    while True:
        entry = slots[slot]
        if entry == 0:
            slots[slot] = (state & HIGH) | np.uint64(known + 1)
            starts[known] = start
            stops[known] = stop
            return np.int64(known)
        if (entry ^ state) & HIGH == 0:
            number = np.int64(entry & LOW) - 1
            length = stop - start
            if stops[number] - starts[number] == length and equal_padded(base, starts[number], base, start, length):
                return number
        slot = (slot + 1) & mask


@inline
def count_characters(base, start, stop):
    """Code points in base[start:stop], which is valid UTF-8: the bytes that continue none."""
    characters = np.int64(0)
    for at in range(start, stop, PADDING_BYTES):
        begins = below64(base, at, 0x80) | ~below64(base, at, 0xC0)
        if stop - at < PADDING_BYTES:
            begins &= ~(~np.uint64(0) << np.uint64(stop - at))
        characters += count_bits(begins)
    return characters
