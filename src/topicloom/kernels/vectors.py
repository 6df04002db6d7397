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

if numba.config.DISABLE_JIT:

    def group_lower(wants, inside, i, j, bound, at):
        """Lower the bounds at ``at`` … of the 64 pairs (i, j), (i + 1, j + 1), … to the topics that are left.

        ``wants`` and ``inside`` (uint8: 8 topics per row, places along it) say what a place wants, and in which of
        those topics it lies in the giant component: topics in whose giant both lie do not count. Overwrites ``bound``.
        """
        x, y = slice(i, i + GROUP), slice(j, j + GROUP)
        shared = wants[:, x] & wants[:, y] & ~(inside[:, x] & inside[:, y])
        counts = np.bitwise_count(shared).sum(axis=0).astype(bound.dtype)
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
    def group_lower(typing_context, wants, inside, i, j, bound, at):
        """Lower the bounds at ``at`` … of the 64 pairs (i, j), (i + 1, j + 1), … to the topics that are left."""

        def codegen(context, builder, signature, args):
            wants_array = context.make_array(signature.args[0])(context, builder, args[0])
            inside_array = context.make_array(signature.args[1])(context, builder, args[1])
            n_columns, stride = cgutils.unpack_tuple(builder, wants_array.shape, 2)
            lane, byte = _lane(signature.args[4]), ir.IntType(8)
            total, bytes64 = ir.VectorType(lane, GROUP), ir.VectorType(byte, GROUP)
            counts = cgutils.alloca_once_value(builder, ir.Constant(total, [0] * GROUP))
            ones = ir.Constant(bytes64, [255] * GROUP)

            def load(array, offset):
                return _load(builder, builder.bitcast(builder.gep(array.data, [offset]), bytes64.as_pointer()))

            with cgutils.for_range(builder, n_columns) as loop:
                row = builder.mul(loop.index, stride)
                x, y = builder.add(row, args[2]), builder.add(row, args[3])
                both_want = builder.and_(load(wants_array, x), load(wants_array, y))
                both_inside = builder.and_(load(inside_array, x), load(inside_array, y))
                shared = builder.and_(both_want, builder.xor(both_inside, ones))
                count = _call(builder, f"llvm.ctpop.v{GROUP}i8", bytes64, [shared])
                if lane.width > 8:
                    count = builder.zext(count, total)
                builder.store(builder.add(builder.load(counts), count), counts)
            at_pointer = _pointer(context, builder, signature.args[4], args[4], args[5], lane)
            old, new = _load(builder, at_pointer), builder.load(counts)
            lower = builder.select(builder.icmp_unsigned("<", new, old), new, old)
            builder.store(lower, at_pointer).align = 1
            return context.get_dummy_value()

        return types.void(wants, inside, types.intp, types.intp, bound, types.intp), codegen

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
