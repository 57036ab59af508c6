"""Every request to the hub goes through here: retried when it is refused, and few at a time.

What enters: a call of huggingface_hub. What leaves: its result. Refusals that pass (429, 5xx, connections that break or
stall) are tried again after the delay that the server names, else after one that doubles; others are raised at once.
All processes of this user on this machine share CONNECTIONS places.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from gristmill.errors import SourceError

CONNECTIONS = int(os.environ.get("GRISTMILL_HUB_CONNECTIONS", "4"))
TRIES = 10
CONNECTION_TRIES = 4  # where nobody answers at all
_PASSING_STATUS = (408, 425, 429, 500, 502, 503, 504)
_LONGEST_DELAY_SECONDS = 300.0
_PLACE_SECONDS = 0.05  # between two looks for a free place
_NETWORK_PACKAGES = ("httpx", "httpcore", "requests", "urllib3")

Result = TypeVar("Result")


def patiently(ask: Callable[[], Result], what: str, sleep: Callable[[float], None] = time.sleep) -> Result:
    """`ask()`, again and again where the hub refuses for now. Raises SourceError after TRIES; `what` is for people."""
    attempt = 0
    while True:
        attempt += 1
        try:
            with _place():
                return ask()
        except Exception as error:
            if not _passes(error):
                raise
            if attempt >= (CONNECTION_TRIES if _status(error) is None else TRIES):
                raise SourceError(
                    f"expected an answer from the hub, found {_said(error)} {attempt} times: {what}\n"
                    "  Run the same command again later: what is downloaded is kept."
                ) from error
            sleep(min(_LONGEST_DELAY_SECONDS, named_delay(error) or 0.5 * 2**attempt))


def named_delay(error: Exception) -> float | None:
    """Seconds that the server asks us to wait: `Retry-After`, or `t=` of the hub's own `RateLimit`."""
    headers: Any = getattr(getattr(error, "response", None), "headers", None) or {}
    after = headers.get("Retry-After", "")
    reset = re.search(r"\bt=(\d+)", headers.get("RateLimit", ""))
    if after.strip().isdigit():
        return float(after)
    return float(reset[1]) if reset else None


def _passes(error: Exception) -> bool:
    status = _status(error)
    if status is not None:
        return status in _PASSING_STATUS
    causes: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in causes:
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    return any(
        isinstance(one, (ConnectionError, TimeoutError))
        or type(one).__module__.startswith(_NETWORK_PACKAGES)
        or "Consistency check failed" in str(one)  # of huggingface_hub: the connection ended before the file did
        for one in causes
    )


def _status(error: Exception) -> int | None:
    status = getattr(getattr(error, "response", None), "status_code", None)
    return int(status) if status is not None else None


def _said(error: Exception) -> str:
    status = _status(error)
    return f"status {status}" if status is not None else type(error).__name__


@contextmanager
def _place() -> Iterator[None]:
    """Hold one of the places; the hold of a killed process goes with it."""
    try:
        import fcntl
    except ImportError:  # Windows has no flock: places are then not shared
        yield
        return
    folder = Path(tempfile.gettempdir()) / f"gristmill-hub-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    while True:
        for number in range(CONNECTIONS):
            with open(folder / str(number), "w") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    continue
                yield
                return
        time.sleep(_PLACE_SECONDS)
