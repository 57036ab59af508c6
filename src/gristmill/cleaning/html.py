"""HTML → text, by trafilatura: per document and in Python, about 1 MB/s a core. Needs the extra [html]."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, ClassVar

import pyarrow as pa

from gristmill.cleaning.html_child import BROKEN, ERROR, HAS_TIMER, NOTHING, TEXT, receive, send
from gristmill.errors import TaskError

_NEEDED = ("trafilatura", "lxml_html_clean")
_START = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from gristmill.cleaning.html_child import serve
serve(float(sys.argv[2]))
"""
_PATIENCE = 60.0  # a process that does not even use up its processor time after so many times as long is stuck
_REASONS = {NOTHING: "html.nothing", ERROR: "html.error"}


@dataclass(frozen=True)
class Html:
    """The main text of a page, as datatrove 0.10.1's Trafilatura extractor takes it out, with its defaults.

    favour_precision    less text, but surely of the page; favour_recall the opposite
    deduplicate         a paragraph that a page repeats more than twice is left out. Trafilatura itself remembers those
                        of earlier pages, too; here every page is the first
    timeout             seconds of processor time for a page (datatrove: seconds, however busy the machine is)
    include_...         parts of the page that trafilatura leaves out or in by itself

    A page that gives no text carries the reason: `html.nothing`, `html.error`, `html.timeout`, or `html.crash` where
    it took the process down. Put it first in `clean`: other cleaners expect text.
    """

    VERSION: ClassVar[int] = 1

    favour_precision: bool = True
    favour_recall: bool = False
    deduplicate: bool = True
    include_tables: bool = True
    include_links: bool = False
    include_formatting: bool = False
    include_comments: bool = False
    timeout: float = 1.0

    def __post_init__(self) -> None:
        if not self.timeout > 0:
            raise ValueError(f"expected a `timeout` above 0 seconds, found {self.timeout!r}")
        if self.favour_precision and self.favour_recall:
            raise ValueError("expected one of `favour_precision` and `favour_recall`, found both")
        missing = [name.replace("_", "-") for name in _NEEDED if find_spec(name) is None]
        if missing:
            raise ValueError(
                f"expected the package {' and '.join(missing)}, found none. Run `pip install 'gristmill[html]'`."
            )

    def contents(self) -> dict[str, str]:
        """What else decides the text: the extractor's version."""
        return {"trafilatura": version("trafilatura")}

    def clean(self, texts: Any) -> Any:
        """large_string → large_string. What cannot be made into text comes out empty."""
        return self.attempt(texts)[0]

    def attempt(self, texts: Any) -> tuple[Any, Any]:
        """The same, and why a page came out empty, null where it did not."""
        extractor = _extractor(self._arguments(), self.timeout)
        results = [extractor.extract(page) for page in texts.cast(pa.large_binary()).to_pylist()]
        return (
            pa.array([text for text, _ in results], pa.large_binary()).cast(pa.large_string()),
            pa.array([reason for _, reason in results], pa.string()),
        )

    def _arguments(self) -> str:
        arguments = {
            "favor_precision": self.favour_precision,
            "favor_recall": self.favour_recall,
            "deduplicate": self.deduplicate,
            "include_tables": self.include_tables,
            "include_links": self.include_links,
            "include_formatting": self.include_formatting,
            "include_comments": self.include_comments,
        }
        return json.dumps(arguments)


@lru_cache(maxsize=1)
def _extractor(arguments: str, seconds: float) -> _Extractor:
    """One for each process of ours: to begin one takes longer than most pages."""
    return _Extractor(arguments, seconds)


class _Extractor:
    """A process that takes pages apart, begun anew where a page has ended it."""

    def __init__(self, arguments: str, seconds: float) -> None:
        self._arguments = arguments
        self._seconds = seconds
        self._patience = _PATIENCE * (seconds + 1) if HAS_TIMER else seconds
        self._process: subprocess.Popen[bytes] | None = None

    def extract(self, page: bytes) -> tuple[bytes, str | None]:
        """The page's text, and why there is none."""
        process = self._process or self._begin()
        stuck = threading.Event()

        def give_up() -> None:
            stuck.set()
            process.kill()

        impatience = threading.Timer(self._patience, give_up)
        impatience.start()
        try:
            answer = self._ask(process, page)
        finally:
            impatience.cancel()
        if answer is None:
            status = self._end(process)
            timed_out = stuck.is_set() or (HAS_TIMER and status == -signal.SIGPROF)
            return b"", "html.timeout" if timed_out else "html.crash"
        return (answer[1:], None) if answer[:1] == TEXT else (b"", _REASONS[answer[:1]])

    def _ask(self, process: subprocess.Popen[bytes], message: bytes) -> bytes | None:
        assert process.stdin is not None and process.stdout is not None, "both are pipes"
        try:
            send(process.stdin, message)
            return receive(process.stdout)
        except OSError:
            return None

    def _begin(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-c", _START, json.dumps(sys.path), str(self._seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        answer = self._ask(process, self._arguments.encode())
        if answer is None or answer[:1] == BROKEN:
            self._end(process)
            found = answer[1:].decode() if answer else "a process that ended at once"
            raise TaskError(
                f"expected trafilatura to work, found {found}\n  Run `pip install --upgrade 'gristmill[html]'`."
            )
        self._process = process
        return process

    def _end(self, process: subprocess.Popen[bytes]) -> int:
        self._process = None
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None, "both are pipes"
            with suppress(OSError):
                pipe.close()
        return process.wait()
