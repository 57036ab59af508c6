"""Which domain a host belongs to: the one place that knows the public suffix list, by way of tldextract.

Guaranteed: no network, and the same answer everywhere with one version of tldextract, for it is the list in that
package that is asked, as of its release. (By itself, tldextract would download today's list.)
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from gristmill.document import Bytes, Offsets, strings
from gristmill.kernels.url_parts import authorities


class Host(NamedTuple):
    """Empty where there is none: for an address in numbers, or a suffix that is not public."""

    registered_domain: str  # example.co.uk
    name: str  # www.example.co.uk


def hosts(offsets: Offsets, data: Bytes) -> tuple[Any, list[Host]]:
    """Which of some different hosts each URL has: a numpy array of numbers, and the hosts."""
    new_offsets = np.empty(len(offsets), np.int64)
    out = np.empty(int(offsets[-1] - offsets[0]), np.uint8)
    written = authorities(offsets, data, new_offsets, out)
    encoded = strings(new_offsets, out[:written]).dictionary_encode()
    different = [host_of(authority) for authority in encoded.dictionary.to_pylist()]
    return encoded.indices.to_numpy(zero_copy_only=False), different


@lru_cache(maxsize=1 << 16)
def host_of(authority: str) -> Host:
    """Of what stands between `//` and `/`."""
    result = suffix_list()(f"//{authority}")
    return Host(result.top_domain_under_public_suffix, result.fqdn)


@lru_cache(maxsize=1)
def suffix_list() -> Any:
    """tldextract with the list that it carries."""
    from tldextract import TLDExtract

    return TLDExtract(suffix_list_urls=(), cache_dir=None)
