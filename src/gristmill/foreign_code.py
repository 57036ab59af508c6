"""Code that a recipe names and Gristmill does not ship: imported only where somebody has said that it may be.

A recipe that a program builds is the program's own, and so is what it names. One that is read from a file or text may
be a stranger's: while it is checked, whatever would import what it names raises, unless its reader allows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_allowed: ContextVar[bool] = ContextVar("foreign_code_allowed", default=True)


@contextmanager
def allowed(answer: bool) -> Iterator[None]:
    """Whether, inside the block, code may be imported by name."""
    before = _allowed.set(answer)
    try:
        yield
    finally:
        _allowed.reset(before)


def require_allowed(target: str) -> None:
    """Raises ValueError where `target` (module:Class) must not be imported. To be asked before every such import."""
    if not _allowed.get():
        raise ValueError(
            f"expected units that ship with Gristmill, found code that this recipe would run: `{target}`. If you "
            "trust it, allow it: `gristmill run RECIPE --allow-code`, or in Python `gm.run(recipe, allow_code=True)`"
        )
