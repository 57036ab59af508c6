"""Slow, obvious twin of kernels/url_parts.py."""

from __future__ import annotations

import re


def authority(url: str) -> str:
    rest = re.sub(r"^(?:[A-Za-z0-9+.-]+:)?//", "", url, count=1)
    return re.split("[/?#]", rest, maxsplit=1)[0]
