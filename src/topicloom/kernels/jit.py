"""How kernels are compiled: the one place that decides numba's flags.

``NUMBA_DISABLE_JIT=1`` runs every kernel as plain Python, ``NUMBA_BOUNDSCHECK=1`` checks every index.
Compiled code is cached beside the package; where that cannot be written (a read-only install) numba falls
back to the user's cache folder, and where there is none, or the package is in a zip, kernels are compiled
again in each process. While that goes on, `notice` says so, and Ctrl-C waits.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import config, types

from topicloom.kernels import notice

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

# numba would cache kernels of a zip in the user's cache folder without a look at whether that can be written
_ON_DISK = Path(__file__).exists()

notice.listen()


def serial(function: Kernel) -> Kernel:
    """Compile a kernel for one thread. It releases the GIL, and its arithmetic is exact (no fastmath).

    Parameters
    ----------
    function : callable

    Returns
    -------
    callable
        The kernel, compiled when it is first called. The function itself where numba's JIT is off.
    """
    return _compiled(function)


def borrowing(function: Kernel) -> Kernel:
    """Compile a kernel that makes no array, as `serial` does, without counting references to those it is given.

    Numba counts them for every array of every tuple that a call passes, which in an inner loop takes longer than the
    work. A kernel that makes arrays does not compile with this.

    Parameters
    ----------
    function : callable

    Returns
    -------
    callable
        As for `serial`.
    """
    return _compiled(function, _nrt=False)


def yielding(function: Kernel) -> Kernel:
    """Compile a generator as `borrowing` does. Numba puts it into the loops of the kernels that read it.

    It is not cached, its readers are: numba cannot compile a new reader of a generator that came from a cache.

    Parameters
    ----------
    function : generator function

    Returns
    -------
    callable
        As for `serial`.
    """
    return _compiled(function, _nrt=False, cache=False)


def _compiled(function: Kernel, **options: bool) -> Kernel:
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return np.errstate(over="ignore")(function)  # hashes wrap around by design; numpy scalars warn of it
    try:
        made: Any = numba.njit(**{"nogil": True, "cache": _ON_DISK, **options})(function)
    except RuntimeError:  # "cannot cache function: no locator available"
        made = numba.njit(**{"nogil": True, **options})(function)
    made.compile = _uninterrupted(made.compile)  # called for a new signature only, whether it is cached or not
    template = made.get_call_template
    made.get_call_template = lambda args, kws: template(
        [_widened(given) for given in args], {name: _widened(given) for name, given in kws.items()}
    )
    return cast(Kernel, made)


def _uninterrupted(compile_kernel: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(compile_kernel)
    def run(*given: Any, **named: Any) -> Any:
        with interrupts_held():
            return compile_kernel(*given, **named)

    return run


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Hold Ctrl-C back until the block ends: an exception in the middle of LLVM's work can crash the process.

    Only the main thread is ever interrupted; in others nothing is done. A signal that came in the meantime is handed to
    the handler that was there before, which usually raises KeyboardInterrupt.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    held: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: held.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if held:
            before(signal.SIGINT, None)


def _widened(given: types.Type) -> types.Type:
    """The type for which a kernel is compiled when another kernel passes it an argument of type ``given``.

    Numba would compile once for a constant and once for a variable, once for 32 bits and once for 64.
    """
    plain = types.unliteral(given)
    return types.int64 if isinstance(plain, types.Integer) and plain.signed else plain
