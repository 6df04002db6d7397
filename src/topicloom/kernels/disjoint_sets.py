"""Disjoint sets of numbers that only grow together: union-find with path halving."""

from topicloom.kernels.jit import borrowing


@borrowing
def root(parent, e):
    """Find the number that stands for the set of e.

    Parameters
    ----------
    parent : int32, one per number
        A number that is its own parent is a root. Paths to the root are halved in place.
    e : int

    Returns
    -------
    int
        The root.

    Cost: O(log numbers) on average over the calls.
    """
    while parent[e] != e:
        parent[e] = parent[parent[e]]
        e = parent[e]
    return e


@borrowing
def join(parent, a, b):
    """Make one set of two.

    Parameters
    ----------
    parent : int32, one per number
        As for `root`. The smaller of the two roots becomes the root of both sets.
    a, b : int
        Numbers of the sets.

    Returns
    -------
    bool
        Whether they were in different sets.

    Cost: O(log numbers) on average over the calls.
    """
    a, b = root(parent, a), root(parent, b)
    parent[max(a, b)] = min(a, b)
    return a != b
