"""Bit counting: LLVM's own instructions when compiled, Python's integers when the JIT is off."""

import numba
import numpy as np
from numba.core import types
from numba.extending import intrinsic

from topicloom.kernels.jit import borrowing

if numba.config.DISABLE_JIT:

    def popcount(word):
        """Number of set bits of an unsigned integer, in its own dtype."""
        return type(word)(int(word).bit_count())

    def lowest_bit(word):
        """Position of the lowest set bit of a uint64 that is not 0."""
        word = int(word)
        return (word & -word).bit_length() - 1

else:

    @intrinsic
    def popcount(typing_context, word):
        """Number of set bits of an unsigned integer, in its own dtype."""

        def codegen(context, builder, signature, args):
            return builder.ctpop(args[0])

        return word(word), codegen

    @intrinsic
    def lowest_bit(typing_context, word):
        """Position of the lowest set bit of a uint64 that is not 0."""

        def codegen(context, builder, signature, args):
            return builder.cttz(args[0], context.get_constant(types.boolean, True))

        return types.int64(types.uint64), codegen


ONE = np.uint64(1)


@borrowing
def bit(topic):
    """Set the bit of a topic in a word of 64.

    Parameters
    ----------
    topic : int

    Returns
    -------
    uint64
        With bit ``topic % 64`` alone.

    Cost: O(1).
    """
    return ONE << np.uint64(topic & 63)
