"""The search for prices: in floating point, of no authority. The judge decides what the result proves."""

import numpy as np
import numpy.typing as npt

from topicloom.judge.prices import HIGHEST_POTENTIAL, SCALE
from topicloom.kernels.greedy.components import components_of_links
from topicloom.kernels.greedy.engine import NO_LINKS
from topicloom.kernels.prices.link_prices import (
    pair_prices,
    pair_trees,
    potential_gradient,
    potential_trees,
    raise_prices,
)
from topicloom.model import Interest
from topicloom.model.arrays import Int32Array, Int64Array
from topicloom.model.interest import both_ways

Floats = npt.NDArray[np.float64]

_STEPS, _PAIR_STEPS = 50, 1_500
_MOST_WORK = 4e10  # products in one evaluation of all trees, at effort 1
_ALL_WORK = 1.2e11  # products in all evaluations, at effort 1
_PAIR_WORK = 3e9  # prices looked at in all evaluations, at effort 1
_MOST_PAIRS = 2e8
_MOST_SUMS = 1e8  # for two nodes each, in eight bytes
_RATE, _LAST_RATE = 0.2, 0.02
_PAIR_RATE, _LAST_PAIR_RATE = 0.3, 0.001
_NEXT_TO_NOTHING = np.float32(1e-9)  # rounds to nothing, and can be divided by
_CAUTION = 1 - 3e-5  # rounding of float32 must not lift the prices of a pair above 1


def found_potentials(interest: Interest, effort: float, standing: Int32Array = NO_LINKS) -> tuple[Floats, Int64Array]:
    """Potentials per subscription, as found and as whole numbers from 0 to `HIGHEST_POTENTIAL`.

    Gradient ascent (Adam) on their logarithms, from subscribers^(-1/4), which makes prices fall with the square root.
    Topics that standing links connect leave it to the others to pay; otherwise the search does not know these links.
    """
    size = np.diff(interest.topic_indptr)
    paying, work = _paying(interest, _MOST_WORK * effort, standing)
    pays = np.zeros(interest.n_topics, bool)
    pays[paying] = True
    logs = -np.log(np.maximum(size, 1))[interest.topics] / 4
    steps = max(1, int(min(_STEPS * effort, _ALL_WORK * effort / max(work, 1))))
    best, highest = logs, -1.0
    parent, slope = np.empty(len(logs), np.int32), np.empty(len(logs))
    mean, square = np.zeros(len(logs)), np.zeros(len(logs))
    arrays = both_ways(interest)
    summed = interest.n_nodes if interest.n_nodes**2 <= min(_MOST_SUMS, work) else 0
    sums = np.empty((summed, summed))
    for step in range(steps):
        potential = np.where(pays[interest.topics], np.exp(logs), 0.0)
        value = potential_trees(*arrays, paying, potential, sums, parent)
        if value > highest:
            best, highest = logs, value
        potential_gradient(*arrays, potential, parent, slope)
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope * slope
        scaled = (mean / (1 - 0.9 ** (step + 1))) / (np.sqrt(square / (1 - 0.99 ** (step + 1))) + 1e-9)
        logs = logs + _RATE * (_LAST_RATE / _RATE) ** (step / steps) * scaled
    potential = np.where(pays[interest.topics], np.exp(best), 0.0)
    return potential, _rounded(interest, potential)


def _paying(interest: Interest, most_work: float, standing: Int32Array) -> tuple[Int64Array, float]:
    """Choose the topics that pay, rarest first, up to a limit of work. Returns them, and the work of an evaluation."""
    size = np.diff(interest.topic_indptr).astype(np.float64)
    wanted = np.diff(interest.indptr).astype(np.float64)[interest.topic_nodes]
    sums = np.concatenate([np.zeros(1), np.cumsum(wanted)])
    work = size * (sums[interest.topic_indptr[1:]] - sums[interest.topic_indptr[:-1]]) / 2
    rarest = np.argsort(size, kind="stable")
    heads = np.unique(components_of_links(interest.indptr, interest.topics, standing))
    rarest = rarest[np.bincount(interest.topics[heads], minlength=interest.n_topics)[rarest] > 1]
    upto = np.cumsum(work[rarest])
    fitting = rarest[upto <= most_work]
    return fitting.astype(np.int64), float(upto[len(fitting) - 1]) if len(fitting) else 0.0


def _rounded(interest: Interest, potential: Floats) -> Int64Array:
    """Scale the potentials of each node to whole numbers: a factor common to a node changes no price."""
    node = np.repeat(np.arange(interest.n_nodes), np.diff(interest.indptr))
    highest = np.zeros(interest.n_nodes)
    np.maximum.at(highest, node, potential)
    return np.rint(HIGHEST_POTENTIAL * potential / np.maximum(highest, 1e-300)[node]).astype(np.int64)


def pairs_fit(interest: Interest) -> bool:
    """Whether prices of pairs take little enough memory."""
    size = np.diff(interest.topic_indptr).astype(np.float64)
    return float((size * size).sum()) / 2 <= _MOST_PAIRS


def found_pair_prices(
    interest: Interest, potential: Floats, effort: float, standing: Int32Array = NO_LINKS
) -> npt.NDArray[np.int32]:
    """Prices of every topic and pair, as whole numbers, from those of the potentials by multiplicative weights.

    Pairs that standing links connect within a topic pay nothing there.
    """
    size = np.diff(interest.topic_indptr).astype(np.int64)
    pair_ptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(size * (size - 1) // 2)])
    arrays = (interest.indptr, interest.topics)
    topics = (interest.topic_indptr, interest.topic_nodes)
    prices = pair_prices(*arrays, *topics, pair_ptr, potential)
    connected = _connected_pairs(interest, standing)
    prices[connected] = _NEXT_TO_NOTHING
    parent, place = np.empty(len(interest.topics), np.int32), _places(interest)
    best, highest = prices.copy(), -1.0
    steps = max(1, int(min(_PAIR_STEPS, _PAIR_WORK / max(pair_ptr[-1], 1)) * effort))
    for step in range(steps):
        value = pair_trees(interest.topic_indptr, pair_ptr, prices, parent)
        if value > highest:
            highest = value
            best[:] = prices
        rate = _PAIR_RATE * (_LAST_PAIR_RATE / _PAIR_RATE) ** (step / steps)
        raise_prices(*arrays, place, *topics, pair_ptr, prices, parent, np.float32(np.exp(rate)))
        prices[connected] = _NEXT_TO_NOTHING
    rounded: npt.NDArray[np.int32] = np.floor(best.astype(np.float64) * (SCALE * _CAUTION)).astype(np.int32)
    return rounded


def _connected_pairs(interest: Interest, standing: Int32Array) -> Int64Array:
    """Numbers of the pairs, among those of all topics, that standing links connect within their topic."""
    if not len(standing):
        return np.empty(0, np.int64)
    component = components_of_links(interest.indptr, interest.topics, standing)
    component = component[np.argsort(interest.topics, kind="stable")]
    found, start = [np.empty(0, np.int64)], 0
    for t in range(interest.n_topics):
        of_members = component[interest.topic_indptr[t] : interest.topic_indptr[t + 1]]
        first, second = np.triu_indices(len(of_members), 1)
        found.append(start + np.flatnonzero(of_members[first] == of_members[second]))
        start += len(first)
    return np.concatenate(found)


def _places(interest: Interest) -> Int64Array:
    """Place of every subscription (by node) among the subscribers of its topic."""
    order = np.argsort(interest.topics, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order)) - interest.topic_indptr[interest.topics[order]]
    return place
