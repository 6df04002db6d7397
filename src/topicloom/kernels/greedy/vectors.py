"""Work on a group of 64 neighbouring pairs at once: the inner loops of the dense search as explicit vectors.

LLVM does not vectorise these loops from numba's integer arithmetic (bytes become 64-bit integers), so they
are written in its own vector types, which it lowers to what the processor has. With the JIT off, numpy does the same.
"""

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

GROUP = 64
# Bytes per column of a tile (see `dense.Dense`): two groups of places for "wants", two for "inside".
INSIDE = 2 * GROUP
COLUMN = 4 * GROUP

if numba.config.DISABLE_JIT:

    def lower(tiles, n_columns, x, y, extra, extra_at, bound, at, weight):
        """Lower the bounds at ``at`` … of 64 pairs to what their topics left count for, and ``extra`` for each pair.

        ``x`` and ``y`` say where in ``tiles`` (uint8) the first column of the 64 left ends and of the 64 right ends
        begins: 8 topics of each place, first what it wants, then in which of those it lies in the giant component.
        Topics in whose giant both lie do not count. ``weight``, like ``bound``, says for each column what its topics
        count for; None means 1. ``bound`` is overwritten.
        """
        bytes_of = (np.arange(n_columns) * COLUMN)[:, None] + np.arange(GROUP)
        both_want = tiles[x + bytes_of] & tiles[y + bytes_of]
        both_inside = tiles[x + INSIDE + bytes_of] & tiles[y + INSIDE + bytes_of]
        counts = np.bitwise_count(both_want & ~both_inside).astype(np.int64)
        if weight is not None:
            counts *= weight.astype(np.int64)[:n_columns, None]
        counts = counts.sum(axis=0).astype(bound.dtype) + extra[extra_at : extra_at + GROUP]
        bound[at : at + GROUP] = np.minimum(bound[at : at + GROUP], counts)

    def group_hits(bound, at, level, capped, i, j):
        """Which of the 64 pairs (i, j), (i + 1, j + 1), … have a bound >= level and no capped end: bits of a uint64."""
        hits = (bound[at : at + GROUP] >= level) & ((capped[i : i + GROUP] | capped[j : j + GROUP]) == 0)
        return np.packbits(hits, bitorder="little").view(np.uint64)[0]

    def group_max(bound, at):
        """The largest of the 64 bounds from ``at`` on."""
        return bound[at : at + GROUP].max()

else:

    def _pointer(context, builder, array_type, array, index, lane):
        """Address of array[index] (one dimension), as that of a vector of 64 lanes."""
        data = context.make_array(array_type)(context, builder, array).data
        return builder.bitcast(builder.gep(data, [index]), ir.VectorType(lane, GROUP).as_pointer())

    def _load(builder, pointer):
        vector = builder.load(pointer)
        vector.align = 1
        return vector

    def _call(builder, name, result, arguments):
        function_type = ir.FunctionType(result, [a.type for a in arguments])
        return builder.call(cgutils.get_or_insert_function(builder.module, function_type, name), arguments)

    def _splat(builder, value):
        vector = ir.VectorType(value.type, GROUP)
        single = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
        return builder.shuffle_vector(
            single, ir.Constant(vector, ir.Undefined), ir.Constant(ir.VectorType(ir.IntType(32), GROUP), [0] * GROUP)
        )

    def _lane(array_type):
        return ir.IntType(array_type.dtype.bitwidth)

    @intrinsic
    def lower(typing_context, tiles, n_columns, x, y, extra, extra_at, bound, at, weight):
        """Lower the bounds at ``at`` … of 64 pairs to what their topics left count for, plus ``extra``. See above."""
        weighted = not isinstance(weight, types.NoneType)

        def codegen(context, builder, signature, args):
            data = context.make_array(signature.args[0])(context, builder, args[0]).data
            lane, byte = _lane(signature.args[6]), ir.IntType(8)
            total, bytes64 = ir.VectorType(lane, GROUP), ir.VectorType(byte, GROUP)
            extra = _load(builder, _pointer(context, builder, signature.args[4], args[4], args[5], lane))
            counts = cgutils.alloca_once_value(builder, extra)
            ones = ir.Constant(bytes64, [255] * GROUP)

            def load(offset, part):
                address = builder.gep(data, [builder.add(offset, ir.Constant(offset.type, part))])
                return _load(builder, builder.bitcast(address, bytes64.as_pointer()))

            with cgutils.for_range(builder, args[1]) as loop:
                row = builder.mul(loop.index, ir.Constant(loop.index.type, COLUMN))
                x, y = builder.add(row, args[2]), builder.add(row, args[3])
                both_want = builder.and_(load(x, 0), load(y, 0))
                both_inside = builder.and_(load(x, INSIDE), load(y, INSIDE))
                shared = builder.and_(both_want, builder.xor(both_inside, ones))
                count = _call(builder, f"llvm.ctpop.v{GROUP}i8", bytes64, [shared])
                if lane.width > 8:
                    count = builder.zext(count, total)
                if weighted:
                    weights = context.make_array(signature.args[8])(context, builder, args[8]).data
                    count = builder.mul(count, _splat(builder, builder.load(builder.gep(weights, [loop.index]))))
                builder.store(builder.add(builder.load(counts), count), counts)
            at_pointer = _pointer(context, builder, signature.args[6], args[6], args[7], lane)
            old, new = _load(builder, at_pointer), builder.load(counts)
            lower = builder.select(builder.icmp_unsigned("<", new, old), new, old)
            builder.store(lower, at_pointer).align = 1
            return context.get_dummy_value()

        at_type = types.intp
        return types.void(tiles, at_type, at_type, at_type, extra, at_type, bound, at_type, weight), codegen

    @intrinsic
    def group_hits(typing_context, bound, at, level, capped, i, j):
        """Which of the 64 pairs (i, j), (i + 1, j + 1), … have a bound >= level and no capped end: bits of a uint64."""

        def codegen(context, builder, signature, args):
            lane, byte = _lane(signature.args[0]), ir.IntType(8)
            bounds = _load(builder, _pointer(context, builder, signature.args[0], args[0], args[1], lane))
            reached = builder.icmp_unsigned(">=", bounds, _splat(builder, builder.trunc(args[2], lane)))
            ends = [
                _load(builder, _pointer(context, builder, signature.args[3], args[3], args[k], byte)) for k in (4, 5)
            ]
            free = builder.icmp_unsigned("==", builder.or_(*ends), ir.Constant(ends[0].type, [0] * GROUP))
            return builder.bitcast(builder.and_(reached, free), ir.IntType(GROUP))

        return types.uint64(bound, types.intp, types.intp, capped, types.intp, types.intp), codegen

    @intrinsic
    def group_max(typing_context, bound, at):
        """The largest of the 64 bounds from ``at`` on."""

        def codegen(context, builder, signature, args):
            lane = _lane(signature.args[0])
            bounds = _load(builder, _pointer(context, builder, signature.args[0], args[0], args[1], lane))
            return _call(builder, f"llvm.vector.reduce.umax.v{GROUP}i{lane.width}", lane, [bounds])

        return bound.dtype(bound, types.intp), codegen
