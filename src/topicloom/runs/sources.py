"""What is given to a run: tables, and parts of overlay directories."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from topicloom.errors import InputNotFoundError, TopicloomError
from topicloom.files.read.listing import ONE_TASK, Found, list_source, text_bytes
from topicloom.files.read.read_options import ReadOptions
from topicloom.files.read.source_plan import Plan, TableFile, plan_source
from topicloom.files.write.atomic import recover
from topicloom.files.write.run_file import Version

Given = tuple[str, ReadOptions]  # a table, or an overlay directory that has it, and how it is read


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
    listed: list[Sequence[Found]] = []
    for source in sources:
        with suppress(OSError, TopicloomError):
            listed.append(() if "://" in source else list_source(source, None).files)
    return len(listed) == len(sources) and fits_one_task(listed)


def fits_one_task(tables: "Iterable[Sequence[Found] | Sequence[TableFile]]") -> bool:
    """Whether the files of tables are known, and hold so little that a run on them is short."""
    tables = list(tables)
    return all(map(len, tables)) and sum(map(text_bytes, tables)) <= ONE_TASK


def plans_of(given: Iterable[Given]) -> list[Plan | None]:
    """List and look at each table, before Spark starts. None is for those that cannot be read here.

    Spark looks at these itself, and says what is wrong.
    """
    plans: list[Plan | None] = []
    for argument, options in given:
        source = part_of_overlay(argument, options.kind.what).removeprefix("file://")
        plan = None
        with suppress(OSError, TopicloomError):
            plan = None if "://" in source else plan_source(os.path.abspath(source), options)  # noqa: PTH100
        plans.append(plan)
    return plans


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
