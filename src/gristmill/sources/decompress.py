"""Compressed files as streams of bytes.

What enters: an open gz, zst, bz2 or xz file. What leaves: its bytes, as many at a time as are asked for, so a file
that grows a thousandfold is no danger. Files made of several members (frames, streams) are read to their end.
Where the data is cut off or broken, what stands before comes out first (where it is broken, all but the last
_STEP_BYTES), and then DamagedError is raised.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import IO, Any

from gristmill.errors import SourceError

_READ_BYTES = 256 << 10
_STEP_BYTES = 64 << 10  # a decoder that meets broken data takes with it what it was about to give
_ZSTD_STEP_BYTES = 4 << 10  # at most 128 MB come out of this many: 1,024 blocks of 4 bytes, each 128 KB of one byte
_ZSTD_WINDOW_BYTES = 1 << 27  # as the zstd command: a frame may ask for up to 2 GB, to be held while it is read
_XZ_MEMORY_BYTES = 1 << 28  # `xz -9e` needs 65 MB; a header may ask for 4 GB

# How each kind of file begins (a zst file may begin with a frame to be skipped).
_MAGIC: Mapping[str, tuple[bytes, ...]] = {
    ".gz": (b"\x1f\x8b",),
    ".zst": (b"\x28\xb5\x2f\xfd", *(bytes([low]) + b"\x2a\x4d\x18" for low in range(0x50, 0x60))),
    ".bz2": (b"BZh",),
    ".xz": (b"\xfd7zXZ\x00",),
}


class DamagedError(Exception):
    """The compressed data ends too early, or is no valid data from here on. `reason` is the verdict on the rest."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class DecompressedFile:
    """Reads what a compressed file holds, forwards only."""

    def __init__(self, file: IO[bytes], suffix: str, path: str) -> None:
        self._file = file
        self._suffix = suffix
        self._path = path
        self._new_decoder, self._failure = _decoders(suffix)
        self._decoder: Any = None
        self._input = b""
        self._output = memoryview(b"")
        self._begun = False
        self._damage: str | None = None

    def readinto(self, target: memoryview) -> int:
        """Fill some of `target`; returns how many bytes that were, 0 at the end."""
        if not self._output:
            self._output = memoryview(self._decompress())
        count = min(len(target), len(self._output))
        target[:count] = self._output[:count]
        self._output = self._output[count:]
        return count

    def _decompress(self) -> bytes:
        """The next step, nothing at the end. Its size is never the reader's: else what is saved of broken data would
        depend on who reads it."""
        if self._damage:
            raise DamagedError(self._damage)
        while True:
            if self._decoder is None and not self._begin_member():
                return b""
            if not self._input and self._decoder.needs_input:
                self._input = self._file.read(_READ_BYTES)
                if not self._input:
                    raise self._damaged("unreadable.truncated")
            try:
                found: bytes = self._decoder.decompress(self._input, _STEP_BYTES)
            except self._failure as error:
                raise self._damaged("unreadable.corrupt") from error
            self._input = b""
            if self._decoder.eof:
                self._input = self._decoder.unused_data
                self._decoder = None
            if found:
                return found

    def close(self) -> None:
        """Close the compressed file, too."""
        self._file.close()

    def _begin_member(self) -> bool:
        """A fresh decoder if anything is left to decode. Zero bytes between members are padding."""
        while not (head := self._input.lstrip(b"\0") if self._begun else self._input):
            self._input = self._file.read(_READ_BYTES)
            if not self._input:
                return False
        if not any(head.startswith(magic) or magic.startswith(head) for magic in _MAGIC[self._suffix]):
            if self._begun:
                raise self._damaged("unreadable.corrupt")
            raise SourceError(
                f"expected {self._suffix} data, found {head[:8]!r} at its start: {self._path}\n"
                "  Rename the file after what it is."
            )
        self._input, self._begun, self._decoder = head, True, self._new_decoder()
        return True

    def _damaged(self, reason: str) -> DamagedError:
        self._damage = reason
        return DamagedError(reason)


class _ZstdDecoder:
    """zstandard's decoder behind the interface that bz2, lzma and isal share."""

    def __init__(self, decoder: Any) -> None:
        self._decoder = decoder
        self._input = memoryview(b"")
        self._output = memoryview(b"")

    @property
    def needs_input(self) -> bool:
        return not self._input and not self._output

    @property
    def eof(self) -> bool:
        return bool(self._decoder.eof) and not self._output

    @property
    def unused_data(self) -> bytes:
        return bytes(self._decoder.unused_data) + bytes(self._input)

    def decompress(self, data: bytes, most_bytes: int) -> memoryview:
        if data:
            self._input = memoryview(data)
        if not self._output:
            step, self._input = self._input[:_ZSTD_STEP_BYTES], self._input[_ZSTD_STEP_BYTES:]
            self._output = memoryview(self._decoder.decompress(step))
        found, self._output = self._output[:most_bytes], self._output[most_bytes:]
        return found


def _decoders(suffix: str) -> tuple[Callable[[], Any], Any]:
    """What makes a decoder for one member, and what it raises on data that is none."""
    if suffix == ".gz":
        from isal import igzip_lib

        return lambda: igzip_lib.IgzipDecompressor(igzip_lib.DECOMP_GZIP), igzip_lib.IsalError
    if suffix == ".zst":
        import zstandard

        context = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW_BYTES)
        return lambda: _ZstdDecoder(context.decompressobj()), zstandard.ZstdError
    if suffix == ".bz2":
        import bz2

        return bz2.BZ2Decompressor, (OSError, ValueError)
    import lzma

    return lambda: lzma.LZMADecompressor(memlimit=_XZ_MEMORY_BYTES), lzma.LZMAError
