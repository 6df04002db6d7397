"""Full mesh: every two nodes that share a topic are linked. A reference to compare with."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from topicloom.errors import NotEnoughMemoryError
from topicloom.kernels.covers.co_subscribers import count_co_subscribers, list_co_subscribers
from topicloom.methods.registry import Size, method
from topicloom.model import Interest, Overlay
from topicloom.model.checks import checked_seed
from topicloom.model.interest import both_ways

MOST_LINKS = 200_000_000


def _memory(size: Size, options: Mapping[str, Any]) -> int:
    return 24 * min(size.nodes * (size.nodes - 1) // 2, MOST_LINKS)


@method(
    "full-mesh",
    problem="reference: everyone who shares a topic is linked, as peers that dial all publishers do",
    guarantee="k-topic-connected for every k, every topic with diameter 1; as many links as there are pairs to link",
    cost=f"O(Σ_t subscribers(t)²) time; refused above {MOST_LINKS:,} links",
    paper="no paper: what full-mesh deployments do",
    memory=_memory,
    max_k=2**31 - 1,
    reference=True,
)
def full_mesh(interest: Interest, *, seed: int = 0) -> Overlay:
    """Overlay that links every two nodes that share a topic: one hop for every message, at the price of all the links.

    Takes O(Σ_t subscribers(t)²) time. The seed changes nothing.

    Parameters
    ----------
    interest : Interest
        What each node wants.
    seed : int
        Changes nothing: there are no ties.

    Returns
    -------
    Overlay

    Raises
    ------
    NotEnoughMemoryError
        There are more than 200,000,000 such pairs.

    See Also
    --------
    hub, random_regular, spanning_tree : other overlays to compare with.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.Interest.from_pairs(list("abcd"), list("xxxy"))
    >>> tl.full_mesh(interest).links.tolist()
    [[0, 1], [0, 2], [1, 2]]
    >>> factory = tl.datasets.example()
    >>> tl.full_mesh(factory).n_links
    15
    """
    largest = int(np.diff(interest.topic_indptr).max(initial=0))
    csr = both_ways(interest)
    n_links = largest * (largest - 1) // 2
    if n_links <= MOST_LINKS:
        n_links = int(count_co_subscribers(*csr, MOST_LINKS).sum()) // 2
    if n_links > MOST_LINKS:
        raise NotEnoughMemoryError(
            f"a full mesh of these {interest.n_nodes:,} nodes has at least {n_links:,} links; "
            f"up to {MOST_LINKS:,} are accepted"
        )
    return Overlay(interest, list_co_subscribers(*csr, n_links), "full-mesh", seed=checked_seed(seed))
