"""The state of a maintainer in SQLite: what was acknowledged is on disk, whenever the process dies.

One transaction per event or batch, with a write-ahead log. A killed process loses nothing that was committed;
``sync="full"`` waits for the disk as well, so that nothing is lost when the machine stops. Only what changed is
written: the rows of nodes whose topics or backups changed, topics and links that came or went. Primaries mirror backups
and are not stored. One process writes (`state_file`); readers may look at any time. A new state is written beside its
place and moved there when it is whole. What is read is checked (`integrity`), and judged.
"""

import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import numpy as np

from topicloom.churn.integrity import (
    WRAP,
    Rows,
    as_text,
    check_facts,
    checked_rows,
    facts_digest,
    links_sum,
    node_sum,
    topic_sum,
)
from topicloom.churn.state import OverlayState
from topicloom.churn.state_file import WriterLock, acknowledged, beside, in_words, moved_into_place
from topicloom.errors import InvalidOptionError, StateFormatError, StateInUseError
from topicloom.model.arrays import Int32Array

FORMAT = 2
FIRST_FORMAT = 1  # of version 0.1: without sums; every leave released up to two links
SYNCS = ("full", "normal")
_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE topic (slot INTEGER PRIMARY KEY, label TEXT NOT NULL);
CREATE TABLE node (slot INTEGER PRIMARY KEY, label TEXT NOT NULL, topics BLOB NOT NULL, backups BLOB NOT NULL);
CREATE TABLE link (u INTEGER, v INTEGER, number INTEGER NOT NULL, PRIMARY KEY (u, v)) WITHOUT ROWID;
"""
_PUT_FACT = "INSERT OR REPLACE INTO meta VALUES (?, ?)"
_leaked: list[sqlite3.Connection] = []  # of other processes: closing them here could touch their files


def checked_sync(sync: str) -> str:
    """Check how a commit waits for the disk."""
    if sync not in SYNCS:
        raise InvalidOptionError(f"sync is {sync!r}; {', '.join(SYNCS)} are accepted")
    return sync


class Sums:
    """The sum of all rows of a state, kept as rows change. The sums of nodes and topics are kept one by one."""

    def __init__(self) -> None:
        self.total = 0
        self._of: dict[str, dict[int, int]] = {"node": {}, "topic": {}}

    def put(self, table: str, slot: int, value: int) -> None:
        """Set the sum of a row, 0 for one that is gone."""
        before = self._of[table].pop(slot, 0)
        if value:
            self._of[table][slot] = value
        self.total = (self.total + value - before) % WRAP

    def put_links(self, before: list[tuple[int, int, int]], after: list[tuple[int, int, int]]) -> None:
        """Replace rows of links by others."""
        old, new = (np.array(rows, np.int64).reshape(-1, 3) for rows in (before, after))
        self.total = (self.total + links_sum(new) - links_sum(old)) % WRAP


class Store:
    """The database of a state, open for writing by one process."""

    def __init__(self, lock: WriterLock, database: sqlite3.Connection, sync: str) -> None:
        self._path, self._lock, self._database, self._sync = lock.path, lock, database, sync
        self._file = self._path.stat()
        self._sums = Sums()
        self._check: str | None = None  # digest of the facts that memory agrees with
        self._open = True

    @classmethod
    def create(
        cls,
        lock: WriterLock,
        sync: str,
        state: OverlayState,
        options: Mapping[str, Any],
        counts: Mapping[str, Any],
        also: Callable[[sqlite3.Connection], None],
    ) -> Self:
        """Write a whole state, and what ``also`` writes, beside its place. Then move it there and open it."""
        with in_words(lock.path), moved_into_place(lock.path) as new:
            database = sqlite3.connect(new, isolation_level=None)
            try:
                database.execute("PRAGMA journal_mode = MEMORY")
                database.execute("BEGIN")
                for statement in _TABLES.split(";"):
                    database.execute(statement)
                facts = {**options, "format": FORMAT, "since": time.time(), "commits": 0}
                database.executemany(_PUT_FACT, facts.items())
                sums = Sums()
                _write(database, sums, state, counts)
                also(database)
                check, commits = _seal(database)
                database.execute("COMMIT")
                database.execute("PRAGMA journal_mode = WAL")
            finally:
                database.close()
        store = cls.open(lock, sync)
        store._sums, store._check = sums, check
        lock.acknowledge(commits, sync)
        return store

    @classmethod
    def open(cls, lock: WriterLock, sync: str) -> Self:
        """Open the database that is there."""
        with in_words(lock.path):
            # A stream hands its batches over on threads of its own, one after the other.
            database = sqlite3.connect(lock.path, isolation_level=None, check_same_thread=False)
            database.execute("PRAGMA journal_mode = WAL")
            database.execute(f"PRAGMA synchronous = {sync}")
            for ending in ("", "-wal", "-shm", "-lock"):
                with suppress(OSError):
                    beside(lock.path, ending).chmod(0o600)
        return cls(lock, database, sync)

    @property
    def path(self) -> Path:
        """Where the state is."""
        return self._path

    @property
    def database(self) -> sqlite3.Connection:
        """The database, to read tables that live beside the state."""
        return self._database

    def load(self) -> tuple[dict[str, Any], Rows]:
        """Read the state. Returns options and counts, and its rows, checked.

        O(subscriptions + links + backups), however long its history. A state of version 0.1 gets its sums.

        Raises
        ------
        StateFormatError
            It is not a state of a version that this one reads, or it is damaged.
        """
        with in_words(self._path):
            facts, rows, self._sums = load(self._database, self._path, acknowledged(self._path))
            if facts["format"] != FORMAT:
                self._upgrade(facts)
            self._check = _read_check(self._database)
        return facts, rows

    def _upgrade(self, facts: dict[str, Any]) -> None:
        facts |= {"format": FORMAT, "commits": 0, "sum": as_text(self._sums.total)}
        self._database.execute("BEGIN IMMEDIATE")
        self._database.executemany(_PUT_FACT, facts.items())
        _seal(self._database)
        self._database.execute("COMMIT")

    def commit(
        self,
        state: OverlayState,
        counts: Mapping[str, Any],
        *,
        also: Callable[[sqlite3.Connection], None] | None = None,
    ) -> None:
        """Write what has changed, the maintainer's counts and what ``also`` writes, in one transaction.

        When it returns, it is durable. If it fails, memory is ahead of the disk: the store is closed.
        """
        with self.transaction() as database:
            _write(database, self._sums, state, counts)
            if also is not None:
                also(database)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Yield the database to write to: all of it is durable when the block has ended, or nothing.

        Raises
        ------
        StateInUseError, StateFormatError, OutputExistsError
            Somebody else has written, removed or replaced the state; or it cannot be written. The store is closed.
        """
        self.check_open()
        try:
            with in_words(self._path, nonsense=False):
                self._check_place()
                self._database.execute("BEGIN IMMEDIATE")
                if _read_check(self._database) != self._check:
                    raise StateInUseError(f"{self._path} was changed by somebody else; open it again to go on")
                yield self._database
                check, commits = _seal(self._database)
                self._database.execute("COMMIT")
            self._lock.acknowledge(commits, self._sync)
            self._check = check
        except BaseException:
            self.close()
            raise

    def _check_place(self) -> None:
        self._lock.check()
        try:
            here = os.path.samestat(self._file, self._path.stat())
        except OSError:
            here = False
        if not here:
            raise StateFormatError(f"{self._path} was removed or replaced while it was open; nothing was written")

    def check_open(self) -> None:
        """Refuse to go on when the store is closed, or in a forked process."""
        self._lock.check_process()
        if not self._open:
            raise StateInUseError(f"{self._path} is closed; open it again to go on")

    def close(self) -> None:
        """Close the database and release its lock. A forked process holds neither.

        Closing again completes a close that was interrupted.
        """
        self._open = False
        if not self._lock.is_ours:
            _leaked.append(self._database)
            return
        with suppress(sqlite3.Error):
            self._database.close()
        self._lock.release()


