"""Algorithms 2 and 3 of the Greedy Merge paper as they are printed, in plain Python: slow, and wrong in one line.

Line 6 of Algorithm 3 goes through every topic that both ends want, also those in which they are connected already. In
such a topic NODES[v][t] and NODES[w][t] are the same set, and lines 7 to 11 lower contributions that this topic no
longer makes.
"""

from collections.abc import Callable, Sequence
from itertools import combinations

Pair = tuple[int, int]
Choice = Callable[[list[Pair]], Pair]


def printed_greedy_merge(
    wants: Sequence[set[int]], choose: Choice = min, *, skip_connected: bool = False
) -> list[Pair]:
    """Links in the order added. ``choose`` is the "some edge" of line 3; a pair that is in no list is passed over.

    With ``skip_connected`` line 6 leaves out the topics in which both ends are connected already.
    """
    component = [{t: frozenset([v]) for t in topics} for v, topics in enumerate(wants)]
    contribution = {(v, w): len(wants[v] & wants[w]) for v, w in combinations(range(len(wants)), 2)}
    contribution = {pair: count for pair, count in contribution.items() if count > 0}
    links: list[Pair] = []
    while contribution:
        highest = max(contribution.values())
        v, w = link = choose([pair for pair, count in contribution.items() if count == highest])
        links.append(link)
        del contribution[link]
        for t in wants[v] & wants[w]:
            here, there = component[v][t], component[w][t]
            if skip_connected and here == there:
                continue
            for pair in {(min(a, b), max(a, b)) for a in here for b in there} - {link}:
                if pair in contribution:
                    contribution[pair] -= 1
                    if contribution[pair] == 0:
                        del contribution[pair]
            for u in here | there:
                component[u][t] = here | there
    return links


def connected_topics(wants: Sequence[set[int]], links: Sequence[Pair]) -> set[int]:
    """Topics whose sub-overlay is connected, by a search for each."""
    found = set()
    for t in set().union(*wants):
        members = {v for v, topics in enumerate(wants) if t in topics}
        reached, front = set(), [min(members)]
        while front:
            at = front.pop()
            if at not in reached:
                reached.add(at)
                front += [b if a == at else a for a, b in links if at in (a, b) and {a, b} <= members]
        if reached == members:
            found.add(t)
    return found
