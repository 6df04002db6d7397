"""Who does the work of a run on the tables that were given.

There are three: `Here` is this process, and `topicloom.spark.tasks.Tasks` is one task of Spark where the tables fit
one, and tasks that share their rows where they do not. All three give the same answers.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from topicloom.errors import InvalidOptionError
from topicloom.files.read.link_findings import LinkFindings
from topicloom.files.read.notes import notes_of
from topicloom.files.read.read_options import SUBSCRIPTIONS, ReadOptions
from topicloom.files.read.source_plan import plan_source
from topicloom.files.read.table import row_batches
from topicloom.methods.bounds import LowerBound
from topicloom.methods.selection import MethodChoice
from topicloom.model import Metrics, Network, Verdict
from topicloom.model.labels import ROWS
from topicloom.runs.check_rows import measure_rows, verify_rows
from topicloom.runs.comparison import Comparison, compare_rows
from topicloom.runs.design_rows import Designed, design_rows, dry_run_rows, write_designed
from topicloom.runs.memory import available_memory
from topicloom.runs.memory_limits import check_reading, check_side_by_side
from topicloom.runs.request import DesignRequest
from topicloom.runs.sources import Given, part_of_overlay, unreplaced
from topicloom.runs.stages import Stages


class Carrier(Protocol):
    """Tables that were given, and who does the work on them.

    A design takes a table of subscriptions. The other runs take one of links, too; a comparison may.
    """

    def design(
        self, request: DesignRequest, stages: Stages, *, folder: Path | None, work: Path | None = None
    ) -> Designed | None:
        """Design, judge, measure, and write the contents of an overlay directory into an empty folder.

        Without a folder, only look at the rows, and return None. ``work`` is a folder for what tasks have finished.
        """

    def verify(self, stages: Stages, *, k: int) -> tuple[Verdict, LinkFindings]:
        """Judge the links, and say what is odd about them."""

    def measure(self, stages: Stages, *, bound: bool) -> tuple[tuple[Metrics, LowerBound | None], LinkFindings]:
        """Measure the links, prove how few there can be if asked to, and say what is odd about them."""

    def compare(
        self, choices: Sequence[MethodChoice], stages: Stages, *, seed: int, network: Network | None = None
    ) -> Comparison:
        """Run methods side by side. Links that were given are the first row.

        The design for a network, if one is given, is the last row.
        """


@dataclass(frozen=True)
class Here:
    """The process that calls it, which reads the tables itself. It needs no Spark.

    Attributes
    ----------
    given : sequence of (str, ReadOptions)
        Tables, or overlay directories that have them.
    expand : str or None
        The rules by which patterns among the subscriptions are replaced.
    """

    given: Sequence[Given]
    expand: str | None = None

    def design(
        self, request: DesignRequest, stages: Stages, *, folder: Path | None, work: Path | None = None
    ) -> Designed | None:
        """As `Carrier.design`. Nothing is kept in ``work``."""
        tables = self._tables(stages)
        if folder is None:
            dry_run_rows(tables, stages, request=request, available=available_memory(), expand=self.expand)
            return None
        designed = design_rows(tables, stages, request=request, available=available_memory(), expand=self.expand)
        write_designed(designed, folder, request=request, stages=stages)
        return designed

    def verify(self, stages: Stages, *, k: int) -> tuple[Verdict, LinkFindings]:
        """As `Carrier.verify`."""
        return verify_rows(self._tables(stages), stages, k=k, expand=self.expand)

    def measure(self, stages: Stages, *, bound: bool) -> tuple[tuple[Metrics, LowerBound | None], LinkFindings]:
        """As `Carrier.measure`."""
        return measure_rows(self._tables(stages), stages, expand=self.expand, bound=bound)

    def compare(
        self, choices: Sequence[MethodChoice], stages: Stages, *, seed: int, network: Network | None = None
    ) -> Comparison:
        """As `Carrier.compare`, one method after the other."""
        return compare_rows(
            self._tables(stages),
            stages,
            choices=choices,
            seed=seed,
            held=len(self.given) > 1,
            expand=self.expand,
            check=partial(check_side_by_side, choices=choices, cores=1, available=available_memory()),
            network=network,
        )

    def _tables(self, stages: Stages) -> list[pa.Table]:
        """Rows of each table, all of the same state of an overlay directory."""
        with stages("read", "reading"), unreplaced(*(argument for argument, _ in self.given)):
            return [rows_here(*one, stages) for one in self.given]


def rows_here(argument: str, options: ReadOptions, stages: Stages) -> pa.Table:
    """Rows of the table, or of the overlay directory, that an argument names, after notes on its files.

    Raises
    ------
    InputNotFoundError, MissingColumnError, UnreadableInputError, InvalidOptionError, NotEnoughMemoryError
    """
    source = part_of_overlay(argument, options.kind.what).removeprefix("file://")
    if "://" in source:
        raise InvalidOptionError(f"{source} can be opened by Spark alone; engine='spark' reads it")
    stages.say(f"reading {source}")
    plan = plan_source(os.path.abspath(source), options)  # noqa: PTH100 - keeps undecodable bytes
    if options.kind is SUBSCRIPTIONS:
        for note in notes_of(plan):
            stages.note(note)
    check_reading(plan.files, available_memory())
    return pa.Table.from_batches(row_batches(plan), ROWS)
