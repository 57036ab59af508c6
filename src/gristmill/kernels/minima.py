"""The smallest of many numbers under many permutations at once: MinHash's inner loop.

What enters: addresses of 32-bit numbers, of the permutations' constants and of the minima so far. What leaves: the
minima. A permutation of 32 bits is x → (x ^ salt) * odd, modulo 2**32; `lanes` of them stand beside each other in one
vector value, which the machine holds in one register (AVX-512), two or four, while all numbers pass by.

As in kernels/vector.py, no index is checked: the caller keeps the arrays alive, and long enough.

Tried and rejected, nanoseconds for one number and 112 permutations, one core: numba's loop over permutations inside
that over numbers 6.1, the other way round 2.6; with the 64-bit (x * odd + salt) >> 32 8.1; these with 16 lanes 1.4,
with 32 or 64 1.5, with 112 at once 25 (LLVM spills).
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

_WORD, _INDEX = ir.IntType(32), ir.IntType(64)
LANES = 16
_VECTOR = ir.VectorType(_WORD, LANES)
_ANYTHING = ir.Constant(_VECTOR, ir.Undefined)
_FIRST_LANE = ir.Constant(ir.VectorType(_WORD, LANES), [0] * LANES)


def _at(builder: Any, base: Any, position: Any) -> Any:
    return builder.bitcast(builder.gep(base, [position]), _VECTOR.as_pointer())


@intrinsic  # type: ignore[untyped-decorator]
def lower_minima(typing_context: Any, numbers: Any, count: Any, odds: Any, salts: Any, minima: Any, lane: Any) -> Any:
    """lower_minima(numbers, count, odds, salts, minima, lane): lower minima[lane:lane + LANES] to the smallest of
    numbers[:count] under these permutations."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        numbers, count, odds, salts, minima, lane = arguments
        odd = builder.load(_at(builder, odds, lane), align=4)
        salt = builder.load(_at(builder, salts, lane), align=4)
        begin = builder.load(_at(builder, minima, lane), align=4)
        before = builder.block
        loop, after = builder.append_basic_block("minima"), builder.append_basic_block("minima.after")
        builder.cbranch(builder.icmp_signed(">", count, ir.Constant(_INDEX, 0)), loop, after)
        builder.position_at_end(loop)
        index, smallest = builder.phi(_INDEX), builder.phi(_VECTOR)
        number = builder.load(builder.gep(numbers, [index]))
        one = builder.insert_element(_ANYTHING, number, ir.Constant(_WORD, 0))
        permuted = builder.mul(builder.xor(builder.shuffle_vector(one, _ANYTHING, _FIRST_LANE), salt), odd)
        smaller = builder.select(builder.icmp_unsigned("<", permuted, smallest), permuted, smallest)
        following = builder.add(index, ir.Constant(_INDEX, 1))
        index.add_incoming(ir.Constant(_INDEX, 0), before)
        index.add_incoming(following, loop)
        smallest.add_incoming(begin, before)
        smallest.add_incoming(smaller, loop)
        builder.cbranch(builder.icmp_signed("<", following, count), loop, after)
        builder.position_at_end(after)
        result = builder.phi(_VECTOR)
        result.add_incoming(begin, before)
        result.add_incoming(smaller, loop)
        builder.store(result, _at(builder, minima, lane), align=4)
        return context.get_dummy_value()

    return types.void(numbers, types.int64, odds, salts, minima, types.int64), generate
