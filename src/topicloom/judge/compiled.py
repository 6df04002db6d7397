"""How the judge compiles its own loops: apart from ``kernels/``, with which it shares no code."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compile for one thread, cached where there is room. Plain Python with ``NUMBA_DISABLE_JIT=1``."""
    jit: Any = numba.njit
    try:
        made = jit(nogil=True, cache=True)(function)
    except RuntimeError:  # no folder for the cache
        made = jit(nogil=True)(function)
    return cast(Function, made)
