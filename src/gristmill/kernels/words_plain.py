"""Which characters of a chunk the word rule has to look at, sixty-four bytes at a time.

What enters: the address of valid UTF-8 and a position; the 64 bytes from there on and one more are readable. What
leaves: a mask of bytes. Guaranteed: a chunk without a bit in the mask is cut nowhere, unless it is an exception: it is
made of ASCII letters, and of characters that are no white space, no digit, and neither prefix, suffix nor infix.
Characters that are none of that either may have a bit: those of most scripts beyond Latin, Greek and Cyrillic do.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from gristmill.kernels.vector import PADDING_BYTES

_BYTE = ir.IntType(8)
_VECTOR = ir.VectorType(_BYTE, PADDING_BYTES)
_LETTERS = 26
_CASE_BIT = 0x20
_LATIN_SIGNS_LEAD, _CYRILLIC_SIGNS_LEAD = 0xC2, 0xD2  # first bytes of signs such as U+00AB and U+0482
_FIRST_OTHER_LEAD = 0xD6  # from here on first bytes are looked at, but for
_EXTENDED_LEAD, _EXTENDED_FIRST, _EXTENDED_STOP = 0xE1, 0xB8, 0xBC  # U+1E00 to U+1EFF: letters, as Vietnamese has them


def _all(byte: int) -> Any:
    return ir.Constant(_VECTOR, [byte] * PADDING_BYTES)


@intrinsic  # type: ignore[untyped-decorator]
def special64(typing_context: Any, base: Any, position: Any) -> Any:
    """special64(base, position) -> uint64: which of the 64 bytes from position on have to be looked at."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        base, position = arguments

        def vector_at(place: Any) -> Any:
            return builder.load(builder.bitcast(builder.gep(base, [place]), _VECTOR.as_pointer()), align=1)

        def compare(relation: str, found: Any, byte: int) -> Any:
            return builder.icmp_unsigned(relation, found, _all(byte))

        here = vector_at(position)
        behind = vector_at(builder.add(position, ir.Constant(position.type, 1)))
        from_a = builder.sub(builder.or_(here, _all(_CASE_BIT)), _all(ord("a")))
        no_letter = builder.and_(compare("<", here, 0x80), compare(">=", from_a, _LETTERS))
        signs = builder.or_(compare("==", here, _LATIN_SIGNS_LEAD), compare("==", here, _CYRILLIC_SIGNS_LEAD))
        second = builder.sub(behind, _all(_EXTENDED_FIRST))
        not_extended = builder.or_(
            compare("!=", here, _EXTENDED_LEAD), compare(">=", second, _EXTENDED_STOP - _EXTENDED_FIRST)
        )
        other = builder.and_(compare(">=", here, _FIRST_OTHER_LEAD), not_extended)
        return builder.bitcast(builder.or_(builder.or_(no_letter, signs), other), ir.IntType(PADDING_BYTES))

    return types.uint64(base, types.int64), generate