def load(database: sqlite3.Connection, path: Path, commits: int) -> tuple[dict[str, Any], Rows, Sums]:
    """Read a state and check it. Returns its options and counts, its rows, and their sums.

    ``commits`` is how many are known to have been acknowledged.

    Raises
    ------
    StateFormatError
        It is not a state of a version that this one reads; something in it contradicts itself, its sums or ``commits``.
    """
    (found,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise StateFormatError(f"{path} is damaged: {found}")
    facts = dict(database.execute("SELECT key, value FROM meta").fetchall())
    _check_header(facts, path, commits)
    try:
        check_facts(facts)
        topics, nodes = (
            database.execute(f"SELECT * FROM {table} ORDER BY slot").fetchall() for table in ("topic", "node")
        )
        links = database.execute("SELECT u, v, number FROM link ORDER BY number").fetchall()
        rows = checked_rows(topics, nodes, links, facts["next_link"])
    except StateFormatError as error:
        raise StateFormatError(f"{path} is damaged: {error}") from None
    sums = Sums()
    for topic in topics:
        sums.put("topic", topic[0], topic_sum(*topic))
    for node in nodes:
        sums.put("node", node[0], node_sum(*node))
    sums.put_links([], links)
    if facts["format"] == FORMAT and facts.get("sum") != as_text(sums.total):
        raise StateFormatError(f"{path} is damaged: its rows are not those that were written (their sum differs)")
    return facts, rows, sums


def _check_header(facts: dict[str, Any], path: Path, commits: int) -> None:
    if facts.get("format") == FIRST_FORMAT:
        facts.setdefault("release", 2)
        return
    if facts.get("format") != FORMAT:
        raise StateFormatError(
            f"{path} has state format {facts.get('format')!r}; this version reads formats {FIRST_FORMAT} and {FORMAT}"
        )
    check = facts.pop("check", None)
    if check != facts_digest(facts.items()):
        raise StateFormatError(f"{path} is damaged: its options and counts are not those that were written")
    if facts["commits"] < commits:
        raise StateFormatError(
            f"{path} holds {facts['commits']:,} commits, but {commits:,} were acknowledged: its end is missing, as if "
            f"{path.name}-wal were damaged or another's; put it back, or remove {path.name}-lock to do without the end"
        )


def _read_check(database: sqlite3.Connection) -> str | None:
    found = database.execute("SELECT value FROM meta WHERE key = 'check'").fetchone()
    return None if found is None else found[0]


def _seal(database: sqlite3.Connection) -> tuple[str, int]:
    """Count a commit and write the digest of all facts. Returns both."""
    database.execute("UPDATE meta SET value = value + 1 WHERE key = 'commits'")
    facts = database.execute("SELECT key, value FROM meta WHERE key <> 'check'").fetchall()
    check = facts_digest(facts)
    database.execute(_PUT_FACT, ("check", check))
    return check, dict(facts)["commits"]


def _write(database: sqlite3.Connection, sums: Sums, state: OverlayState, counts: Mapping[str, Any]) -> None:
    """Write the rows that have changed, and counts."""
    run = database.executemany
    put, drop = [], []
    for node in state.changed_nodes:
        label = state.nodes.labels[node] if node < len(state.nodes.labels) else None
        if label is None:
            drop.append((node,))
            sums.put("node", node, 0)
        else:
            put.append((node, label, _blob(state.rows.of(node)), _blob(state.backups.of(node))))
            sums.put("node", node, node_sum(*put[-1]))
    run("DELETE FROM node WHERE slot = ?", drop)
    run("INSERT OR REPLACE INTO node VALUES (?, ?, ?, ?)", put)
    topics = [(topic, state.topics.labels[topic]) for topic in state.changed_topics]
    for topic, label in topics:
        sums.put("topic", topic, 0 if label is None else topic_sum(topic, label))
    run("DELETE FROM topic WHERE slot = ?", [(topic,) for topic, label in topics if label is None])
    run("INSERT OR REPLACE INTO topic VALUES (?, ?)", [pair for pair in topics if pair[1] is not None])
    before = [(*link, number) for link, number in state.changed_links.items() if number is not None]
    after = [(*link, state.links[link]) for link in state.changed_links if link in state.links]
    sums.put_links(before, after)
    gone = [link for link in state.changed_links if link not in state.links]
    run("DELETE FROM link WHERE u = ? AND v = ?", gone)
    run("INSERT OR REPLACE INTO link VALUES (?, ?, ?)", after)
    facts = {**counts, "next_link": state.next_link, "changed": time.time(), "sum": as_text(sums.total)}
    run(_PUT_FACT, facts.items())


def _blob(numbers: Int32Array) -> bytes:
    return numbers.astype("<i4").tobytes()
