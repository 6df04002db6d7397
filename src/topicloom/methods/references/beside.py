"""What the reference methods have in common: the nodes that they link, and what the usual ways would take."""

from typing import Any

import numpy as np

from topicloom.kernels.covers.co_subscribers import count_co_subscribers
from topicloom.methods.per_topic.ring_per_topic import ring_per_topic
from topicloom.model import Interest
from topicloom.model.arrays import Int32Array, Int64Array
from topicloom.model.interest import both_ways

_MOST_PAIRS = 20_000_000


def usual_ways(interest: Interest) -> dict[str, dict[str, Any]]:
    """Count the links and degrees of ``ring-pt`` and ``full-mesh`` for an interest.

    Returns
    -------
    dict
        By method: links, average_degree and max_degree. The full mesh is left out where topics have more than
        20,000,000 pairs of subscribers in all, because counting would then take longer than a design.

    Examples
    --------
    >>> import topicloom as tl
    >>> usual_ways(tl.datasets.example())["full-mesh"]
    {'links': 15, 'average_degree': 5.0, 'max_degree': 5}
    """
    ways = {"ring-pt": _counted(ring_per_topic(interest).degree())}
    if few_pairs(interest):
        ways["full-mesh"] = _counted(co_subscribers(interest))
    return ways


def few_pairs(interest: Interest) -> bool:
    """Whether topics have at most 20,000,000 pairs of subscribers in all."""
    sizes = np.diff(interest.topic_indptr)
    return int((sizes * (sizes - 1) // 2).sum()) <= _MOST_PAIRS


def co_subscribers(interest: Interest) -> Int64Array:
    """For every node the number of others that share a topic with it."""
    degree: Int64Array = count_co_subscribers(*both_ways(interest), np.iinfo(np.int64).max)
    return degree


def _counted(degree: Int64Array) -> dict[str, Any]:
    links = int(degree.sum()) // 2
    average = 2 * links / len(degree) if len(degree) else 0.0
    return {"links": links, "average_degree": average, "max_degree": int(degree.max(initial=0))}


def sharing_nodes(interest: Interest) -> Int32Array:
    """Nodes that share a topic with anyone, ascending. No overlay links the others."""
    wanted_by_two = np.diff(interest.topic_indptr) > 1
    return np.unique(interest.nodes[wanted_by_two[interest.topics]])
