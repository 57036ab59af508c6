"""The slow twins of kernels/emails.py, kernels/addresses.py and kernels/splice.py: regular expressions and `ipaddress`.

The two expressions are datatrove 0.10.1's, whose matches are what the kernels must find.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Sequence
from itertools import cycle

_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_OCTET = r"(?:25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)"
EMAIL = re.compile(
    rf"\b{_ATOM}(?:\.{_ATOM})*@"
    rf"(?:(?:{_NAME}\.)+{_NAME}|\[(?:{_OCTET}\.){{3}}(?:{_OCTET}|[A-Za-z0-9-]*[A-Za-z0-9]:)\])"
)
IP = re.compile(rf"(?:{_OCTET}\.){{3}}{_OCTET}")
# Python before 3.11.10 and 3.12.4 took the most of this network for public, the registry does not.
DISPUTED = ipaddress.ip_network("192.0.0.0/24")


def is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def is_public(text: str) -> bool:
    if not is_address(text):
        return False
    address = ipaddress.ip_address(text)
    return text in ("192.0.0.9", "192.0.0.10") if address in DISPUTED else address.is_global


def replaced(text: str, pattern: re.Pattern[str], placeholders: Sequence[str], valid: Callable[[str], bool]) -> str:
    turns = cycle(placeholders)
    return pattern.sub(lambda match: next(turns) if valid(match[0]) else match[0], text)


def without_emails(text: str, placeholders: Sequence[str]) -> str:
    return replaced(text, EMAIL, placeholders, lambda _: True)


def without_addresses(text: str, placeholders: Sequence[str]) -> str:
    return replaced(text, IP, placeholders, is_address)


def without_public_addresses(text: str, placeholders: Sequence[str]) -> str:
    return replaced(text, IP, placeholders, is_public)
