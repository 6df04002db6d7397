"""Bytes of a file: decompressed within limits, and turned into UTF-8."""

import bz2
import codecs
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import pyarrow as pa

from topicloom.errors import UnreadableInputError

BLOCK = 8 << 20
COMPRESSIONS = ("gz", "bz2", "zst", "xz")
# Archives that hold more than this many times their size are refused, once they have yielded this much.
MOST_EXPANSION, FREE_EXPANSION = 1000, 256 << 20
_READ = 256 << 10
_START = 4 << 10
_MEMORY = 256 << 20
_MAGIC = {"gz": b"\x1f\x8b", "bz2": b"BZh", "zst": b"\x28\xb5\x2f\xfd", "xz": b"\xfd7zXZ\x00"}
_NAMES = {"gz": "gzip", "bz2": "bzip2", "zst": "zstd", "xz": "xz"}


def plain(raw: BinaryIO, until: int | None = None) -> Iterator[bytes]:
    """Blocks of a file as it is, up to a position."""
    while block := raw.read(BLOCK if until is None else max(0, min(BLOCK, until - raw.tell()))):
        yield block


def decompressed(raw: BinaryIO, compression: str | None, name: str) -> Iterator[bytes]:
    """Blocks of what an archive holds, or of the file itself if it is none.

    Raises
    ------
    UnreadableInputError
        The archive is damaged, ends early, has other bytes behind it, or holds far more than an archive of a table.
    """
    if compression is None:
        yield from plain(raw)
        return
    produced: list[bytes] = []
    size = total = 0
    for piece in _pieces(raw, compression, name):
        size += len(piece)
        total += len(piece)
        if total > FREE_EXPANSION and total > MOST_EXPANSION * raw.tell():
            raise UnreadableInputError(
                f"{name} expands to over {MOST_EXPANSION:,} times its size and looks like a decompression bomb; "
                "unpack it yourself if it is a table"
            )
        produced.append(piece)
        if size >= BLOCK:
            yield b"".join(produced)
            produced, size = [], 0
    if produced:
        yield b"".join(produced)


def _pieces(raw: BinaryIO, compression: str, name: str) -> Iterator[bytes]:
    """What an archive of one or more members holds."""
    what = _NAMES[compression]
    waiting = raw.read(_START)
    if not waiting.startswith(_MAGIC[compression]):
        raise UnreadableInputError(f"{name} is not {what}, although its name says so")
    if compression == "zst":
        raw.seek(-len(waiting), io.SEEK_CUR)
        yield from _zstd_pieces(raw, name)
        return
    start = _DECOMPRESSORS[compression]
    while waiting:
        member: Any = start()
        if not waiting.startswith(_MAGIC[compression]):
            if compression == "gz" and not waiting.strip(b"\0") and not raw.read().strip(b"\0"):
                return  # some tools pad with zeros
            raise UnreadableInputError(f"{name} has other bytes behind its {what} data")
        try:
            while not member.eof:
                if not waiting:
                    raise UnreadableInputError(f"{name} ends in the middle of its {what} data: it is truncated")
                yield member.decompress(waiting)
                while not (member.eof or getattr(member, "needs_input", True)):
                    yield member.decompress(b"")
                waiting = b"" if member.eof else raw.read(_READ)
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            raise UnreadableInputError(f"{name} has damaged {what} data: {error}") from None
        waiting = (member.unused_data or b"") + raw.read(_START)


class _Inflater:
    """zlib with an output limit a call, shaped as the other decompressors."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)

    eof = property(lambda self: self._inner.eof)
    needs_input = property(lambda self: not self._inner.unconsumed_tail)
    unused_data = property(lambda self: self._inner.unused_data)

    def decompress(self, data: bytes) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, BLOCK)


class _Limited:
    """bz2 and xz with an output limit a call."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    eof = property(lambda self: self._inner.eof)
    needs_input = property(lambda self: self._inner.needs_input)
    unused_data = property(lambda self: self._inner.unused_data)

    def decompress(self, data: bytes) -> bytes:
        return bytes(self._inner.decompress(data, BLOCK))


def _zstd_pieces(raw: BinaryIO, name: str) -> Iterator[bytes]:
    """What zstd data of one or more frames holds. Arrow's decompressor needs no package beside Arrow."""
    try:
        with pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd") as stream:
            while piece := stream.read(_READ):
                yield piece
    except OSError as error:
        if "Truncated" in str(error):
            raise UnreadableInputError(f"{name} ends in the middle of its zstd data: it is truncated") from None
        if "Unknown frame" in str(error):  # not the first, whose beginning was looked at
            raise UnreadableInputError(f"{name} has other bytes behind its zstd data") from None
        raise UnreadableInputError(f"{name} has damaged zstd data: {error}") from None


_DECOMPRESSORS: dict[str, Callable[[], Any]] = {
    "gz": _Inflater,
    "bz2": lambda: _Limited(bz2.BZ2Decompressor()),
    "xz": lambda: _Limited(lzma.LZMADecompressor(memlimit=_MEMORY)),
}


def in_utf8(blocks: Iterator[bytes], encoding: str, name: str) -> Iterator[bytes]:
    """Blocks of text of any encoding as UTF-8, without a byte order mark.

    What cannot be decoded becomes bytes that are not valid UTF-8, so that the rows that hold it are rejected.
    """
    yield from _without_mark(blocks if encoding == "utf-8" else _decoded(blocks, encoding, name))


def _decoded(blocks: Iterator[bytes], encoding: str, name: str) -> Iterator[bytes]:
    wide = encoding.startswith(("utf-16", "utf-32"))
    decoder = codecs.getincrementaldecoder(encoding)(errors="surrogatepass" if wide else "surrogateescape")
    try:
        for block in blocks:
            yield decoder.decode(block).encode("utf-8", "surrogatepass")
        yield decoder.decode(b"", True).encode("utf-8", "surrogatepass")
    except UnicodeError as error:
        raise UnreadableInputError(f"{name} is not valid {encoding}: {error}") from None


def _without_mark(blocks: Iterator[bytes]) -> Iterator[bytes]:
    filled = (block for block in blocks if block)
    yield next(filled, b"").removeprefix(codecs.BOM_UTF8)
    yield from filled
