"""The fewest links of a small interest, by brute force."""

from collections.abc import Collection

import topicloom as tl


def fewest_links(interest: tl.Interest, standing: Collection[tuple[int, int]] = ()) -> int:
    """By depth-first search: some link must leave a component of a broken topic; each is tried.

    Of overlays that contain the standing links, which are counted.
    """
    topics = [set(interest.subscribers(t).tolist()) for t in range(interest.n_topics)]
    for most in range(interest.n_nodes**2 + 1):
        if _reaches([topic for topic in topics if len(topic) > 1], frozenset(standing), most):
            return most + len(set(standing))
    raise AssertionError("all pairs do")


def _reaches(topics: list[set[int]], links: frozenset, left: int) -> bool:
    missing = 0
    branch = None
    for topic in topics:
        parts = _parts(topic, links)
        missing = max(missing, len(parts) - 1)
        if len(parts) > 1:
            cut = min(parts, key=len)
            if branch is None or len(cut) * len(topic - cut) < len(branch[0]) * len(branch[1]):
                branch = cut, topic - cut
    if branch is None or missing > left:
        return branch is None
    return any(_reaches(topics, links | {(u, v)}, left - 1) for u in branch[0] for v in branch[1])


def _parts(topic: set[int], links: frozenset) -> list[set[int]]:
    parts = [{node} for node in topic]
    for u, v in links:
        if u in topic and v in topic:
            joined = [part for part in parts if u in part or v in part]
            parts = [part for part in parts if part not in joined] + [set().union(*joined)]
    return parts
