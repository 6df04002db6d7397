"""k = 1: every topic's sub-overlay is connected."""

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph

from topicloom.judge.sub_overlays import TopicBatch
from topicloom.model.arrays import Int64Array
from topicloom.model.interest import Interest
from topicloom.model.results import BrokenTopic


def component_labels(batch: TopicBatch) -> npt.NDArray[np.int32]:
    """For every entry of a batch a number that is the same exactly within a component."""
    edges = sparse.coo_array((np.ones(len(batch.a), np.int8), (batch.a, batch.b)), shape=(batch.size, batch.size))
    _, labels = csgraph.connected_components(edges.tocsr(), directed=False)
    return labels


def component_heads(batch: TopicBatch) -> Int64Array:
    """First entry of every component, ascending; it is the one of the component's smallest node."""
    _, heads = np.unique(component_labels(batch), return_index=True)
    return np.sort(heads)


def disconnected_topics(interest: Interest, batch: TopicBatch) -> list[BrokenTopic]:
    """Topics of a batch with more than one component, each with the smallest nodes of its first two."""
    heads = batch.first + component_heads(batch)
    starts = np.searchsorted(heads, interest.topic_indptr[batch.start : batch.stop + 1])
    components = np.diff(starts)
    broken = []
    for offset in np.flatnonzero(components > 1):
        first, second = interest.topic_nodes[heads[starts[offset] : starts[offset] + 2]]
        broken.append(BrokenTopic(batch.start + int(offset), int(components[offset]), (int(first), int(second))))
    return broken
