"""The process in which pages are taken apart: it may be killed in the middle of one, and nothing else is lost.

What enters, on its standard input: messages, the first one the arguments of `trafilatura.extract` as JSON, every other
one a page. What leaves, on its standard output: a message for each, whose first byte says what came of it. A message is
8 bytes of length, little end first, and UTF-8. The process ends when its input does.

A page may use so many seconds of processor time, not of anybody's patience: what is dropped must not depend on how busy
the machine is. The system ends the process when they are used up, wherever it is then.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress
from typing import IO, Any

READY, BROKEN, TEXT, NOTHING, ERROR = b"r", b"b", b"t", b"n", b"e"
_LENGTH_BYTES = 8
HAS_TIMER = hasattr(signal, "setitimer")


def send(pipe: IO[bytes], message: bytes) -> None:
    """Write one message."""
    pipe.write(len(message).to_bytes(_LENGTH_BYTES, "little") + message)
    pipe.flush()


def receive(pipe: IO[bytes]) -> bytes | None:
    """Read one message; None where the other side is gone."""
    head = pipe.read(_LENGTH_BYTES)
    if len(head) < _LENGTH_BYTES:
        return None
    length = int.from_bytes(head, "little")
    message = pipe.read(length)
    return message if len(message) == length else None


def serve(seconds: float) -> None:
    """The main loop."""
    pages, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    _be_the_first_to_go()
    arguments = receive(pages)
    if arguments is None:
        return
    try:
        extract = _extractor(json.loads(arguments))
    except Exception as error:  # noqa: BLE001  whatever an installation may lack; the parent raises it
        send(answers, BROKEN + f"{type(error).__name__}: {error}".encode())
        return
    send(answers, READY)
    while (page := receive(pages)) is not None:
        _set_timer(seconds)
        try:
            text = extract(page.decode())
            answer = TEXT + text.encode("utf-8", "ignore") if text else NOTHING
        except Exception as error:  # noqa: BLE001  trafilatura may raise anything; the page gets a verdict
            answer = ERROR + f"{type(error).__name__}: {error}".encode("utf-8", "replace")
        _set_timer(0)
        send(answers, answer)


def _extractor(arguments: dict[str, Any]) -> Any:
    """`trafilatura.extract`, without its memory of paragraphs: what one page gives must not depend on another."""
    import logging

    from trafilatura import extract
    from trafilatura.deduplication import LRU_TEST

    logging.disable()

    def extract_one(page: str) -> str | None:
        LRU_TEST.clear()
        text: str | None = extract(page, **arguments)
        return text

    extract_one("")  # what is loaded on first use must not be paid by the first page
    return extract_one


def _set_timer(seconds: float) -> None:
    if HAS_TIMER:
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _be_the_first_to_go() -> None:
    """Ctrl-C is the parent's to handle; and where memory gets short, Linux shall end this process and no other."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if HAS_TIMER:
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
    if sys.platform == "linux":
        with suppress(OSError):
            descriptor = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
            os.write(descriptor, b"1000")
            os.close(descriptor)
