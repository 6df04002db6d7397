"""Sums and checks that tell a whole state from a damaged one.

Every row has a sum of 64 bits. The sums of all rows, added up, stand in the state: a commit adds and subtracts the sums
of the rows that it changes, so that the total costs next to nothing to keep, and a changed, missing, repeated or stale
row is noticed when the state is read. A digest covers the facts, the total among them.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from topicloom.errors import StateFormatError
from topicloom.model.arrays import Int32Array, Int64Array
from topicloom.model.labels import MAX_LABEL_BYTES

WRAP = 1 << 64
MAX_SLOTS = 1 << 31
_SPARE_SLOTS = 1 << 20  # free slots below the highest in use that are believed without asking


class Rows(NamedTuple):
    """A state read from disk and checked: labels by slot, topics and backups by node, links in their order."""

    topics: list[tuple[int, str]]
    nodes: list[tuple[int, str]]
    topic_ptr: Int64Array
    wanted: Int32Array
    backup_ptr: Int64Array
    backups: Int32Array
    links: Int64Array  # u, v and number, ascending by number


def row_sum(*parts: bytes) -> int:
    """Hash a row: its parts, and where each of them ends."""
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return int.from_bytes(digest.digest(), "little")


def topic_sum(slot: int, label: str) -> int:
    """Hash a row of ``topic``."""
    return row_sum(b"topic", slot.to_bytes(8, "little"), label.encode())


def node_sum(slot: int, label: str, topics: bytes, backups: bytes) -> int:
    """Hash a row of ``node``."""
    return row_sum(b"node", slot.to_bytes(8, "little"), label.encode(), topics, backups)


def links_sum(links: Int64Array) -> int:
    """Add up the hashes of rows (u, v, number) of ``link``."""
    mixed = np.full(len(links), 0x9E3779B97F4A7C15, np.uint64)
    for column in range(3):
        mixed = (mixed ^ links[:, column].astype(np.uint64)) * np.uint64(0xFF51AFD7ED558CCD)
        mixed = (mixed ^ (mixed >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
        mixed ^= mixed >> np.uint64(29)
    return int(mixed.sum(dtype=np.uint64))


def facts_digest(facts: Iterable[tuple[str, Any]]) -> str:
    """Hash keys and values. Their order does not matter."""
    return hashlib.blake2b(repr(sorted(facts)).encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()


def as_text(total: int) -> str:
    """A total as the database keeps it: SQLite's integers have a sign."""
    return f"{total % WRAP:016x}"


def check_facts(facts: Mapping[str, Any]) -> None:
    """Refuse facts whose counts are negative or no whole numbers.

    Raises
    ------
    StateFormatError
    """
    for name in ("builds", "events", "next_link", *(key for key in ("fresh_max", "fresh_at") if key in facts)):
        value = facts.get(name)
        if not isinstance(value, int) or not 0 <= value < WRAP // 2:
            raise StateFormatError(f"its count {name!r} is {value!r}")
    for name in ("since", "changed", *(key for key in ("fresh_average",) if key in facts)):
        if not isinstance(facts.get(name), float | int) or not abs(facts[name]) < 1e15:
            raise StateFormatError(f"its value {name!r} is {facts.get(name)!r}")


def checked_rows(topics: Sequence[Any], nodes: Sequence[Any], links: Sequence[Any], next_link: int) -> Rows:
    """Check the rows of the three tables together.

    Raises
    ------
    StateFormatError
        A slot, a label, a list or a link contradicts the others, or cannot be.
    """
    topic_slots = _slots("topic", [(slot, label) for slot, label in topics])
    node_slots = _slots("node", [row[:2] for row in nodes])
    topic_ptr, wanted = _lists("topics", [row[2] for row in nodes])
    backup_ptr, backups = _lists("backups", [row[3] for row in nodes])
    owner = np.repeat(np.arange(len(nodes)), np.diff(topic_ptr))
    if not np.isin(wanted, topic_slots).all() or len(np.unique(wanted)) != len(topic_slots):
        raise StateFormatError("topics are wanted that it does not hold, or it holds topics that nobody wants")
    if ((np.diff(wanted.astype(np.int64)) <= 0) & (np.diff(owner) == 0)).any():
        raise StateFormatError("the topics of a node are not ascending")
    owner = np.repeat(np.arange(len(nodes)), np.diff(backup_ptr))
    if not np.isin(backups, node_slots).all() or (backups == node_slots[owner]).any():
        raise StateFormatError("a backup is no other node")
    if len(np.unique(owner * MAX_SLOTS + backups)) != len(backups):
        raise StateFormatError("a node has the same backup twice")
    return Rows(
        [(slot, label) for slot, label in topics],
        [(row[0], row[1]) for row in nodes],
        topic_ptr,
        wanted,
        backup_ptr,
        backups,
        _checked_links(links, node_slots, next_link),
    )


def _slots(what: str, rows: Sequence[tuple[Any, Any]]) -> Int64Array:
    for slot, label in rows:
        if not isinstance(slot, int) or not isinstance(label, str):
            raise StateFormatError(f"a {what} has the slot {slot!r} and the label {label!r:.80}")
        if not label or label.isspace() or len(label.encode()) > MAX_LABEL_BYTES:
            raise StateFormatError(f"the {what} in slot {slot} has no label that a {what} could have")
    if len({label for _, label in rows}) != len(rows):
        raise StateFormatError(f"two {what}s have the same label")
    slots = np.array([slot for slot, _ in rows], np.int64)
    highest = int(slots.max(initial=-1))
    if slots.min(initial=0) < 0 or highest >= min(MAX_SLOTS, 1000 * len(rows) + _SPARE_SLOTS):
        raise StateFormatError(f"a {what} has a slot that cannot be: {highest if slots.min(initial=0) >= 0 else -1}")
    return slots


def _lists(what: str, blobs: Sequence[Any]) -> tuple[Int64Array, Int32Array]:
    for blob in blobs:
        if not isinstance(blob, bytes) or len(blob) % 4:
            raise StateFormatError(f"the {what} of a node are not a list of numbers")
    ends = np.zeros(len(blobs) + 1, np.int64)
    np.cumsum([len(blob) // 4 for blob in blobs], out=ends[1:])
    return ends, np.frombuffer(b"".join(blobs), "<i4").astype(np.int32)


def _checked_links(links: Sequence[Any], node_slots: Int64Array, next_link: int) -> Int64Array:
    if not all(type(value) is int for link in links for value in link):
        raise StateFormatError("a link is not made of numbers")
    rows = np.array(links, np.int64).reshape(-1, 3)
    u, v, number = rows.T
    if not np.isin(rows[:, :2], node_slots).all() or not (u < v).all():
        raise StateFormatError("a link has an end that is no node, or both ends are one")
    if (np.diff(number) <= 0).any() or (len(number) and not 0 <= int(number[0]) <= int(number[-1]) < next_link):
        raise StateFormatError("links are not numbered in their order")
    return rows
