"""Is every moment of a change safe? Judged from the rows by name, by other code than the one that orders the steps."""

from collections.abc import Iterable

Row = tuple[str, str, str]


def cyclic_topics(rows: Iterable[Row]) -> tuple[str, ...]:
    """Topics whose rows (topic, end, end) hold a cycle, sorted; none when the live rows of every topic are a forest.

    >>> cyclic_topics([("x", "a", "b"), ("x", "b", "c"), ("y", "a", "c")])
    ()
    >>> cyclic_topics([("x", "a", "b"), ("x", "b", "c"), ("x", "a", "c")])
    ('x',)
    """
    leader: dict[tuple[str, str], tuple[str, str]] = {}
    cyclic = set()
    for topic, one, other in set(rows):
        a, b = _leader(leader, (topic, one)), _leader(leader, (topic, other))
        if a == b:
            cyclic.add(topic)
        leader[a] = b
    return tuple(sorted(cyclic))


def _leader(leader: dict[tuple[str, str], tuple[str, str]], entry: tuple[str, str]) -> tuple[str, str]:
    way = []
    while leader.get(entry, entry) != entry:
        way.append(entry)
        entry = leader[entry]
    for passed in way:
        leader[passed] = entry
    return entry
