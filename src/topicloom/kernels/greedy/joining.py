"""What a greedy rule makes progress in: the components of every topic, or its blocks.

The searches and the loop of the greedy engine call `joined` and `link`, and numba compiles them for the kind of
state that they are given: `Components` (Greedy Merge, MinMax-ODA, Low-ODA) or `Blocks` (GM2). Both have the fields that
a search reads; equal ``label`` numbers mean joined in both, and for components they are the only way to be.

Calls in hot loops take arrays one by one, or few of them: numba counts references for every field of a tuple that a
call passes, which would cost more than the call. Hence the `Homes` of blocks, and the bare labels of components.
"""

import numpy as np
from numba.extending import overload

from topicloom.kernels.greedy.blocks import Blocks, Homes, link_blocks, share_block
from topicloom.kernels.greedy.components import merge
from topicloom.kernels.greedy.topic_weights import weight_of
from topicloom.kernels.jit import borrowing
from topicloom.kernels.sorted_rows import shared


def joined(homes, q, r):
    """Say whether two entries lie in one component, or in one block: a link between them gains nothing there.

    Parameters
    ----------
    homes : Homes or int32
        Of blocks, or the labels of components.
    q, r : int
        Entries of one topic.

    Returns
    -------
    bool

    Cost: O(1) for components; as `share_block` for blocks.
    """
    return share_block(homes, q, r) if isinstance(homes, Homes) else homes[q] == homes[r]


def link(c, t, q, r):
    """Add a link between two entries of a topic.

    Parameters
    ----------
    c : Components or Blocks
        Changed in place.
    t : int
        The topic.
    q, r : int
        Its entries.

    Returns
    -------
    int
        How many entries of ``c.changed`` it wrote.

    Cost: as `merge` or `link_blocks`.
    """
    return link_blocks(c, t, q, r) if isinstance(c, Blocks) else merge(c, t, q, r)


# What numba compiles in the place of the two, by type; it wants plain functions here.


@overload(joined, inline="always")
def _compiled_joined(homes, q, r):
    def by_blocks(homes, q, r):
        return share_block(homes, q, r)

    def by_components(homes, q, r):
        return homes[q] == homes[r]

    return by_blocks if getattr(homes, "instance_class", None) is Homes else by_components


@overload(link, inline="always")
def _compiled_link(c, t, q, r):
    def in_blocks(c, t, q, r):
        return link_blocks(c, t, q, r)

    def in_components(c, t, q, r):
        return merge(c, t, q, r)

    return in_blocks if c.instance_class is Blocks else in_components


@borrowing
def contribution(node_ptr, topic, entry, homes, weight, u, v):
    """Add up what the topics count for that two nodes share and in which a link between them would join something.

    Parameters
    ----------
    node_ptr, topic, entry
        As in `Components`.
    homes : Homes or int32
        As for `joined`.
    weight : int64, one per topic, or None
        None if all count 1.
    u, v : int
        Node numbers.

    Returns
    -------
    int64

    Cost: O(topics of both).
    """
    total = np.int64(0)
    for k, m in shared(node_ptr, topic, u, v):
        if not joined(homes, entry[k], entry[m]):
            total += weight_of(weight, topic[k])
    return total


@borrowing
def link_all(c, links):
    """Add links one after the other.

    Parameters
    ----------
    c : Components or Blocks
        Changed in place.
    links : (m, 2) integers
        Node numbers.

    Cost: O(topics of both ends) for each link, and that of `link`.
    """
    for x in range(len(links)):
        for k, m in shared(c.node_ptr, c.topic, links[x, 0], links[x, 1]):
            link(c, c.topic[k], c.entry[k], c.entry[m])
