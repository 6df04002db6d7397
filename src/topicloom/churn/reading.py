"""Look at a durable state without opening it for writing."""

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from topicloom.churn.options import Options
from topicloom.churn.route_store import kept_plan
from topicloom.churn.state import OverlayState
from topicloom.churn.state_file import acknowledged, beside, check_files, in_words
from topicloom.churn.store import load
from topicloom.errors import InputNotFoundError, InvalidLinksError, StateFormatError
from topicloom.files.write.destination import check_local
from topicloom.judge import verify
from topicloom.model import ForbiddenLinks, Interest, Overlay
from topicloom.model.arrays import Int32Array
from topicloom.routing import Plan


@dataclass(frozen=True)
class KeptState:
    """A durable state as it was at one moment.

    Attributes
    ----------
    interest, overlay
        Who wanted what, and the links; judged when they were read.
    facts : dict
        Options and counts: policy, backups, coverage, rho, k, seed, events, since, changed, …
    plan : Plan, optional
        The routes, where they are followed.
    """

    interest: Interest
    overlay: Overlay
    facts: dict[str, Any]
    plan: Plan | None = None


def read_state(path: str | Path) -> KeptState:
    """Read what a durable state holds now. A maintainer may have it open and apply events meanwhile.

    What is read is checked and judged. Takes time and memory in proportion to the state. Write permission is needed
    only where a killed process left a log behind.

    Raises
    ------
    InputNotFoundError, StateFormatError
        There is no such file; or it is not a state of a version that this one reads, or it is damaged.

    Examples
    --------
    >>> import tempfile, topicloom as tl
    >>> from topicloom.churn import read_state
    >>> interest = tl.Interest.from_pairs(list("abcd"), ["news"] * 4)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = folder + "/state.db"
    ...     with tl.Maintainer.open(path, interest=interest, overlay=tl.ring_per_topic(interest)) as m:
    ...         change = m.leave("a")
    ...         read_state(path).overlay
    Overlay(3 nodes, 1 topic, 2 links, method shadow-churn)
    """
    path = Path(path)
    check_local(path)
    commits = acknowledged(path)  # before what is read, which is as new as this or newer
    with _look_at(path) as database, in_words(path):
        facts, rows, _ = load(database, path, commits)
        options = Options.kept(facts, path)
        state = OverlayState(options.seed)
        state.restore(rows, facts["next_link"])
        plan = kept_plan(database, facts, path)
    interest, links = state.snapshot()
    with in_words(path):
        report, forbidden = history_report(read_history(facts), facts["events"]), kept_forbidden(facts)
    judge_state(interest, links, options, forbidden, path)
    overlay = Overlay(interest, links, f"{options.policy}-churn", asdict(options), options.seed, report, forbidden)
    return KeptState(interest, overlay, facts, plan)


def read_history(facts: dict[str, Any]) -> dict[str, Any]:
    """Read how the overlay of a state was designed, and the events before. Version 0.1 did not record it."""
    life: dict[str, Any] = json.loads(facts.get("life", '{"events": 0, "method": "given", "options": {}}'))
    return life


def kept_forbidden(facts: dict[str, Any]) -> ForbiddenLinks:
    """Read which links of a state may not be.

    Raises
    ------
    StateFormatError
    """
    try:
        return ForbiddenLinks.from_json(facts["forbidden"]) if "forbidden" in facts else ForbiddenLinks()
    except InvalidLinksError as error:
        raise StateFormatError(f"its forbidden links cannot be: {error}") from None


def history_report(life: dict[str, Any], events: int) -> dict[str, Any]:
    """Make the report of an overlay to which ``events`` more events have been applied."""
    return {"churn": {**life, "events": life["events"] + events}}


def holds_state(path: str | Path) -> bool:
    """Whether a state was ever completed there. Leftovers of a process that died before do not count.

    Raises
    ------
    StateFormatError
        There is a file that topicloom did not write.
    """
    path = Path(path)
    if not path.is_file() or not path.stat().st_size:
        return False
    with _look_at(path) as database, in_words(path):
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
    if tables and "meta" not in tables:
        raise StateFormatError(f"{path} is a database, but not a state of topicloom")
    return bool(tables)


def judge_state(interest: Interest, links: Int32Array, options: Options, forbidden: ForbiddenLinks, path: Path) -> None:
    """Refuse a state whose overlay is not k-topic-connected, or has a forbidden link.

    Raises
    ------
    StateFormatError
    """
    verdict = verify(interest, links, options.k)
    if not verdict.ok:
        raise StateFormatError(
            f"{path} is damaged: its overlay is not {options.k}-topic-connected, {len(verdict.broken):,} topics are "
            f"broken, first {verdict.broken[0].topic!r}"
        )
    used = forbidden.used(interest, links)
    if len(used):
        raise StateFormatError(f"{path} is damaged: {len(used):,} of its links are forbidden")


@contextmanager
def _look_at(path: Path) -> Iterator[sqlite3.Connection]:
    """Yield the database as it is at one moment."""
    if not path.is_file():
        raise InputNotFoundError(f"{path} does not exist")
    check_files(path, StateFormatError)
    with in_words(path):
        database = _opened(path)
    with closing(database):
        yield database


def _opened(path: Path) -> sqlite3.Connection:
    """Open the database to read, to recover after a killed process, or as an unchanging file, whichever works first."""
    if not os.access(path, os.R_OK):
        raise StateFormatError(f"{path} cannot be read: no permission")
    ways = ["mode=ro"]
    if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
        ways.append("mode=rw")
    elif not any(_has_content(beside(path.resolve(), ending)) for ending in ("-wal", "-journal")):
        ways.append("mode=ro&immutable=1")
    failure: sqlite3.Error | None = None
    for way in ways:
        database = sqlite3.connect(f"{path.absolute().as_uri()}?{way}", isolation_level=None, uri=True)
        try:
            database.execute("BEGIN")  # all that is read comes from one moment
            database.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.Error as error:
            database.close()
            failure = failure or error
        else:
            return database
    assert failure is not None
    raise StateFormatError(
        f"{path} cannot be read as a state: {failure}"
        + ("" if len(ways) > 1 else "; it was not closed, and finishing that takes permission to write in its folder")
    )


def _has_content(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0
