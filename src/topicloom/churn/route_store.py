"""Routes in the database of a durable state: the plan after the last event, written in the transaction of the event."""

import hashlib
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from topicloom.errors import InvalidOptionError, StateFormatError
from topicloom.model.change import RouteChange
from topicloom.routing import Plan

_FACT = "plan"


def put_plan(database: sqlite3.Connection, plan: Plan) -> None:
    """Write a plan in place of the one before, with its digest among the facts. O(subscriptions + links + rows)."""
    content = plan.to_bytes()
    database.execute("CREATE TABLE IF NOT EXISTS plan (one INTEGER PRIMARY KEY, content BLOB NOT NULL)")
    database.execute("INSERT OR REPLACE INTO plan VALUES (0, ?)", (content,))
    database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_FACT, _digest(content)))


def kept_plan(database: sqlite3.Connection, facts: Mapping[str, Any], path: Path) -> Plan | None:
    """Read the plan of a state. Returns None if no routes are followed.

    Raises
    ------
    StateFormatError
        It is not the plan that was written.
    """
    if _FACT not in facts:
        return None
    found = database.execute("SELECT content FROM plan").fetchone()
    if found is None or _digest(found[0]) != facts[_FACT]:
        raise StateFormatError(f"{path} is damaged: its routes are not those that were written")
    return Plan.from_bytes(found[0])


def check_fits(moved: RouteChange) -> None:
    """Refuse a plan from which the routes of the overlay differ.

    Raises
    ------
    InvalidOptionError
    """
    if moved.removed or moved.added:
        raise InvalidOptionError(
            f"the plan is not one of this overlay: {len(moved.removed):,} rows would go and {len(moved.added):,} come "
            "before the first event; make one with topicloom routes, which keeps the trees that can stay"
        )


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
