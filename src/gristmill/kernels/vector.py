"""Sixty-four bytes at a time: the few vector operations that byte-scanning kernels are made of.

What enters: the address of some bytes and a position behind it. What leaves: a 64-bit mask, bit k of which speaks of
the byte at position + k. Each is one line of portable LLVM, compiled to the machine's own vector unit (one compare
on AVX-512, two on AVX2, four on NEON). Numba's own loops do not reach it: see the figures in kernels/jsonl.py.

Addresses and not arrays, because numba counts references to an array at every call that LLVM does not inline, which
made small functions 10 times as slow. So no index is checked: the caller guarantees PADDING_BYTES readable (or
writable) bytes after the last position, and keeps the array alive.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

PADDING_BYTES = 64

_LANE = ir.IntType(32)
_MASK = ir.IntType(PADDING_BYTES)
_VECTOR = ir.VectorType(ir.IntType(8), PADDING_BYTES)
_ANYTHING = ir.Constant(_VECTOR, ir.Undefined)
_FIRST_LANE = ir.Constant(ir.VectorType(_LANE, PADDING_BYTES), [0] * PADDING_BYTES)


def _vector_at(builder: Any, base: Any, position: Any) -> Any:
    return builder.bitcast(builder.gep(base, [position]), _VECTOR.as_pointer())


def _compare(relation: str) -> Any:
    """Code for the mask of the bytes that stand in this relation (unsigned) to a given byte."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        base, position, byte = arguments
        found = builder.load(_vector_at(builder, base, position), align=1)
        one = builder.insert_element(_ANYTHING, byte, ir.Constant(_LANE, 0))
        all_lanes = builder.shuffle_vector(one, _ANYTHING, _FIRST_LANE)
        return builder.bitcast(builder.icmp_unsigned(relation, found, all_lanes), _MASK)

    return generate


@intrinsic  # type: ignore[untyped-decorator]
def address(typing_context: Any, array: Any) -> Any:
    """address(array): where its first item is; `address(array)[i]` reads and writes without any check."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.make_array(signature.args[0])(context, builder, arguments[0]).data

    return types.CPointer(array.dtype)(array), generate


@intrinsic  # type: ignore[untyped-decorator]
def equal64(typing_context: Any, base: Any, position: Any, byte: Any) -> Any:
    """equal64(base, position, byte) -> uint64: which of the 64 bytes from position on equal `byte`."""
    return types.uint64(base, types.int64, types.uint8), _compare("==")


@intrinsic  # type: ignore[untyped-decorator]
def below64(typing_context: Any, base: Any, position: Any, byte: Any) -> Any:
    """below64(base, position, byte) -> uint64: which of the 64 bytes from position on are below `byte`."""
    return types.uint64(base, types.int64, types.uint8), _compare("<")


@intrinsic  # type: ignore[untyped-decorator]
def copy64(typing_context: Any, out: Any, out_position: Any, base: Any, position: Any) -> Any:
    """copy64(out, out_position, base, position): copies 64 bytes, which must not overlap."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, target_position, source, source_position = arguments
        copied = builder.load(_vector_at(builder, source, source_position), align=1)
        builder.store(copied, _vector_at(builder, target, target_position), align=1)
        return context.get_dummy_value()

    return types.void(out, types.int64, base, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def first_bit(typing_context: Any, mask: Any) -> Any:
    """first_bit(mask) -> int64: the number of the lowest bit set, 64 when none is."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def count_bits(typing_context: Any, mask: Any) -> Any:
    """count_bits(mask) -> int64: how many bits are set."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate
