"""Random regular: a gossip mesh that knows nothing of topics. A reference to compare with."""

import numpy as np

from topicloom.kernels.draw.mesh import random_mesh
from topicloom.methods.references.beside import sharing_nodes
from topicloom.methods.registry import method
from topicloom.model import Interest, Overlay
from topicloom.model.checks import checked_seed, checked_whole


@method(
    "random-regular",
    problem="reference: every node linked to d others at random, as gossip meshes do",
    guarantee="connected, every node of degree d (one of d - 1 if nodes · d is odd); not topic-connected",
    cost="O(nodes · d) time and memory",
    paper="no paper: what gossip meshes do, such as libp2p's with one topic",
    memory=lambda size, options: 512 * size.nodes,
    max_k=0,
    reference=True,
)
def random_regular(interest: Interest, *, d: int = 4, seed: int = 0) -> Overlay:
    """Overlay in which every node has d links, to nodes chosen at random.

    A union of d // 2 random cycles through all nodes, plus a random matching if d is odd, so it is connected. Topics
    play no part, save that nodes that share none with anyone stay unlinked. With at most d other nodes all are linked.
    Takes O(nodes · d) time and memory.

    Parameters
    ----------
    interest : Interest
    d : int
        Links of every node, at least 2.
    seed : int

    Returns
    -------
    Overlay

    See Also
    --------
    full_mesh, hub, spanning_tree : other overlays to compare with.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.Interest.from_pairs(range(10), ["news"] * 10)
    >>> tl.random_regular(interest, d=3).degree().tolist()
    [3, 3, 3, 3, 3, 3, 3, 3, 3, 3]
    >>> factory = tl.datasets.example()
    >>> tl.random_regular(factory, d=2).n_links
    6
    """
    d, seed = checked_whole("d", d, 2), checked_seed(seed)
    nodes = sharing_nodes(interest)
    if len(nodes) <= d + 1:
        places = np.column_stack(np.triu_indices(len(nodes), 1))
    else:
        places = random_mesh(len(nodes), d, seed)
    return Overlay(interest, nodes[places], "random-regular", {"d": d}, seed)
