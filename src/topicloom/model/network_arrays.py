"""NetworkArrays: the rules of a network as arrays over the node and topic ids of one interest."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from topicloom.model.arrays import Int32Array, Int64Array

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


class NetworkArrays(NamedTuple):
    """What a network says of the nodes and topics of an interest, by id.

    Attributes
    ----------
    site : int32, one per node
    price : float64 (sites, sites)
        Price of a link that a node of the first site dials to one of the second.
    may_dial : bool (sites, sites)
        Whether nodes of the first site may dial nodes of the second.
    dials, accepts : bool, one per node
        A link needs one end that dials and one that accepts, in a direction that the sites allow.
    pair_codes : int64, ascending
        ``u << 32 | v`` with u < v, of pairs with a price of their own.
    pair_price : float64, one per pair
        In place of the price of the sites; inf forbids the pair. The rules of dialling hold as before.
    required : (m, 2) int32
        Links that every design has.
    standing : (m, 2) int32
        Links that are there today: each costs its price times ``1 - keep``.
    keep : float
        From 0 to below 1.
    cap : int64, one per node
        The most links of the node, -1 for no limit.
    relay : bool, one per node
        Whether it may carry topics that it does not want.
    row_price : float64, one per node
        Price of each topic that it relays.
    weight : float64, one per topic
        Messages per second, or any other weight above 0.
    allowed_sites : None or bool (topics, sites)
        Sites that may carry the topic.
    survive : None or int32, one per node
        The failure unit of each node: every topic stays connected while all nodes of any one unit are down.
    """

    site: Int32Array
    price: FloatArray
    may_dial: BoolArray
    dials: BoolArray
    accepts: BoolArray
    pair_codes: Int64Array
    pair_price: FloatArray
    required: Int32Array
    standing: Int32Array
    keep: float
    cap: Int64Array
    relay: BoolArray
    row_price: FloatArray
    weight: FloatArray
    allowed_sites: BoolArray | None
    survive: Int32Array | None


def open_network(n_nodes: int, n_topics: int, **rules: Any) -> NetworkArrays:
    """Make a network of one site where every link costs 1 and is allowed, but for the given rules.

    Parameters
    ----------
    n_nodes, n_topics : int
        Of the interest.
    **rules
        Fields of `NetworkArrays` that differ. With ``site``, the prices and dialling rules of the sites are as large.

    Returns
    -------
    NetworkArrays

    Examples
    --------
    >>> open_network(3, 1, site=[0, 0, 1]).price.shape
    (2, 2)
    """
    site = np.asarray(rules.get("site", np.zeros(n_nodes)), np.int32)
    sites = int(site.max(initial=0)) + 1
    no_links = np.empty((0, 2), np.int32)
    plain: dict[str, Any] = {
        "site": site,
        "price": np.ones((sites, sites)),
        "may_dial": np.ones((sites, sites), bool),
        "dials": np.ones(n_nodes, bool),
        "accepts": np.ones(n_nodes, bool),
        "pair_codes": np.empty(0, np.int64),
        "pair_price": np.empty(0),
        "required": no_links,
        "standing": no_links,
        "keep": 0.0,
        "cap": np.full(n_nodes, -1, np.int64),
        "relay": np.zeros(n_nodes, bool),
        "row_price": np.zeros(n_nodes),
        "weight": np.ones(n_topics),
        "allowed_sites": None,
        "survive": None,
    }
    unlike = {name: np.asarray(given, plain[name].dtype) for name, given in rules.items() if hasattr(plain[name], "dtype")}
    return NetworkArrays(**{**plain, **rules, **unlike})
