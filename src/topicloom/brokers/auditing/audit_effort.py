"""What an audit may cost: regular files only, and limits on bytes, files and steps, so that hostile input ends soon."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from topicloom.errors import InputNotFoundError, TopicloomError, UnreadableInputError

MOST_BYTES, MOST_BYTES_IN_ALL, MOST_FILES = 10_000_000, 100_000_000, 20_000
MOST_STEPS = 3_000_000


@dataclass
class Effort:
    """Counts what an audit has read and done. One is shared by all brokers of an audit.

    Attributes
    ----------
    files, bytes, steps, values
        Files read (a file counts each time), their size in all, hops looked at, and values of NATS.
    """

    files: int = 0
    bytes: int = 0
    steps: int = 0
    values: int = 0

    def text_of(self, path: Path) -> str:
        """Text of a regular file. Bytes that are not UTF-8 become surrogates; `is_text` tells.

        Raises
        ------
        InputNotFoundError, UnreadableInputError
            It is not there, is no regular file, cannot be read, or goes over a limit.
        """
        try:
            data = _bytes_of(path)
        except FileNotFoundError:
            raise InputNotFoundError(f"{path} is not there") from None
        except TopicloomError:
            raise
        except (OSError, ValueError) as error:
            raise UnreadableInputError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
        self.files, self.bytes = self.files + 1, self.bytes + len(data)
        if self.files > MOST_FILES:
            raise UnreadableInputError(f"{path}: over {MOST_FILES:,} files are read, counting each time; give fewer")
        if self.bytes > MOST_BYTES_IN_ALL:
            raise UnreadableInputError(f"{path}: over {MOST_BYTES_IN_ALL:,} bytes are read in all; give fewer files")
        return data.decode("utf-8", "surrogateescape")

    def spend(self, steps: int) -> bool:
        """Count steps. Returns False once there were too many."""
        self.steps += steps
        return self.steps <= MOST_STEPS


def _bytes_of(path: Path) -> bytes:
    """Read without waiting for a writer, and never from a device."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise UnreadableInputError(f"{path} is no regular file, so it is not read")
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise UnreadableInputError(f"{path} has over {MOST_BYTES:,} bytes, too many for a configuration")
    return data


def lines_of(text: str) -> Iterator[str]:
    r"""Lines as C reads them: they end with a line feed and nothing else. Blank ones take no memory.

    >>> list(lines_of("a\x85b\n\nc"))
    ['a\x85b', '', 'c']
    """
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1
    if start < len(text):
        yield text[start:]


def is_text(part: str) -> bool:
    """Whether a part of a file was UTF-8."""
    return part.isascii() or not any("\udc80" <= char <= "\udcff" for char in part)
