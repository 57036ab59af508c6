"""A stand-in for the Hugging Face hub on loopback that can be asked to misbehave: refusals, broken and slow streams."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

COMMIT = "c" * 40


@dataclass
class Hub:
    """What it holds, how it behaves, and what it was asked."""

    files: Mapping[str, Mapping[str, bytes]]  # dataset → path → content
    configs: Mapping[str, list[dict[str, Any]]] = field(default_factory=dict)
    gated: frozenset[str] = frozenset()
    refusals: int = 0  # so many 429s for each address, before it is served
    cuts: int = 0  # so many broken streams for each file
    slow_seconds: float = 0.0  # between two blocks of a stream
    asked: Counter[str] = field(default_factory=Counter)  # "GET /path" → times served well
    refused: Counter[str] = field(default_factory=Counter)
    cut: Counter[str] = field(default_factory=Counter)
    tokens: set[str] = field(default_factory=set)
    ranges: list[str] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


@contextmanager
def serving(hub: Hub) -> Iterator[str]:
    """Its address, while it serves."""

    class Handler(_Handler):
        state = hub

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    state: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments: Any) -> None:
        """Quiet."""

    def do_HEAD(self) -> None:
        self._serve()

    def do_GET(self) -> None:
        self._serve()

    def _serve(self) -> None:
        hub, place = self.state, unquote(urlsplit(self.path).path)
        if (token := self.headers.get("Authorization")) is not None:
            hub.tokens.add(token)
        key = f"{self.command} {place}"
        with hub.lock:
            refuse = hub.refused[key] < hub.refusals
            hub.refused[key] += refuse
            hub.at_once += 1
            hub.most_at_once = max(hub.most_at_once, hub.at_once)
        try:
            if refuse:
                self._answer(429, b"{}", {"Retry-After": "1" if hub.refused[key] == 1 else "0"})
            else:
                hub.asked[key] += 1
                self._answer_well(place)
        finally:
            with hub.lock:
                hub.at_once -= 1

    def _answer_well(self, place: str) -> None:
        hub = self.state
        parts = place.strip("/").split("/")
        dataset = "/".join(parts[2:4] if parts[0] == "api" else parts[1:3])
        if dataset not in hub.files:
            self._answer(404, b"{}", {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"})
        elif place.endswith("/auth-check"):
            denied = {"X-Error-Code": "GatedRepo", "X-Error-Message": "Access is restricted"}
            self._answer(*((403, b"{}", denied) if dataset in hub.gated else (200, b"{}", {})))
        elif parts[0] == "api" and len(parts) == 4:
            card = {"configs": hub.configs[dataset]} if dataset in hub.configs else {}
            gated = "manual" if dataset in hub.gated else False
            info = {"id": dataset, "sha": COMMIT, "gated": gated, "private": False, "siblings": [], "cardData": card}
            self._answer(200, json.dumps(info).encode(), {"Content-Type": "application/json"})
        elif parts[0] == "api":
            tree = [
                {"type": "file", "path": path, "size": len(content), "oid": hashlib.sha1(content).hexdigest()}
                for path, content in hub.files[dataset].items()
            ]
            self._answer(200, json.dumps(tree).encode(), {"Content-Type": "application/json"})
        else:
            self._stream(hub.files[dataset].get("/".join(parts[5:])))

    def _stream(self, content: bytes | None) -> None:
        hub = self.state
        if content is None:
            self._answer(404, b"{}", {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": COMMIT})
            return
        begin = 0
        if (wanted := self.headers.get("Range")) is not None:
            hub.ranges.append(wanted)
            begin = int(wanted.removeprefix("bytes=").partition("-")[0])
        body = content[begin:]
        self.send_response(206 if begin else 200)
        self.send_header("ETag", f'"{hashlib.sha1(content).hexdigest()}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("Content-Length", str(len(body)))
        if begin:
            self.send_header("Content-Range", f"bytes {begin}-{len(content) - 1}/{len(content)}")
        self.end_headers()
        if self.command == "HEAD":
            return
        with hub.lock:
            cut = hub.cut[self.path] < hub.cuts
            hub.cut[self.path] += cut
        end = len(body) // 2 if cut else len(body)
        for at in range(0, end, 1 << 14):
            self.wfile.write(body[at : min(at + (1 << 14), end)])
            time.sleep(hub.slow_seconds)
        if cut:
            self.close_connection = True

    def _answer(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
