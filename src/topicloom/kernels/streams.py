"""Counter-based random numbers: the same on every machine, in any order, in memory and on Spark.

``draw(seed, a, b)`` is a hash of its three arguments; nothing is stepped or shared, so a value can be
computed wherever it is needed. Only 64-bit integer arithmetic is used.
"""

import numpy as np

from topicloom.kernels.jit import serial

# Streams of random numbers: one number per use, so that no two uses are correlated.
# Typed, because numba would compile `draw` once more for every plain constant.
TIE_STREAM = np.int64(1)
CYCLE_STREAM = np.int64(2)
TOPIC_TIE_STREAM = np.int64(3)
MESH_STREAM = np.int64(4)
DIVIDE_STREAM = np.int64(5)
BACKUP_STREAM = np.int64(7)
ROUND_STREAM = np.int64(8)
REFINE_STREAM = np.int64(9)
ROUND_TIE_STREAM = np.int64(10)
NETWORK_STREAM = np.int64(12)
SIZE_STREAM = np.int64(20)
TOPIC_STREAM = np.int64(21)

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31 = np.uint64(30), np.uint64(27), np.uint64(31)
_S32, _LOW32 = np.uint64(32), np.uint64(0xFFFFFFFF)


@serial
def mix(z):
    """Finalizer of splitmix64: uint64 -> uint64, a bijection in which every input bit moves every output bit."""
    z = (z ^ (z >> _S30)) * _MIX1
    z = (z ^ (z >> _S27)) * _MIX2
    return z ^ (z >> _S31)


@serial
def draw(seed, a, b):
    """Draw a random number: a hash of three integers.

    Parameters
    ----------
    seed : int
    a : int
        The stream, one of those above, or what tells several draws of one use apart.
    b : int
        The number of the draw in the stream.

    Returns
    -------
    uint64
        Evenly distributed, and the same on every machine.

    Cost: O(1).
    """
    return draw_of(stream_key(seed, a), b)


@serial
def stream_key(seed, a):
    """Hash a seed and a stream: what all draws of a stream have in common.

    Parameters
    ----------
    seed, a : int
        As for `draw`.

    Returns
    -------
    uint64

    Cost: O(1).
    """
    z = mix(np.uint64(seed) + _GOLDEN)
    return mix(z + np.uint64(a) * _GOLDEN + np.uint64(1))


@serial
def draw_of(key, b):
    """Draw a number of the stream with a key: ``draw(seed, a, b)`` at a third of the cost.

    Parameters
    ----------
    key : uint64
        As `stream_key` gives it.
    b : int
        The number of the draw in the stream.

    Returns
    -------
    uint64

    Cost: O(1).
    """
    return mix(key + np.uint64(b) * _GOLDEN + np.uint64(1))


_mixed = getattr(mix, "py_func", mix)  # `mix` of whole arrays, by numpy


def draw_all(seed, stream, numbers):
    """Draw several numbers of one stream by numpy, without compiling anything.

    Parameters
    ----------
    seed, stream : int
    numbers : integers

    Returns
    -------
    uint64, one per number
        ``draw(seed, stream, b)`` for each b of ``numbers``.

    Cost: O(numbers).
    """
    with np.errstate(over="ignore"):
        z = _mixed(np.uint64(seed) + _GOLDEN)
        z = _mixed(z + np.uint64(stream) * _GOLDEN + np.uint64(1))
        return _mixed(z + numbers.astype(np.uint64) * _GOLDEN + np.uint64(1))


def draw_pairs(seed, stream, a, b):
    """Draw a number for each pair of a stream by numpy, without compiling anything.

    Parameters
    ----------
    seed, stream : int
    a, b : integers, of one length

    Returns
    -------
    uint64, one per pair
        ``draw(draw(seed, stream, 0), a[i], b[i])`` for each i.

    Cost: O(pairs).
    """
    with np.errstate(over="ignore"):
        z = _mixed(draw_all(seed, stream, np.zeros(1, np.int64)) + _GOLDEN)
        z = _mixed(z + a.astype(np.uint64) * _GOLDEN + np.uint64(1))
        return _mixed(z + b.astype(np.uint64) * _GOLDEN + np.uint64(1))


@serial
def below(number, limit):
    """Scale a random number to a range without division.

    Parameters
    ----------
    number : uint64
    limit : int
        At most 2^63 - 1.

    Returns
    -------
    int64
        ``number * limit >> 64``, from 0 to ``limit - 1``.

    Cost: O(1).
    """
    limit = np.uint64(limit)
    high, low = number >> _S32, number & _LOW32
    limit_high, limit_low = limit >> _S32, limit & _LOW32
    middle = high * limit_low + ((low * limit_low) >> _S32)
    carry = low * limit_high + (middle & _LOW32)
    return np.int64(high * limit_high + (middle >> _S32) + (carry >> _S32))
