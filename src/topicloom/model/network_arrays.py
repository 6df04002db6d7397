"""NetworkArrays: the rules of a network as arrays, by the ids of one interest."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from topicloom.model.arrays import Int32Array, Int64Array

Float64Array = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class NetworkArrays:
    """What a `Network` says of the nodes and topics of an interest, as an engine takes it.

    Attributes
    ----------
    site : int32 per node
    price : float64 (sites, sites), symmetric
        Of a link between two sites, or inside one.
    may_dial : bool (sites, sites)
        Whether nodes of the first site may dial nodes of the second.
    dials, accepts : bool per node
        A link is admissible if one end may dial the other: it dials, the other accepts, and their sites allow it.
    pair_codes : int64, ascending
        Pairs of nodes with a price of their own, u << 32 | v with u < v.
    pair_price : float64 per pair
        Infinite: the pair may not be linked. A pair that nobody may dial is never here with a finite price.
    required : (m, 2) int32
        Links that have to be there.
    standing : (m, 2) int32
        Links that are there now; each costs ``(1 - keep)`` of its price.
    keep : float in [0, 1)
    cap : int64 per node
        The most links that it may have; -1: no limit.
    relay : bool per node
        Whether it may carry topics that it does not want.
    row_price : float64 per node
        What it costs when it carries a topic that it does not want.
    weight : float64 per topic
        Its rate, above 0.
    allowed_sites : bool (topics, sites) or None
        Sites of which nodes may carry the topic.
    survive : int32 per node or None
        Failure unit of each node: every topic has to stay connected when the nodes of any one unit are down.
    """

    site: Int32Array
    price: Float64Array
    may_dial: BoolArray
    dials: BoolArray
    accepts: BoolArray
    pair_codes: Int64Array
    pair_price: Float64Array
    required: Int32Array
    standing: Int32Array
    keep: float
    cap: Int64Array
    relay: BoolArray
    row_price: Float64Array
    weight: Float64Array
    allowed_sites: BoolArray | None = None
    survive: Int32Array | None = None
