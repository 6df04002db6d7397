"""What the methods on the greedy engine share: calling it for a whole interest, and what that takes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from topicloom.errors import InvalidLinksError
from topicloom.kernels.greedy.dense import DENSE_BYTES, MANY_COLUMNS
from topicloom.kernels.greedy.engine import NO_LINKS, greedy_links
from topicloom.methods.registry import Size
from topicloom.model import ForbiddenLinks, Interest, Overlay
from topicloom.model.arrays import Int32Array, normalized_links
from topicloom.model.checks import checked_seed


def forbidden_pairs(interest: Interest, forbid: Any) -> Int32Array:
    """Pairs as node ids, (m, 2) int32.

    Parameters
    ----------
    forbid : ForbiddenLinks, (m, 2) array of node ids, or iterable of pairs of labels

    Raises
    ------
    InvalidLinksError
        A pair is not one of two nodes of the interest.

    Examples
    --------
    >>> import topicloom as tl
    >>> forbidden_pairs(tl.Interest.from_pairs(list("abc"), list("xxx")), [("c", "a")]).tolist()
    [[0, 2]]
    """
    if isinstance(forbid, ForbiddenLinks):
        return forbid.among(interest)
    given: npt.NDArray[Any] = np.asarray(forbid if isinstance(forbid, np.ndarray) else list(forbid))
    if given.dtype.kind in "iu" or given.size == 0:
        return normalized_links(given, interest.n_nodes)
    number = {interest.node_label(v): v for v in range(interest.n_nodes)}
    try:
        pairs = [(number[str(u)], number[str(v)]) for u, v in given.tolist()]
    except KeyError as error:
        raise InvalidLinksError(f"forbidden pairs name {error}, which is not a node of the interest") from None
    except (TypeError, ValueError):
        raise InvalidLinksError("forbidden pairs are pairs of node labels, or an (m, 2) array of node ids") from None
    return normalized_links(np.array(pairs), interest.n_nodes)


def kept_off(interest: Interest, forbid: Any) -> tuple[Int32Array, ForbiddenLinks]:
    """The forbidden pairs as node ids, and what the overlay keeps of them."""
    if forbid is None:
        return NO_LINKS, ForbiddenLinks()
    barred = forbidden_pairs(interest, forbid)
    if isinstance(forbid, ForbiddenLinks):
        return barred, forbid
    names = [interest.node_label(v) for v in range(interest.n_nodes)]
    return barred, ForbiddenLinks((names[u], names[v]) for u, v in barred.tolist())


def run_greedy(
    interest: Interest,
    method: str,
    *,
    rho: float,
    blocks: bool = False,
    weights: npt.ArrayLike | None = None,
    forbid: Any = None,
    options: dict[str, Any],
    seed: int,
) -> Overlay:
    """Overlay that the greedy engine grows from nothing, until components (or blocks) are one per topic.

    Pairs of ``forbid`` are never linked; a topic that needs one of them stays in several components.
    """
    barred, forbidden = kept_off(interest, forbid)
    links = greedy_links(
        interest.indptr,
        interest.topics,
        interest.n_topics,
        rho=rho,
        blocks=blocks,
        weights=weights,
        barred_links=barred,
        seed=checked_seed(seed),
    )
    report = {} if forbid is None else {"forbidden_pairs": len(barred)}
    return Overlay(interest, links, method, options, seed, report, forbidden)


def greedy_memory(size: Size, options: Mapping[str, Any] | None = None) -> int:
    """Bytes of the greedy engine: a byte or two per node pair on the dense path, O(subscriptions) on the sparse one.

    An upper estimate, at most twice the measured peak on large interests; no option matters.
    """
    tables = [size.nodes**2 // 2 + size.nodes * size.topics]
    if size.topics > 8 * MANY_COLUMNS:  # rare topics may be counted apart
        tables.append(size.nodes**2 + size.nodes * size.topics)
    table = max((one for one in tables if one <= DENSE_BYTES), default=0)
    return table + 96 * size.subscriptions + 160 * size.nodes + 64 * size.topics
