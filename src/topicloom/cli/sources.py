"""What an argument of the command line refers to: a table, or a part of an overlay directory."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from topicloom.errors import InputNotFoundError, TopicloomError
from topicloom.files.read.listing import ONE_TASK, list_source, text_bytes
from topicloom.files.write.atomic import recover
from topicloom.files.write.run_file import Version


def part_of_overlay(argument: str, part: str, remote: str | None = None) -> str:
    """The path of ``part`` if the argument is an overlay directory, else the argument.

    A Spark Connect server would look for a relative path in a folder of its own, so it gets an absolute one.
    """
    if "://" in argument:
        return argument
    folder = Path(argument)
    recover(folder)
    found = str(folder / part) if (folder / "run.json").is_file() else argument
    return os.path.abspath(found) if remote else found  # noqa: PTH100 - resolve() would follow links


def is_small(*sources: str) -> bool:
    """Whether files of this machine hold so little that a run on them is short.

    What cannot be listed here, and what only Spark can open, is not small.
    """
    size = 0
    for source in sources:
        try:
            files = () if "://" in source else list_source(source, None).files
        except (OSError, TopicloomError):
            files = ()
        if not files:
            return False
        size += text_bytes(files)
    return size <= ONE_TASK


@contextmanager
def unreplaced(*arguments: str) -> Iterator[None]:
    """Refuse overlay directories that are replaced during the block, so that tables read in it are of one overlay.

    Raises
    ------
    UnreadableInputError
    """
    before = [Version.of(argument) for argument in arguments]
    yield
    for version in before:
        if version is not None:
            version.check()


@contextmanager
def said_whose(remote: str | None) -> Iterator[None]:
    """Add to what is not found that it was the server who looked."""
    try:
        yield
    except InputNotFoundError as error:
        if remote is None:
            raise
        raise InputNotFoundError(
            f"{error}: the Spark Connect server at {remote} looks for it on its own machine; name a path that it "
            "shares, or a URL that it can read"
        ) from None
