"""Follow a message: every state that it gets into, how many copies each broker sees, or the cycle that it runs in."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from topicloom.brokers.auditing.audit_findings import Hop, State

_MOST_STATES, _LONGEST_NAME = 20_000, 2_000


@dataclass(frozen=True)
class Outcome:
    """What becomes of one message.

    Attributes
    ----------
    copies
        (broker, name) to the number of copies that a client there gets; without meaning when there is a loop.
    loop
        The hops of a cycle, or None. A cycle in which the name grows is cut where the link repeats.
    """

    copies: dict[tuple[str, str], int]
    loop: tuple[Hop, ...] | None = None


def follow(
    start: State, hops: Callable[[State], Sequence[Hop]], counts: Callable[[State], bool] | None = None
) -> Outcome:
    """Follow a message that a client publishes, until it has been everywhere.

    A state that is met again on its own way is a loop. Otherwise the copies in a state are those of all ways to it.

    Parameters
    ----------
    start : State
        The state of the message at its publisher's broker.
    hops : callable
        From a state to the hops that the brokers make from it.
    counts : callable, optional
        Whether clients see the message in a state; in all unless given.

    Returns
    -------
    Outcome
        The publisher's own broker counts the copy that its clients get.

    See Also
    --------
    topicloom.audit : follows every message of configurations.

    Notes
    -----
    O(states + hops) time.

    Examples
    --------
    >>> from topicloom.brokers.auditing.audit_findings import Place
    >>> there, back = State("b", "news", 1), State("a", "news", 1)
    >>> hops = {
    ...     State("a", "news", 0): [Hop(there, 1, Place("a.conf", 3))],
    ...     there: [Hop(back, 1, Place("b.conf", 3))],
    ...     back: [Hop(there, 1, Place("a.conf", 3))],
    ... }
    >>> [hop.state.broker for hop in follow(State("a", "news", 0), lambda state: hops[state]).loop]
    ['a', 'b']
    """
    finished: list[State] = []
    ahead: dict[State, Sequence[Hop]] = {}
    on_way: dict[State, int] = {}
    way: list[tuple[State, int]] = []
    trail: list[Hop] = []

    def enter(state: State) -> None:
        ahead[state] = hops(state)
        on_way[state] = len(way)
        way.append((state, 0))

    enter(start)
    while way:
        state, position = way[-1]
        if position == len(ahead[state]):
            way.pop()
            del on_way[state]
            finished.append(state)
            del trail[-1:]
            continue
        way[-1] = (state, position + 1)
        hop = ahead[state][position]
        if hop.state in on_way:
            return Outcome({}, tuple([*trail, hop][on_way[hop.state] :]))
        if len(hop.state.name) > _LONGEST_NAME or len(ahead) > _MOST_STATES:
            return Outcome({}, _repeated([*trail, hop]))
        if hop.state not in ahead:
            trail.append(hop)
            enter(hop.state)
    return Outcome(_counted(start, finished, ahead, counts))


def _repeated(trail: list[Hop]) -> tuple[Hop, ...]:
    """The last stretch of a way between two uses of one link."""
    last = trail[-1].state
    for place in range(len(trail) - 2, -1, -1):
        if trail[place].state[::2] == last[::2]:
            return tuple(trail[place + 1 :])
    return tuple(trail)


def _counted(
    start: State,
    finished: list[State],
    ahead: dict[State, Sequence[Hop]],
    counts: Callable[[State], bool] | None,
) -> dict[tuple[str, str], int]:
    ways = dict.fromkeys(finished, 0)
    ways[start] = 1
    copies: dict[tuple[str, str], int] = {}
    for state in reversed(finished):
        if counts is None or counts(state):
            copies[state.broker, state.name] = copies.get((state.broker, state.name), 0) + ways[state]
        for hop in ahead[state]:
            ways[hop.state] += ways[state] * hop.copies
    return copies
