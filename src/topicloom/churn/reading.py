"""Look at a durable state without opening it for writing."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from topicloom.churn.state import OverlayState
from topicloom.churn.store import Store
from topicloom.model import Interest, Overlay


@dataclass(frozen=True)
class KeptState:
    """A durable state as it was at one moment.

    Attributes
    ----------
    interest, overlay
        Who wanted what, and the links.
    facts : dict
        Options and counts: policy, backups, coverage, rho, k, seed, events, since, changed, …
    """

    interest: Interest
    overlay: Overlay
    facts: dict[str, Any]


def read_state(path: str | Path) -> KeptState:
    """What a durable state holds now; a maintainer may have it open and go on meanwhile.

    Takes time and memory in proportion to the state.

    Raises
    ------
    InputNotFoundError, StateFormatError
        There is no such file, or it is not a state of this version.

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
    store = Store.read(Path(path))
    try:
        facts = store.facts()
        state = OverlayState(facts["seed"])
        store.load(state)
    finally:
        store.close()
    interest, links = state.snapshot()
    options = {name: facts[name] for name in ("policy", "backups", "coverage", "rho", "k")}
    overlay = Overlay(interest, links, f"{facts['policy']}-churn", options, facts["seed"])
    return KeptState(interest, overlay, facts)


def holds_state(path: str | Path) -> bool:
    """Whether a state was ever committed there."""
    path = Path(path)
    if not path.is_file() or not path.stat().st_size:
        return False
    store = Store.read(path)
    try:
        return store.holds_state
    finally:
        store.close()
