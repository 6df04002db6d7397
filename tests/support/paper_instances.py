"""Instances that the papers, or counterexamples to them, are about; each says where it comes from."""

from itertools import combinations

import topicloom as tl
from support.small_interests import interest_of

Links = list[tuple[int, int]]


def chains_and_hub(n: int, q: int) -> tuple[tl.Interest, Links]:
    """Interest on which Low-ODA with rho < q makes a hub, and an overlay of maximum degree max(q, 3) for it.

    There are q chains a_c1 … a_cn, a hub h and nodes v_1 … v_n. Topic A_ci is wanted by a_ci … a_cn, h and v_i. The
    overlay joins the neighbours of each chain, the end of each chain with h, and v_i with a_ci.
    """
    hub, chain, v = q * n, lambda c, i: c * n + i, lambda i: q * n + 1 + i
    rows: list[set[int]] = [set() for _ in range(q * n + 1 + n)]
    for c in range(q):
        for i in range(n):
            for node in [*(chain(c, j) for j in range(i, n)), hub, v(i)]:
                rows[node].add(chain(c, i))
    along = [(chain(c, i), chain(c, i + 1)) for c in range(q) for i in range(n - 1)]
    to_hub = [(chain(c, n - 1), hub) for c in range(q)]
    across = [(chain(c, i), v(i)) for c in range(q) for i in range(n)]
    return interest_of(rows, q * n), along + to_hub + across


def pairs_and_v_all(n: int) -> tuple[tl.Interest, Links]:
    """Interest of star-merge §IV, and its fewest links: n nodes with a topic for each pair, and one that wants all."""
    rows: list[set[int]] = [set() for _ in range(n)]
    pairs = list(combinations(range(n), 2))
    for topic, (u, v) in enumerate(pairs):
        rows[u].add(topic)
        rows[v].add(topic)
    return interest_of([*rows, set(range(len(pairs)))], len(pairs)), [(v, n) for v in range(n)]


def plane_with_lines(q: int) -> tuple[tl.Interest, list[tuple[str, str]]]:
    """Interest of erratum S-1, and its fewest links: the affine plane of order q (a prime), with a node for each line.

    Each pair of the q² points has a topic, which the node of the line through both wants, too. A star around each
    line's node connects the topics of its pairs; lines share no pair, and thus no link.
    """
    lines = [[(x, (a * x + b) % q) for x in range(q)] for a in range(q) for b in range(q)]
    lines += [[(x, y) for y in range(q)] for x in range(q)]
    rows = [
        (node, f"{one} {other}")
        for number, line in enumerate(lines)
        for one, other in combinations(line, 2)
        for node in (f"point {one}", f"point {other}", f"line {number}")
    ]
    stars = [(f"point {one}", f"line {number}") for number, line in enumerate(lines) for one in line]
    return tl.Interest.from_pairs(*map(list, zip(*rows, strict=True))), stars


def cuboid(k: int, m: int) -> tl.Interest:
    """Interest of GM Lemma 6.6: 2 × (2^k − 1) × m topics, wanted by planes, columns and slices of the cuboid.

    Nodes 0 and 1 want a plane each (Stwo), the next k nodes want columns of 2, 4, …, 2^k cells of the face
    (Sk), the last m nodes want a slice each (Sm). Half of the cells of a column lie in each plane.
    """
    width = 2**k - 1
    topic = {(x, y, z): (x * width + y) * m + z for x in range(2) for y in range(width) for z in range(m)}
    planes = [{t for (x, _, _), t in topic.items() if x == plane} for plane in range(2)]
    columns = [{t for (_, y, _), t in topic.items() if 2**i - 1 <= y < 2 ** (i + 1) - 1} for i in range(k)]
    slices = [{t for (_, _, z), t in topic.items() if z == one} for one in range(m)]
    return interest_of([*planes, *columns, *slices], len(topic))


def with_guard(interest: tl.Interest) -> tl.Interest:
    """The interest of kTCO Theorem A.1: one more node that wants every topic, and shares a new topic with each node."""
    n, n_topics = interest.n_nodes, interest.n_topics
    rows = [{*interest.topics_of(v).tolist(), n_topics + v} for v in range(n)]
    return interest_of([*rows, set(range(n_topics + n))], n_topics + n)
