"""Synthetic interests in memory."""

import numpy as np

from topicloom.datasets.tables import node_names, tables_of, topic_names
from topicloom.datasets.workload import SIZE_EXPONENT, Workload
from topicloom.model import Interest
from topicloom.model.arrays import frozen
from topicloom.model.labels import from_arrow


def generate(
    nodes: int = 1000,
    topics: int = 100,
    subscriptions: int = 20,
    popularity: str = "uniform",
    *,
    sizes: str = "fixed",
    min_size: int | None = None,
    max_size: int | None = None,
    alpha: float = 2.0,
    rate: float | None = None,
    size_exponent: float = SIZE_EXPONENT,
    size_shift: int = 0,
    seed: int = 0,
) -> Interest:
    """Draw a synthetic interest, as the papers' experiments do.

    The same options and seed give the same subscriptions on every machine, in memory and by
    `topicloom.pipeline.generate_subscriptions`. What a node wants depends on its id, the seed and the
    options other than ``nodes``, so a larger workload contains the smaller one.

    Parameters
    ----------
    nodes, topics : int
        How many of each. Topic 0 is the most popular.
    subscriptions : int
        Topics per node: exactly (``sizes="fixed"``) or in the mean (``sizes="mean"``); not used by
        ``"power-law"``.
    popularity : {"uniform", "zipf", "exponential"}
        p(t) is the same for all t, or proportional to 1 / (t + 1)^alpha, or to exp(-rate · t / topics).
    sizes : {"fixed", "mean", "power-law"}
        "fixed": each node draws topics by p(t) until it has ``subscriptions`` distinct ones. "mean": each
        node takes each topic independently with probability min(1, c p(t)), c such that these sum to
        ``subscriptions``; a node may end up with no topic. "power-law": a node's size is k with probability
        proportional to 1 / (k - size_shift)^size_exponent, min_size <= k <= max_size, its topics drawn as for
        "fixed".
    min_size, max_size : int, optional
        For "power-law": 10 and 90 as in the shadows paper, or the number of topics where that is less.
    alpha : float
        Exponent of Zipf popularity: 0.5 and 2.0 in the papers.
    rate : float, optional
        Of exponential popularity, from 0 up. By default 7.9809, which solves
        (1 - exp(-rate/10)) / (1 - exp(-rate)) = 0.55: the 10 % most popular topics have 55 % of the mass, as the
        papers say. 18 puts 83 % there, which some of their figures show.
    size_exponent : float
        Exponent of power-law sizes. The shadows paper names none; at 2 the sizes 10 … 90 have a mean of 24.
    size_shift : int
        Below min_size. 0: the power law is one of the size itself. 9 with sizes 10 … 90: a size is 9 + x with
        probability proportional to x^-2, a mean of 12, the law that explains most of the shadows paper's figures.
    seed : int
        From 0 to 2^63 - 1.

    Returns
    -------
    Interest
        With labels ``n…`` and ``t…``, zero-padded so that label order is id order. Topics that no node drew
        are in it, with no subscriber.

    Raises
    ------
    InvalidOptionError
        An option is out of range, or contradicts another.

    See Also
    --------
    datasets.example : six brokers with readable names.
    read_subscriptions : an interest of your own.

    Notes
    -----
    Takes O(subscriptions · log topics) time for "fixed" and "power-law", O(nodes · topics) for "mean", and
    O(subscriptions) memory. Shares p(t) are integers in units of 2^-62, at least one: topics rarer than that
    are as likely as each other.

    References
    ----------
    Chockler, Melamed, Tock, Vitenberg, the Min-TCO paper, §8; the star-merge paper, §VIII; the kTCO paper,
    §VIII; the shadows paper, §VI.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.generate(nodes=5, topics=12, subscriptions=3, popularity="zipf", alpha=0.5, seed=1)
    >>> interest
    Interest(5 nodes, 12 topics, 15 subscriptions)
    >>> interest.node_labels.tolist(), str(interest.topic_labels[11])
    (['n0', 'n1', 'n2', 'n3', 'n4'], 't11')
    """
    return drawn(
        Workload(
            nodes,
            topics,
            subscriptions,
            popularity,
            sizes=sizes,
            min_size=min_size,
            max_size=max_size,
            alpha=alpha,
            rate=rate,
            size_exponent=size_exponent,
            size_shift=size_shift,
            seed=seed,
        )
    )


def drawn(workload: Workload) -> Interest:
    """Draw the whole of a workload."""
    indptr, topics = tables_of(workload).draw_topics(0, workload.nodes)
    return Interest(
        frozen(indptr),
        frozen(topics),
        workload.topics,
        from_arrow(node_names(np.arange(workload.nodes), workload.nodes)),
        from_arrow(topic_names(np.arange(workload.topics), workload.topics)),
    )
