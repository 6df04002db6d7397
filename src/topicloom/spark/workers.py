"""Python workers of Spark."""

import gc

_settled = False


def settle() -> None:
    """Take what this process has loaded out of garbage collection, once; call it in a worker, when kernels have run.

    PySpark collects garbage after every task of a worker that it keeps, and with numba, Arrow and numpy loaded that
    takes some 80 ms, as long as a small task's work.
    """
    global _settled  # noqa: PLW0603 - one process, one state
    if not _settled:
        gc.collect()
        gc.freeze()
        _settled = True
