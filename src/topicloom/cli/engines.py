"""The engine that does a command's work on the tables that its arguments name."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from topicloom.cli.console import narrated
from topicloom.cli.option_groups import SparkOptions
from topicloom.errors import InvalidOptionError
from topicloom.runs.request import ENGINES, MEMORY
from topicloom.runs.sources import Given, fits_one_task, plans_of
from topicloom.runs.stages import Stages
from topicloom.spark.session.session import spark_session

if TYPE_CHECKING:
    from topicloom.runs.carriers import Carrier

Engine = Annotated[
    str,
    typer.Option(
        envvar="TOPICLOOM_ENGINE",
        help="spark: one task where the input fits one, else spread; distributed: always spread; memory: this process "
        "alone, without Java.",
    ),
]


def check_engine(engine: str, spark: SparkOptions) -> None:
    """Refuse an engine that there is not, and settings of Spark where none starts.

    Raises
    ------
    InvalidOptionError
    """
    if engine not in ENGINES:
        raise InvalidOptionError(f"there is no engine {engine!r}; the engines are {', '.join(ENGINES)}")
    if engine == MEMORY and (spark.master or spark.remote or spark.conf):
        raise InvalidOptionError("--engine memory starts no Spark, so --master, --remote and --conf mean nothing to it")


@contextmanager
def narrated_stages() -> "Iterator[Stages]":
    """Stages of a command, which people see."""
    with narrated("starting") as narrator:
        yield Stages(narrator, narrator.note)


@contextmanager
def carrier_of(
    given: Sequence[Given],
    expand: str | None,
    engine: str,
    options: SparkOptions,
    stages: Stages,
    *,
    started: Callable[[], object] = lambda: None,
) -> "Iterator[Carrier]":
    """Yield who works on tables, as the engine says. Spark looks at the tables, and stops when the block ends.

    ``started`` is called before the tables are read or, by Spark, looked at.
    """
    # loaded here and not above, because --help needs none of it, and --engine memory no Spark
    if engine == MEMORY:
        from topicloom.runs.carriers import Here

        started()
        yield Here(given, expand)
        return
    plans = [None] * len(given) if options.remote else plans_of(given)
    small = fits_one_task([() if plan is None else plan.files for plan in plans])
    with spark_session(**vars(options), small=small) as spark:
        from topicloom.spark.tasks import Tasks, look_at_tables

        started()
        tables = look_at_tables(spark, given, plans, stages, options.remote)
        yield Tasks(tables, engine, expand, options.master, options.remote)
