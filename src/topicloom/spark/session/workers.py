"""Python workers of Spark."""

import gc
import os
import sys
from typing import TYPE_CHECKING
from weakref import WeakSet

from topicloom.errors import SparkUnavailableError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NEEDED = ("pyarrow", "numpy", "numba", "scipy", "xxhash", "topicloom")
_settled = False
_looked_at: "WeakSet[SparkSession]" = WeakSet()


def check_workers(spark: "SparkSession") -> None:
    """Check once that a session's Python workers have the packages that they will import.

    Without this check, the first function that runs in a worker fails, and by then reading and encoding have taken
    minutes. An embedded Spark whose workers run this very Python is not asked.

    Raises
    ------
    SparkUnavailableError
        A package is missing there; the message says in which Python.
    """
    if spark in _looked_at:
        return
    if not _is_this_python(spark):
        _refuse_missing(spark)
    _looked_at.add(spark)


def _is_this_python(spark: "SparkSession") -> bool:
    if "connect" in type(spark).__module__:
        return False
    return run_this_python(str(spark.conf.get("spark.master", "")), spark.conf.get("spark.pyspark.python", None))


def run_this_python(master: str, chosen: str | None) -> bool:
    """Whether the workers of a Spark at ``master`` run the Python that runs this.

    ``chosen`` is the setting spark.pyspark.python, in whose absence the environment decides.
    """
    return master.startswith("local") and (chosen or os.environ.get("PYSPARK_PYTHON")) == sys.executable


def _refuse_missing(spark: "SparkSession") -> None:
    from pyspark.sql import functions as F

    needed = _NEEDED

    # defined here, so that it travels by value: the workers may not have topicloom
    def look(_: int) -> str:
        import sys
        from importlib.util import find_spec

        return "|".join([sys.executable or "python", *(name for name in needed if find_spec(name) is None)])

    # pickled rows, not Arrow: pyarrow may be what is missing
    found = spark.range(1).select(F.udf(look, "string", useArrow=False)("id").alias("found")).collect()
    python, *missing = str(found[0]["found"]).split("|")
    if missing:
        raise SparkUnavailableError(
            f"the Python of Spark's workers, {python}, has no {', '.join(missing)}; install what is missing there, or "
            "set PYSPARK_PYTHON (spark.pyspark.python), before the session is made, to a Python that has it, such as "
            f"{sys.executable}"
        )


def settle() -> None:
    """Exempt what this process has loaded from garbage collection, once. For workers, when kernels have run.

    PySpark collects garbage after every task of a worker that it keeps, and with numba, Arrow and numpy loaded that
    takes some 80 ms, as long as a small task's work.
    """
    global _settled  # noqa: PLW0603 - one process, one state
    if not _settled:
        gc.collect()
        gc.freeze()
        _settled = True
