"""An interest together with a network, as the kernels of this folder read them.

A *virtual topic* is a topic, or a topic while a failure unit is down: its subscribers outside the unit have to stay
connected without the nodes of the unit. A design that connects all virtual topics survives the loss of any unit. An
*entry* is a node of a virtual topic: a subscriber, or a relay that may carry it. A *row* is a relay and a topic. It is
paid once, and then serves all virtual topics of the topic.
"""

from typing import NamedTuple

import numpy as np

from topicloom.kernels.jit import borrowing, serial
from topicloom.kernels.sorted_rows import first_from

NONE = -1
_LOW = np.int64(0xFFFFFFFF)


class Expanded(NamedTuple):
    """The virtual topics of an interest, and the rules of a network. Nothing in it is ever changed."""

    node_ptr: np.ndarray  # int64 per node: its first slot
    topic: np.ndarray  # int32 per slot: virtual topic, ascending within a node
    entry: np.ndarray  # int32 per slot
    topic_ptr: np.ndarray  # int64 per virtual topic: its first entry
    member: np.ndarray  # int32 per entry: its node, ascending within a virtual topic
    topic_of: np.ndarray  # int32 per entry: virtual topic
    wants: np.ndarray  # bool per entry: a subscriber's
    row: np.ndarray  # int32 per entry: its row, or NONE for a subscriber's
    row_ptr: np.ndarray  # int64 per row: its first place in row_entry
    row_entry: np.ndarray  # int32: entries, row by row
    row_price: np.ndarray  # float64 per row
    row_node: np.ndarray  # int32 per row: the relay
    row_topic: np.ndarray  # int32 per row: the topic of the interest
    base: np.ndarray  # int32 per virtual topic: the topic of the interest
    unit: np.ndarray  # int32 per virtual topic: the unit that is down, or NONE
    weight: np.ndarray  # float64 per virtual topic
    site: np.ndarray  # int32 per node
    site_price: np.ndarray  # float64 (sites, sites)
    may_dial: np.ndarray  # bool (sites, sites)
    dials: np.ndarray  # bool per node
    accepts: np.ndarray  # bool per node
    pair_codes: np.ndarray  # int64 ascending
    pair_price: np.ndarray  # float64 per pair: what it costs after all, inf if it may not be
    cap: np.ndarray  # int64 per node, or NONE


