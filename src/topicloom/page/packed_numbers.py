"""Numbers as text that is small and safe inside a page: LEB128, bits and 16-bit coordinates, in base64."""

import base64
import json
from typing import Any

import numpy as np
import numpy.typing as npt


def numbers(values: npt.ArrayLike) -> str:
    """Encode whole numbers >= 0: one byte below 128, two below 16,384.

    >>> numbers([1, 2, 300])
    'AQKsAg=='
    """
    a = np.asarray(values, np.uint64)
    if not len(a):
        return ""
    width = np.ones(len(a), np.int64)
    for k in range(1, 10):
        width += a >= np.uint64(1) << np.uint64(7 * k)
    out = np.zeros((len(a), int(width.max())), np.uint8)
    for k in range(out.shape[1]):
        more = (width > k + 1).astype(np.uint8) << 7
        out[:, k] = ((a >> np.uint64(7 * k)) & np.uint64(127)).astype(np.uint8) | more
    return base64.b64encode(out[np.arange(out.shape[1]) < width[:, None]].tobytes()).decode()


def pairs(links: npt.ArrayLike) -> str:
    """Encode sorted links (a < b): gaps of a, then gaps of b where a repeats, else b - a."""
    a, b = np.asarray(links, np.int64).reshape(-1, 2).T
    gap = np.diff(a, prepend=0)
    again = np.concatenate([[False], gap[1:] == 0])[: len(gap)]
    return numbers(np.column_stack([gap, np.where(again, np.diff(b, prepend=0), b - a)]).ravel())


def lists(indptr: npt.ArrayLike, members: npt.ArrayLike) -> str:
    """Encode ascending lists: all lengths, then the gaps inside each."""
    starts, items = np.asarray(indptr, np.int64), np.asarray(members, np.int64)
    gaps = np.diff(items, prepend=0)
    first = starts[:-1][np.diff(starts) > 0]
    gaps[first] = items[first]
    return numbers(np.concatenate([np.diff(starts), gaps]))


def bits(flags: npt.ArrayLike) -> str:
    """Encode yes and no, eight in a byte."""
    return base64.b64encode(np.packbits(np.asarray(flags, bool), bitorder="little").tobytes()).decode()


def coordinates(places: npt.NDArray[np.float64]) -> str:
    """Encode x and y of all nodes on a grid of 65,536, little endian."""
    if not len(places):
        return ""
    low, span = places.min(0), max(float(np.ptp(places, axis=0).max()), 1e-9)
    return base64.b64encode(np.round((places - low) / span * 65535).astype("<u2").tobytes()).decode()


_ESCAPED = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def embedded(value: Any) -> str:
    r"""Write JSON that can stand inside ``<script>``: no text in it can end the element or open a comment.

    >>> embedded("</script>")
    '"\\u003c/script\\u003e"'
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).translate(_ESCAPED)
