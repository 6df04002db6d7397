"""What a greedy rule makes progress in: the components of every topic, or its blocks.

The searches and the loop of the greedy engine call `joined` and `link`, and numba compiles them for the kind of
state that they are given: `Components` (Greedy Merge, MinMax-ODA, Low-ODA) or `Blocks` (GM2). Both have the fields that
a search reads; equal ``label`` numbers mean joined in both, and for components they are the only way to be.
"""

from numba.extending import overload

from topicloom.kernels.blocks import Blocks, link_blocks, share_block
from topicloom.kernels.components import merge
from topicloom.kernels.jit import serial


def joined(c, q, r):
    """Whether two entries of a topic lie in one component, or in one block: a link between them gains nothing there."""
    return share_block(c, q, r) if isinstance(c, Blocks) else c.label[q] == c.label[r]


def link(c, t, q, r):
    """Add a link between two entries of topic t. Returns how many entries of ``c.changed`` it wrote."""
    return link_blocks(c, t, q, r) if isinstance(c, Blocks) else merge(c, t, q, r)


# numba wants plain functions here, so what is compiled already is wrapped once more.
@overload(joined)
def _compiled_joined(c, q, r):
    def blocks(c, q, r):
        return share_block(c, q, r)

    def components(c, q, r):
        return c.label[q] == c.label[r]

    return blocks if c.instance_class is Blocks else components


@overload(link)
def _compiled_link(c, t, q, r):
    def blocks(c, t, q, r):
        return link_blocks(c, t, q, r)

    def components(c, t, q, r):
        return merge(c, t, q, r)

    return blocks if c.instance_class is Blocks else components


@serial
def link_nodes(c, u, v):
    """Add a link between two nodes in every topic that both want."""
    k, k_end = c.node_ptr[u], c.node_ptr[u + 1]
    m, m_end = c.node_ptr[v], c.node_ptr[v + 1]
    while k < k_end and m < m_end:
        if c.topic[k] < c.topic[m]:
            k += 1
        elif c.topic[k] > c.topic[m]:
            m += 1
        else:
            link(c, c.topic[k], c.entry[k], c.entry[m])
            k += 1
            m += 1


@serial
def link_all(c, links):
    """Add links, given as pairs of nodes, one after the other."""
    for k in range(len(links)):
        link_nodes(c, links[k, 0], links[k, 1])


@serial
def contribution(c, u, v):
    """Topics that u and v both want in which a link between them would join something."""
    if c.node_ptr[u + 1] - c.node_ptr[u] > c.node_ptr[v + 1] - c.node_ptr[v]:
        u, v = v, u
    k, k_end = c.node_ptr[u], c.node_ptr[u + 1]
    m, m_end = c.node_ptr[v], c.node_ptr[v + 1]
    count = 0
    while k < k_end and m < m_end:
        if c.topic[k] < c.topic[m]:
            k += 1
        elif c.topic[k] > c.topic[m]:
            m += 1
        else:
            if not joined(c, c.entry[k], c.entry[m]):
                count += 1
            k += 1
            m += 1
    return count
