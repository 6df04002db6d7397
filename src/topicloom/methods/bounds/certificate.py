"""A certificate as text: links that connect every topic, and the proof that no overlay has fewer.

`topicloom.judge.certificate_checker` describes the format, and reads it with no code of ours.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from itertools import groupby

import numpy as np
import numpy.typing as npt

from topicloom.errors import InvalidInterestError, InvalidLinksError
from topicloom.methods.bounds.lower_bound import LowerBound
from topicloom.model import Interest, Overlay
from topicloom.model.arrays import Int64Array

_KINDS = {"pair prices": "pairs", "potentials": "potentials", "components": "none"}


def certificate_lines(overlay: Overlay, bound: LowerBound) -> Iterator[str]:
    """Write down what an overlay and a bound prove together, for a checker that needs nothing but Python.

    Parameters
    ----------
    overlay : Overlay
        Connects every topic; its interest has labels.
    bound : LowerBound
        Of the same interest, without standing links.

    Yields
    ------
    str
        Lines without their ends, ASCII. Nodes and topics are numbers in the order of their names.

    Raises
    ------
    InvalidInterestError
        The interest has no labels, or the bound is for another one or has standing links.
    InvalidLinksError
        A link joins a node that wants nothing.

    See Also
    --------
    topicloom.judge.certificate_checker : reads it: ``python certificate_checker.py CERTIFICATE SUBSCRIPTIONS.csv``.

    Notes
    -----
    O(size of the certificate): up to one number for every topic and pair of its subscribers.

    Examples
    --------
    >>> import topicloom as tl
    >>> overlay = tl.design(tl.datasets.example())
    >>> lines = list(certificate_lines(overlay, tl.lower_bound(overlay.interest)))
    >>> lines[0], lines[2:4], lines[-1]
    ('topicloom certificate 1', ['bound 7', 'links 7'], 'end')
    """
    interest = overlay.interest
    if interest.node_labels is None or interest.topic_labels is None:
        raise InvalidInterestError("a certificate names nodes and topics; this interest has no labels")
    if len(bound.standing) or not bound.check(interest):
        raise InvalidInterestError("the bound is for another interest, or counts on links that stand")
    node, topic = _ranks(np.diff(interest.indptr)), _ranks(np.diff(interest.topic_indptr))
    links = np.sort(node[overlay.links], axis=1)
    if links.min(initial=0) < 0:
        raise InvalidLinksError("a link joins a node that wants nothing; a certificate has no number for it")
    counts = f"{node.max(initial=-1) + 1} {topic.max(initial=-1) + 1} {interest.n_subscriptions}"
    yield "topicloom certificate 1"
    yield f"interest {counts} {_fingerprint(interest)}"
    yield f"bound {bound.links}"
    yield f"links {len(links)}"
    for u, v in links[np.lexsort((links[:, 1], links[:, 0]))].tolist():
        yield f"{u} {v}"
    yield f"prices {_KINDS[bound.kind]}"
    yield from _price_lines(interest, bound)
    yield "end"


def _price_lines(interest: Interest, bound: LowerBound) -> Iterator[str]:
    """Write a line for every topic with subscribers, or for every node with topics. Those without have no line."""
    prices = np.asarray(bound.certificate)
    sizes = np.diff(interest.topic_indptr).astype(np.int64)
    if bound.kind == "pair prices":
        lengths, written = sizes * (sizes - 1) // 2, sizes > 0
    elif bound.kind == "potentials":
        lengths = np.diff(interest.indptr).astype(np.int64)
        written = lengths > 0
    else:
        return
    ends = np.cumsum(lengths)
    for end, length in zip(ends[written].tolist(), lengths[written].tolist()):
        yield " ".join(_words(prices[end - length : end].tolist()))


def _words(prices: Iterable[int]) -> Iterator[str]:
    """Write numbers, and several zeros in a row as ``0*n``."""
    for is_zero, run in groupby(prices, key=lambda price: price == 0):
        values = list(run)
        if is_zero and len(values) > 1:
            yield f"0*{len(values)}"
        else:
            yield from map(str, values)


def _ranks(counts: npt.NDArray[np.integer]) -> Int64Array:
    """Number those that have any, in order; the others are -1."""
    has = counts > 0
    ranks: Int64Array = np.where(has, np.cumsum(has) - 1, -1)
    return ranks


def _fingerprint(interest: Interest) -> str:
    digest = hashlib.sha256()
    nodes, topics = np.asarray(interest.node_labels), np.asarray(interest.topic_labels)
    for node, topic in zip(nodes[interest.nodes].tolist(), topics[interest.topics].tolist()):
        digest.update((json.dumps([str(node), str(topic)], separators=(",", ":")) + "\n").encode("ascii"))
    return digest.hexdigest()
