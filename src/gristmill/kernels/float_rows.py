"""Rows of float32, sixteen numbers at a time: sums of rows, and products of a matrix and a vector.

What enters: addresses, and places in bytes from them; rows need no alignment. What leaves: numbers added up one after
another in the order of the rows, as a plain loop over them adds: no reassociation, no fused multiply-add, so that a
sum has the same bits on every machine. Widths are in blocks of sixteen: the caller guarantees that so much is readable
behind every row, and keeps the arrays alive.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

BLOCK_NUMBERS = 16
_BLOCK_BYTES = 4 * BLOCK_NUMBERS

_BYTE = ir.IntType(8)
_FLOAT = ir.FloatType()
_BLOCK = ir.VectorType(_FLOAT, BLOCK_NUMBERS)
_LANES = ir.VectorType(ir.IntType(32), BLOCK_NUMBERS)


def _constant(value: int) -> Any:
    return ir.Constant(ir.IntType(64), value)


def _block_at(builder: Any, base: Any, place_bytes: Any) -> Any:
    """The address of the block so many bytes behind `base`."""
    place = builder.gep(builder.bitcast(base, _BYTE.as_pointer()), [place_bytes])
    return builder.bitcast(place, _BLOCK.as_pointer())


@intrinsic  # type: ignore[untyped-decorator]
def bytes_at(typing_context: Any, base: Any) -> Any:
    """bytes_at(base): the same address, of bytes."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], _BYTE.as_pointer())

    return types.CPointer(types.uint8)(base), generate


@intrinsic  # type: ignore[untyped-decorator]
def floats_at(typing_context: Any, base: Any, place_bytes: Any) -> Any:
    """floats_at(base, place_bytes): the address of float32 numbers so many bytes behind `base`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        base, place_bytes = arguments
        place = builder.gep(builder.bitcast(base, _BYTE.as_pointer()), [place_bytes])
        return builder.bitcast(place, _FLOAT.as_pointer())

    return types.CPointer(types.float32)(base, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def fetch(typing_context: Any, base: Any, place_bytes: Any) -> Any:
    """fetch(base, place_bytes): have the line of memory so many bytes behind `base` brought near, without waiting."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        base, place_bytes = arguments
        place = builder.gep(builder.bitcast(base, _BYTE.as_pointer()), [place_bytes])
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [place.type, number, number, number])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [place.type], kind)
        builder.call(prefetch, [place, *(ir.Constant(number, flag) for flag in (0, 3, 1))])  # to read; keep; data
        return context.get_dummy_value()

    return types.void(base, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def add_rows(typing_context: Any, sums: Any, base: Any, places: Any, count: Any, blocks: Any) -> Any:
    """add_rows(sums, base, places, count, blocks): to `sums` add the rows that lie places[0], ..., places[count - 1]
    bytes behind `base`, one after another."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        sums, base, places, count, blocks = arguments
        with cgutils.for_range(builder, blocks) as block:
            offset = builder.mul(block.index, _constant(_BLOCK_BYTES))
            target = _block_at(builder, sums, offset)
            so_far = cgutils.alloca_once_value(builder, builder.load(target, align=4))
            with cgutils.for_range(builder, count) as row:
                place = builder.load(builder.gep(places, [row.index]))
                added = builder.load(_block_at(builder, base, builder.add(place, offset)), align=1)
                builder.store(builder.fadd(builder.load(so_far), added), so_far)
            builder.store(builder.load(so_far), target, align=4)
        return context.get_dummy_value()

    return types.void(sums, base, types.CPointer(types.int64), types.int64, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def multiply(typing_context: Any, products: Any, columns: Any, factors: Any, count: Any, blocks: Any) -> Any:
    """multiply(products, columns, factors, count, blocks): products = columns[0] * factors[0] + ... +
    columns[count - 1] * factors[count - 1], added up in this order; columns lie end to end."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        products, columns, factors, count, blocks = arguments
        column_bytes = builder.mul(blocks, _constant(_BLOCK_BYTES))
        with cgutils.for_range(builder, blocks) as block:
            offset = builder.mul(block.index, _constant(_BLOCK_BYTES))
            so_far = cgutils.alloca_once_value(builder, ir.Constant(_BLOCK, [0.0] * BLOCK_NUMBERS))
            with cgutils.for_range(builder, count) as column:
                factor = builder.load(builder.gep(factors, [column.index]))
                one = builder.insert_element(ir.Constant(_BLOCK, ir.Undefined), factor, ir.Constant(ir.IntType(32), 0))
                lanes = builder.shuffle_vector(
                    one, ir.Constant(_BLOCK, ir.Undefined), ir.Constant(_LANES, [0] * BLOCK_NUMBERS)
                )
                place = builder.add(builder.mul(column.index, column_bytes), offset)
                product = builder.fmul(builder.load(_block_at(builder, columns, place), align=1), lanes)
                builder.store(builder.fadd(builder.load(so_far), product), so_far)
            builder.store(builder.load(so_far), _block_at(builder, products, offset), align=4)
        return context.get_dummy_value()

    return types.void(products, columns, factors, types.int64, types.int64), generate
