"""Addresses beside paths: `s3://bucket/run` and what else fsspec knows, asked patiently.

What enters: an address, and something to do there. What is guaranteed: a server that says 500, 503 or "slow down", or
drops the line, is asked again, later and later; what waiting does not mend is an error that names the address.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

from gristmill.errors import RecipeError, TaskError

T = TypeVar("T")

TRIES = 8
_FIRST_WAIT_SECONDS, _LONGEST_WAIT_SECONDS = 0.1, 20.0
_FINAL = (FileNotFoundError, FileExistsError, IsADirectoryError, NotADirectoryError)


def is_remote(path: str) -> bool:
    """Whether fsspec must open it. `file://` counts, for it is an address, too."""
    return "://" in path


@lru_cache(maxsize=64)
def _system(address: str, process: int) -> Any:
    from fsspec.core import url_to_fs

    try:
        system, name = url_to_fs(address, use_listings_cache=False)
    except (ImportError, ValueError) as error:  # no driver for this kind of address
        raise RecipeError(
            f"cannot reach {address}: {error}\n"
            '  For s3:// run `pip install "gristmill[cluster]"`; others name their driver.'
        ) from error
    return system, name


def file_system(address: str) -> tuple[Any, str]:
    """The file system of an address, and what the address is called there. Listings are never remembered."""
    import os

    system, name = _system(address, os.getpid())
    return system, name


def write_retried(address: str, action: Callable[[], T]) -> T:
    """The same for what writes: that a bucket is not there is an error that names it, too."""
    try:
        return retried(address, action)
    except FileNotFoundError as error:
        raise TaskError(f"expected a place to write to, found: {error}: {address}") from error


def retried(address: str, action: Callable[[], T]) -> T:
    """What the action returns, tried again where that may help. Raises TaskError that names the address."""
    wait_seconds = _FIRST_WAIT_SECONDS
    for attempt in range(1, TRIES + 1):
        try:
            return action()
        except _FINAL:
            raise
        except PermissionError as error:
            raise TaskError(f"expected leave to read and write, found: {error}: {address}") from error
        except Exception as error:  # drivers raise what their clouds raise: nothing narrower
            if attempt == TRIES:
                raise TaskError(
                    f"{address}: {type(error).__name__}: {error}: asked {TRIES} times\n"
                    "  When the server answers again, run the same command again: it goes on where it stopped."
                ) from error
        time.sleep(wait_seconds * (0.5 + random.random()))
        wait_seconds = min(2 * wait_seconds, _LONGEST_WAIT_SECONDS)
    raise AssertionError("the last try returns or raises")
