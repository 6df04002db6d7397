"""The process that forks Spark's Python workers, with what they import already loaded.

Spark's own daemon forks workers that are empty, and each of them spends about two seconds on imports. A worker that is
a copy of this daemon has them at once. An embedded Spark starts it, as ``python -m topicloom.spark.session.daemon``.
"""

import gc
from contextlib import suppress
from importlib import import_module

from pyspark.daemon import manager

if __name__ == "__main__":
    for name in (
        "pyarrow",
        "pyspark.sql",
        "pyspark.worker",
        "topicloom.judge",
        "topicloom.measures",
        "topicloom.methods",
    ):
        with suppress(ImportError):  # `check_workers` says what is missing
            import_module(name)
    gc.collect()
    gc.freeze()  # workers collect garbage after each task, and need not look at this
    manager()
