"""Pairs of nodes that may not be linked, given by label or by id."""

from typing import Any

import numpy as np
import numpy.typing as npt

from topicloom.errors import InvalidLinksError
from topicloom.model.arrays import Int32Array, normalized_links
from topicloom.model.interest import Interest


def forbidden_pairs(interest: Interest, forbid: Any) -> Int32Array:
    """Pairs as node ids, (m, 2) int32.

    Parameters
    ----------
    forbid : (m, 2) array of node ids, or iterable of pairs of labels

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
