"""Mojibake mended by ftfy: per document and in Python (about 1 MB/s a core), so ask for it only where it pays."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import pyarrow as pa
import pyarrow.compute as pc

# What no step of ftfy touches: printable ASCII without `&`, tabs and newlines.
_TOUCHABLE = r"[^\t\n -%'-~]"


@dataclass(frozen=True)
class Ftfy:
    """`ftfy.fix_text` with the parameters and defaults of datatrove 0.10.1's FTFYFormatter.

    They are ftfy's own parameters. The defaults mend what is broken and leave alone what is only a matter of taste:
    ligatures, full-width letters, curly quotes, line breaks, normal forms.
    """

    VERSION: ClassVar[int] = 2

    unescape_html: Literal["auto"] | bool = "auto"
    remove_terminal_escapes: bool = True
    fix_encoding: bool = True
    restore_byte_a0: bool = True
    replace_lossy_sequences: bool = True
    decode_inconsistent_utf8: bool = True
    fix_c1_controls: bool = True
    fix_latin_ligatures: bool = False
    fix_character_width: bool = False
    uncurl_quotes: bool = False
    fix_line_breaks: bool = False
    fix_surrogates: bool = True
    remove_control_chars: bool = True
    normalization: Literal["NFC", "NFD", "NFKC", "NFKD"] | None = None

    def __post_init__(self) -> None:
        if self.normalization not in (None, "NFC", "NFD", "NFKC", "NFKD"):
            raise ValueError(f"expected a normalization of NFC, NFD, NFKC, NFKD or null, found {self.normalization!r}")
        if self.unescape_html not in ("auto", True, False):
            raise ValueError(f"expected `unescape_html` to be auto, true or false, found {self.unescape_html!r}")

    def clean(self, texts: Any) -> Any:
        """large_string → large_string. Texts in which ftfy has nothing to look at never become Python's."""
        import ftfy

        touchable = pc.match_substring_regex(texts, _TOUCHABLE)
        if not pc.any(touchable).as_py():
            return texts
        options = ftfy.TextFixerConfig(**dataclasses.asdict(self))
        fixed = [ftfy.fix_text(text, options) for text in texts.filter(touchable).to_pylist()]
        return pc.replace_with_mask(texts, touchable, pa.array(fixed, pa.large_string()))
