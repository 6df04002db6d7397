"""Rows of ascending numbers side by side, as the topics of each node are, and what two rows have in common.

`shared` and `meeting` are generators. Numba compiles them into the loop that reads them, which is as fast as the merge
loop written out.
"""

from topicloom.kernels.jit import borrowing, yielding


@yielding
def shared(indptr, topics, u, v):
    """Yield where each topic that two nodes share stands in the row of either, by rising topic.

    Parameters
    ----------
    indptr, topics
        The interest, CSR by node: row starts, and topics that ascend in each row.
    u, v : int
        Nodes.

    Yields
    ------
    k, m : int
        Positions in ``topics``, in the row of ``u`` and in that of ``v``.

    Cost: O(topics of both), no memory.
    """
    k, k_end = indptr[u], indptr[u + 1]
    m, m_end = indptr[v], indptr[v + 1]
    while k < k_end and m < m_end:
        t, other = topics[k], topics[m]
        if t == other:
            yield k, m
        k += t <= other  # which of the two moves on cannot be foreseen: added up, it costs no branch
        m += other <= t


@yielding
def meeting(a, b):
    """Yield where two ascending arrays hold the same number.

    Parameters
    ----------
    a, b : integers
        Each ascending, without repeats.

    Yields
    ------
    x, y : int
        Positions in ``a`` and in ``b``, by rising number.

    Cost: O(length of both), no memory.
    """
    x, y = 0, 0
    while x < len(a) and y < len(b):
        one, other = a[x], b[y]
        if one == other:
            yield x, y
        x += one <= other
        y += other <= one


@borrowing
def first_from(values, low, high, least):
    """Find the first of some ascending numbers that is not below a bound.

    Parameters
    ----------
    values : integers
        Ascending from position ``low`` to before ``high``.
    low, high : int
    least : int

    Returns
    -------
    int
        Its position, or ``high`` where all are below.

    Cost: O(log numbers).
    """
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < least:
            low = middle + 1
        else:
            high = middle
    return low


@borrowing
def longest_row(indptr):
    """Find the length of the longest row.

    Parameters
    ----------
    indptr : int64
        Row starts of a CSR, and its end.

    Returns
    -------
    int
        0 if there are no rows.

    Cost: O(rows).
    """
    longest = 0
    for row in range(len(indptr) - 1):
        longest = max(longest, indptr[row + 1] - indptr[row])
    return longest
