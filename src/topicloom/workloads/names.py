"""Labels of generated nodes and topics: zero-padded, so that label order is id order."""

import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc


def node_names(ids: npt.ArrayLike, count: int) -> pa.Array:
    """Labels of nodes among ``count``, as Arrow strings.

    Examples
    --------
    >>> node_names([0, 123], 1000).to_pylist()
    ['n000', 'n123']
    """
    return _padded("n", ids, count)


def topic_names(ids: npt.ArrayLike, count: int) -> pa.Array:
    """Labels of topics among ``count``, as Arrow strings.

    Examples
    --------
    >>> topic_names([7], 100).to_pylist()
    ['t07']
    """
    return _padded("t", ids, count)


def _padded(prefix: str, ids: npt.ArrayLike, count: int) -> pa.Array:
    digits = pc.utf8_lpad(pa.array(ids, pa.int64()).cast(pa.string()), width=len(str(max(count - 1, 0))), padding="0")
    return pc.binary_join_element_wise(pa.scalar(prefix), digits, pa.scalar(""))
