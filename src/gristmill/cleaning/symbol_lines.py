"""Lines of nothing but symbols (rules, borders, lonely bullets), away, as datatrove's SymbolLinesFormatter has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from gristmill.document import buffers, strings


@dataclass(frozen=True)
class SymbolLines:
    """Removes what datatrove 0.10.1's SymbolLinesFormatter removes, with its parameters, names and defaults.

    symbols_to_remove   the symbols, one character each; None for datatrove's punctuation of many scripts
    replace_char        what stands for a run of removed lines; nothing by default, a newline for an empty line

    `* * *` goes and `1 * 2` stays; empty lines stay. As with datatrove, the lines that are left come out with newlines
    between them, whatever parted them before, and none behind the last.
    """

    VERSION: ClassVar[int] = 1

    symbols_to_remove: Sequence[str] | None = None
    replace_char: str = ""

    def __post_init__(self) -> None:
        if self.symbols_to_remove is None:
            return
        if not all(isinstance(symbol, str) and len(symbol) == 1 for symbol in self.symbols_to_remove):
            raise ValueError(f"expected `symbols_to_remove` to be single characters, found {self.symbols_to_remove!r}")
        object.__setattr__(self, "symbols_to_remove", tuple(self.symbols_to_remove))

    def clean(self, texts: Any) -> Any:
        """large_string → large_string."""
        from gristmill.kernels import symbol_lines as kernels

        symbols = kernels.punctuation() if self.symbols_to_remove is None else map(ord, self.symbols_to_remove)
        return strings(*kernels.remove_symbol_lines(*buffers(texts), symbols, self.replace_char))
