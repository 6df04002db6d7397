"""The fingerprint of an interest: the same from every engine, whatever the order of its rows."""

import numpy as np
import numpy.typing as npt
import xxhash

from topicloom.model.interest import Interest

_SEED = 42  # of Spark's xxhash64


def fingerprint(interest: Interest) -> str:
    """Fold the hashes of all subscriptions, regardless of their order, as `topicloom.pipeline` does on Spark.

    A subscription's hash is Spark's ``xxhash64(node, topic)``: that of the topic's text, seeded by that of the node's.

    >>> fingerprint(Interest.from_pairs(["a", "b"], ["x", "x"])).split("-")[0]
    '2'
    """
    nodes = [_hash(interest.node_label(node).encode(), _SEED) for node in range(interest.n_nodes)]
    topics = [interest.topic_label(topic).encode() for topic in range(interest.n_topics)]
    pairs = zip(interest.nodes.tolist(), interest.topics.tolist())
    hashes = np.fromiter((_hash(topics[t], nodes[v]) for v, t in pairs), np.uint64, interest.n_subscriptions)
    return folded(hashes)


def folded(hashes: npt.NDArray[np.uint64]) -> str:
    """Number, exclusive or and sum of hashes."""
    summed = (int((hashes >> np.uint64(32)).sum()) << 32) + int((hashes & np.uint64(0xFFFFFFFF)).sum())
    return f"{len(hashes)}-{int(np.bitwise_xor.reduce(hashes)):016x}-{summed % 2**64:016x}"


_hash = xxhash.xxh64_intdigest
