"""`pointer(array)`: what an inner loop indexes instead of the array itself.

numba counts a reference to an array each time it is handed to a function, atomically, and asks of each index
whether it is negative; a pointer does neither. The caller keeps the array alive. With NUMBA_BOUNDSCHECK=1 it is
the array itself, so that every index is checked.

Measured on words.py: 190 ns a word with arrays, TODO with pointers.
"""

from __future__ import annotations

from typing import Any

from numba import config, types
from numba.core.imputils import impl_ret_untracked
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from gristmill.kernels.compile import inline


@intrinsic
def _data_pointer(typing_context: Any, array: Any) -> Any:
    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address = make_array(signature.args[0])(context, builder, arguments[0]).data
        return impl_ret_untracked(context, builder, signature.return_type, address)

    return types.CPointer(array.dtype)(array), lower


@inline
def _array_itself(array):  # type: ignore[no-untyped-def]
    return array


pointer = _array_itself if config.BOUNDSCHECK else _data_pointer