def expand(interest, network):
    """Lay out the virtual topics of an interest under the rules of a network.

    Parameters
    ----------
    interest : Interest
    network : NetworkArrays

    Returns
    -------
    Expanded
        Standing links have the price at which they are kept. Topics of fewer than two subscribers are left out.

    Cost: O(entries log entries).
    """
    wanted = np.diff(interest.topic_indptr)
    topic = np.repeat(np.arange(interest.n_topics), wanted)
    node = interest.topic_nodes.astype(np.int64)
    relays = np.flatnonzero(network.relay)
    relayed, relay = (grid.ravel() for grid in np.meshgrid(np.arange(interest.n_topics), relays, indexing="ij"))
    free = ~np.isin(relayed * interest.n_nodes + relay, topic * interest.n_nodes + node)
    if network.allowed_sites is not None:
        free &= network.allowed_sites[relayed, network.site[relay]]
    wants = np.concatenate([np.ones(len(node), bool), np.zeros(int(free.sum()), bool)])
    topic, node = np.concatenate([topic, relayed[free]]), np.concatenate([node, relay[free]])
    needed = wanted[topic] > 1
    order = np.lexsort((node[needed], topic[needed]))
    topic, node, wants = (column[needed][order] for column in (topic, node, wants))
    row = np.where(wants, NONE, np.cumsum(~wants) - 1)
    row_node, row_topic = node[~wants].astype(np.int32), topic[~wants].astype(np.int32)

    base, unit = _virtual_topics(topic, node, wants, network.survive)
    bounds = np.searchsorted(topic, np.arange(interest.n_topics + 1))
    sizes = (bounds[1:] - bounds[:-1])[base]
    of = np.repeat(np.arange(len(base)), sizes)
    at = np.arange(len(of)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + bounds[base][of]
    if network.survive is not None:
        up = network.survive[node[at]] != unit[of]
        of, at = of[up], at[up]
    none = np.empty(0, np.int64)
    bare = Expanded(
        np.zeros(interest.n_nodes + 1, np.int64), none, none, none, none, none, none, none, none, none,
        network.row_price[row_node].astype(np.float64), row_node, row_topic, none, none, none,
        network.site.astype(np.int32), network.price.astype(np.float64), network.may_dial.astype(np.bool_),
        network.dials.astype(np.bool_), network.accepts.astype(np.bool_), *_pairs(network),
        network.cap.astype(np.int64),
    )  # fmt: skip
    return lay_out(bare, of, node[at], wants[at], row[at], base, unit, network.weight[base])


def lay_out(x, of, member, wants, row, base, unit, weight):
    """Give an expanded interest other virtual topics. Its network and rows stay.

    Parameters
    ----------
    x : Expanded
    of, member, wants, row : arrays, one per entry
        As `Expanded` has them; the entries by rising virtual topic and node.
    base, unit, weight : arrays, one per virtual topic

    Returns
    -------
    Expanded

    Cost: O(entries log entries).
    """
    by_node, by_row = np.lexsort((of, member)), np.argsort(row, kind="stable")
    by_row = by_row[row[by_row] >= 0]
    return x._replace(
        node_ptr=_starts(member, len(x.node_ptr) - 1), topic=of[by_node].astype(np.int32),
        entry=by_node.astype(np.int32), topic_ptr=_starts(of, len(base)), member=member.astype(np.int32),
        topic_of=of.astype(np.int32), wants=wants.astype(np.bool_), row=row.astype(np.int32),
        row_ptr=_starts(row[by_row], len(x.row_price)), row_entry=by_row.astype(np.int32),
        base=base.astype(np.int32), unit=unit.astype(np.int32), weight=weight.astype(np.float64),
    )  # fmt: skip


def carried(x, bought):
    """Keep the entries of subscribers and of bought rows, each of which is then to be connected.

    Parameters
    ----------
    x : Expanded
    bought : bool, one per row

    Returns
    -------
    Expanded
        Without rows.

    Cost: O(entries log entries).
    """
    keep = x.wants.copy()
    keep[~x.wants] = bought[x.row[~x.wants]]
    plain = x._replace(row_price=x.row_price[:0], row_node=x.row_node[:0], row_topic=x.row_topic[:0])
    count = int(keep.sum())
    wants, row = np.ones(count, np.bool_), np.full(count, NONE)
    return lay_out(plain, x.topic_of[keep], x.member[keep], wants, row, x.base, x.unit, x.weight)


def _virtual_topics(topic, node, wants, survive):
    """Which topics and units make a virtual topic, in order.

    Where the subscribers of a topic lie in three units or more, what survives the loss of each is whole before it, too.
    """
    if survive is None:
        base = np.unique(topic)
        return base, np.full(len(base), NONE)
    width = int(survive.max(initial=0)) + 1
    units = survive[node].astype(np.int64)
    met, subscribers = np.unique(topic[wants] * width + units[wants], return_counts=True)
    homes = np.bincount(met // width, minlength=int(topic.max(initial=-1)) + 1)
    whole = np.flatnonzero((homes == 1) | (homes == 2))
    lost = np.unique(topic * width + units)
    inside = np.zeros(len(lost), np.int64)
    inside[np.searchsorted(lost, met)] = subscribers
    total = np.bincount(topic[wants], minlength=len(homes))
    lost = lost[total[lost // width] - inside > 1]
    base = np.concatenate([whole, lost // width])
    unit = np.concatenate([np.full(len(whole), NONE), lost % width])
    order = np.lexsort((unit, base))
    return base[order], unit[order]


def _starts(numbers, count):
    """Row starts of a CSR whose rows hold these ascending numbers."""
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(numbers, minlength=count), out=starts[1:])
    return starts


def _pairs(network):
    """Codes and prices of the pairs that cost something else than their sites say."""
    own = {int(code): float(price) for code, price in zip(network.pair_codes, network.pair_price)}
    found = {}
    for code, price in own.items():
        found[code] = price if np.isfinite(dialled_price(network, code >> 32, code & 0xFFFFFFFF)) else np.inf
    for u, v in np.sort(network.standing, axis=1).tolist():
        code = u << 32 | v
        price = found.get(code, dialled_price(network, u, v))
        found[code] = price * (1.0 - network.keep)
    codes = np.array(sorted(found), np.int64)
    return codes, np.array([found[code] for code in codes.tolist()], np.float64)


def dialled_price(network, u, v):
    """Price of a link between two nodes by the rules of their sites and of the two alone.

    Parameters
    ----------
    network : NetworkArrays
    u, v : int
        Nodes, u != v.

    Returns
    -------
    float
        Of the cheaper direction that is allowed, or inf.

    Cost: O(1).
    """
    a, b = network.site[u], network.site[v]
    there = network.price[a, b] if network.may_dial[a, b] and network.dials[u] and network.accepts[v] else np.inf
    back = network.price[b, a] if network.may_dial[b, a] and network.dials[v] and network.accepts[u] else np.inf
    return min(there, back)


@borrowing
def price_of(x, u, v):
    """Price of a link between two nodes.

    Parameters
    ----------
    x : Expanded
    u, v : int
        Nodes, u != v.

    Returns
    -------
    float
        inf if it may not be.

    Cost: O(log pairs).
    """
    if len(x.pair_codes):
        code = np.int64(min(u, v)) << 32 | np.int64(max(u, v))
        at = first_from(x.pair_codes, 0, len(x.pair_codes), code)
        if at < len(x.pair_codes) and x.pair_codes[at] == code:
            return x.pair_price[at]
    a, b = x.site[u], x.site[v]
    price = np.inf
    if x.may_dial[a, b] and x.dials[u] and x.accepts[v]:
        price = x.site_price[a, b]
    if x.may_dial[b, a] and x.dials[v] and x.accepts[u]:
        price = min(price, x.site_price[b, a])
    return price


@serial
def prices_of(x, links):
    """Price of every link.

    Parameters
    ----------
    x : Expanded
    links : (m, 2) int32

    Returns
    -------
    float64, one per link

    Cost: O(links log pairs).
    """
    prices = np.empty(len(links))
    for k in range(len(links)):
        prices[k] = price_of(x, links[k, 0], links[k, 1])
    return prices


@borrowing
def entry_of(x, v, t):
    """Find the entry of a node in a virtual topic.

    Parameters
    ----------
    x : Expanded
    v, t : int

    Returns
    -------
    int
        NONE if it has none.

    Cost: O(log slots of the node).
    """
    end = x.node_ptr[v + 1]
    at = first_from(x.topic, x.node_ptr[v], end, t)
    if at < end and x.topic[at] == t:
        return x.entry[at]
    return NONE
