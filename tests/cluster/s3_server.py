"""An S3 server for tests: moto's, on 127.0.0.1, behind a proxy that fails now and then as real stores do."""

from __future__ import annotations

import http.client
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

_FAULTS = ((500, "InternalError", "We encountered an internal error."), (503, "SlowDown", "Reduce your request rate."))
_BODY = '<?xml version="1.0" encoding="UTF-8"?><Error><Code>{}</Code><Message>{}</Message></Error>'
_SERVE = """
import time
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer("127.0.0.1", 0)
server.start()
print(server.get_host_and_port()[1], flush=True)
time.sleep(3600)
"""
_NOT_FORWARDED = ("connection", "keep-alive", "transfer-encoding", "content-length", "date", "server")


class Faults:
    """When requests fail: every so many, in turn with each of the two faults; 0 is never."""

    def __init__(self) -> None:
        self.every = 0
        self.asked = 0
        self.given = 0
        self._lock = threading.Lock()

    def next(self) -> tuple[int, str, str] | None:
        """The fault of this request, if it has one."""
        with self._lock:
            self.asked += 1
            if not self.every or self.asked % self.every:
                return None
            self.given += 1
            return _FAULTS[self.given % len(_FAULTS)]


class _Proxy(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    faults: ClassVar[Faults]
    port: ClassVar[int]

    def _pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if (fault := self.faults.next()) is not None:
            status, code, message = fault
            self._answer(status, [("Content-Type", "application/xml")], _BODY.format(code, message).encode())
            return
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(self.command, self.path, body, dict(self.headers))
        answer = connection.getresponse()
        content = answer.read()
        self._answer(answer.status, answer.getheaders(), content, answer.getheader("Content-Length"))
        connection.close()

    def _answer(self, status: int, headers: list[tuple[str, str]], body: bytes, length: str | None = None) -> None:
        self.send_response(status)
        for name, value in headers:
            if name.lower() not in _NOT_FORWARDED:
                self.send_header(name, value)
        self.send_header("Content-Length", length if self.command == "HEAD" and length else str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _pass_on  # noqa: N815  names of http.server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Not told."""


@contextmanager
def running_s3() -> Iterator[tuple[str, Faults]]:
    """The server's address, and when it fails."""
    _Proxy.faults = Faults()
    command = [sys.executable, "-c", _SERVE]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    proxy = ThreadingHTTPServer(("127.0.0.1", 0), _Proxy)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    try:
        assert server.stdout is not None
        _Proxy.port = next(int(line) for line in server.stdout if line.strip().isdigit())
        _wait_until_it_answers(_Proxy.port)
        yield f"http://127.0.0.1:{proxy.server_port}", _Proxy.faults
    finally:
        proxy.shutdown()
        proxy.server_close()
        server.kill()
        server.wait()


def _wait_until_it_answers(port: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/")
            connection.getresponse().read()
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("moto's server did not answer within a minute")
