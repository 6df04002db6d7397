"""A network without rules, to begin with where only some matter."""

from typing import Any

import numpy as np

from topicloom.model.network_arrays import NetworkArrays


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
    }
    given = {
        name: np.asarray(rule, plain[name].dtype) if isinstance(plain.get(name), np.ndarray) else rule
        for name, rule in rules.items()
    }
    return NetworkArrays(**{**plain, **given})
