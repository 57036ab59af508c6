"""Quantities as people write them (10B, 1.5M, 4GB) to integers, and back."""

from __future__ import annotations

import re
from typing import Any

_NUMBER = re.compile(r"^\s*(\d+(?:\.\d+)?(?:e\d+)?)\s*([a-zA-Z]*)\s*$")
_COUNT_UNITS = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}
_BYTE_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
               "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}  # fmt: skip


def parse_count(value: Any) -> Any:
    """10B, 1.5M, 4096 or "4_096" as an integer; anything that is not a quantity raises ValueError."""
    return _parse(value, _COUNT_UNITS, "a number such as 4096, 1.5M or 10B")


def parse_bytes(value: Any) -> Any:
    """4GB, 32MiB or 1048576 as bytes."""
    return _parse(value, _BYTE_UNITS, "a size such as 512MB, 4GB or 1048576")


def _parse(value: Any, unit_sizes: dict[str, int], expected: str) -> Any:
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    match = _NUMBER.match(value.replace("_", "")) if isinstance(value, str) else None
    if match is None or match[2].lower() not in unit_sizes:
        raise ValueError(f"expected {expected}, found {value!r}")
    return round(float(match[1]) * unit_sizes[match[2].lower()])


def show_bytes(size_bytes: float) -> str:
    """1234567 -> 1.2 MB."""
    return _show(size_bytes, ["B", "kB", "MB", "GB", "TB", "PB"], " ")


def show_count(count: float) -> str:
    """1234567 -> 1.23M; exact below ten thousand."""
    return f"{count:,.0f}" if count < 10_000 else _show(count, ["", "k", "M", "B", "T"], "")


def show_seconds(seconds: float) -> str:
    """75 -> 1m15s."""
    if seconds < 60:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes:02}m" if hours else f"{minutes}m{rest:02}s"


def _show(number: float, names: list[str], gap: str) -> str:
    for name in names[:-1]:
        if abs(number) < 1000:
            return f"{number:.3g}{gap}{name}"
        number /= 1000
    return f"{number:.3g}{gap}{names[-1]}"
