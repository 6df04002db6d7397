"""Create and resume a state that is kept in a file."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from topicloom.churn.options import Options
from topicloom.churn.reading import judge_state, kept_forbidden, read_history
from topicloom.churn.route_store import kept_plan
from topicloom.churn.state_file import WriterLock, in_words
from topicloom.churn.store import Store
from topicloom.churn.upkeep import MaintainerCore
from topicloom.errors import InvalidOptionError
from topicloom.routing import RouteFollower


def create(lock: WriterLock, sync: str, upkeep: MaintainerCore) -> None:
    """Write a state that exists in memory only, and keep it in that file from here on."""
    facts = {**asdict(upkeep.options), "life": json.dumps(upkeep.life)}
    if upkeep.fence:
        facts["forbidden"] = upkeep.fence.forbidden.to_json()
    upkeep.store = Store.create(lock, sync, upkeep.state, facts, upkeep.counts(), upkeep.put_routes)
    upkeep.state.settle()


def reopen(lock: WriterLock, sync: str, given: Mapping[str, Any]) -> MaintainerCore:
    """Read a state, check and judge it. Returns it ready to go on.

    Raises
    ------
    StateFormatError
        The file is not a state, or it is damaged.
    InvalidOptionError
        An option that is given differs from that of the state.
    """
    store = Store.open(lock, sync)
    try:
        facts, rows = store.load()
        options = Options.kept(facts, lock.path)
        _check_same(given, asdict(options), lock)
        with in_words(lock.path):
            made = MaintainerCore(options, read_history(facts), kept_forbidden(facts))
            made.actions.builds, made.events = facts["builds"], facts["events"]
            made.state.restore(rows, facts["next_link"])
            made.resume(facts.get("later", ""))
            if made.balance is not None:
                made.balance.restore(made.state, facts)
            plan = kept_plan(store.database, facts, lock.path)
        interest, links = made.state.snapshot()
        judge_state(interest, links, options, made.fence.forbidden, lock.path)
        made.follower = None if plan is None else RouteFollower(made, plan)
    except BaseException:
        store.close()
        raise
    made.store = store
    made.finish()
    return made


def _check_same(given: Mapping[str, Any], kept: Mapping[str, Any], lock: WriterLock) -> None:
    for name, value in given.items():
        if kept.get(name) != value:
            raise InvalidOptionError(f"{name} is {value!r}, but the state in {lock.path} has {kept.get(name)!r}")
