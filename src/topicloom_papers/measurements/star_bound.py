"""An experiment: a lower bound on the links of any overlay that has a star for every topic, as 2D-ODA's have."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from topicloom.model import Interest
from topicloom_papers.cells.cells import Cell
from topicloom_papers.cells.inputs import interest_of
from topicloom_papers.measurements.measurement import NotVerifiedError, Value, measures


@measures("star-bound")
def star_bound(cell: Cell) -> Iterator[Value]:
    """The bound, as ``links``."""
    yield Value("links", fewest_links(interest_of(cell)))


def fewest_links(interest: Interest) -> float:
    """A number of links that no overlay with a star for every topic stays below.

    The linear program: a topic's centre is spread over its subscribers, x(u, t) >= 0 with sum 1; two subscribers of t
    are linked where one of them is its centre, y(u, v) >= x(u, t) + x(v, t); the sum of y is least. Every overlay with
    a star for every topic is a solution with whole numbers, so it has no fewer links.
    """
    topics = [interest.subscribers(t).tolist() for t in range(interest.n_topics)]
    topics = [members for members in topics if len(members) > 1]
    centre = {(t, u): number for number, (t, u) in enumerate((t, u) for t, us in enumerate(topics) for u in us)}
    pairs = [(t, u, v) for t, members in enumerate(topics) for u, v in combinations(members, 2)]
    linked = {ends: len(centre) + number for number, ends in enumerate(sorted({(u, v) for _, u, v in pairs}))}
    columns = np.array([(centre[t, u], centre[t, v], linked[u, v]) for t, u, v in pairs])
    variables = len(centre) + len(linked)
    at_most = csr_array(
        (np.tile([1.0, 1.0, -1.0], len(pairs)), (np.repeat(np.arange(len(pairs)), 3), columns.ravel())),
        shape=(len(pairs), variables),
    )
    of_topic = [t for t, _ in centre]
    one_centre = csr_array((np.ones(len(centre)), (of_topic, np.arange(len(centre)))), shape=(len(topics), variables))
    cost = (np.arange(variables) >= len(centre)).astype(np.float64)
    solve: Any = linprog  # its stubs know no sparse matrices
    found = solve(cost, at_most, np.zeros(len(pairs)), one_centre, np.ones(len(topics)), method="highs-ipm")
    if found.status != 0:
        raise NotVerifiedError(f"the bound was not found: {found.message}")
    return float(found.fun)
