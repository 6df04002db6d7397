"""What the reference methods that ignore topics have in common: which nodes they link."""

import numpy as np

from topicloom.model import Interest
from topicloom.model.arrays import Int32Array


def sharing_nodes(interest: Interest) -> Int32Array:
    """Nodes that share a topic with anyone, ascending; no overlay links the others."""
    wanted_by_two = np.diff(interest.topic_indptr) > 1
    return np.unique(interest.nodes[wanted_by_two[interest.topics]])
