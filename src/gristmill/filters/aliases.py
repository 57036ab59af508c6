"""datatrove's parameter names beside ours, so that a pipeline's arguments can be carried over as they are."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type)


def also_known_as(**ours: str) -> Callable[[Class], Class]:
    """Class decorator: the constructor takes THEIR_NAME="our_name" too. They are kept as `ALIASES`."""

    def decorate(unit: Class) -> Class:
        own_init: Any = unit.__init__  # type: ignore[misc]

        @functools.wraps(own_init)
        def init(self: Any, *arguments: Any, **parameters: Any) -> None:
            renamed: dict[str, Any] = {}
            for name, value in parameters.items():
                known = ours.get(name, name)
                if known in renamed:
                    raise TypeError(f"expected `{known}` once, found it under two names")
                renamed[known] = value
            own_init(self, *arguments, **renamed)

        unit.__init__ = init  # type: ignore[misc]
        unit.ALIASES = ours  # type: ignore[attr-defined]
        return unit

    return decorate
