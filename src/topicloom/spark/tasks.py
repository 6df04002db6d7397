"""Runs on Spark: one task where the tables fit one, and tasks that share their rows where they do not."""

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import DataFrame, SparkSession

from topicloom.errors import InvalidOptionError, NotEnoughMemoryError, UnreadableInputError
from topicloom.files.read.link_findings import LinkFindings
from topicloom.files.read.notes import example_notes
from topicloom.files.read.read_options import SUBSCRIPTIONS
from topicloom.files.read.source_plan import Plan
from topicloom.methods.bounds import LowerBound
from topicloom.methods.selection import MethodChoice
from topicloom.model import Metrics, Network, Verdict
from topicloom.runs.check_rows import measure_rows, verify_rows
from topicloom.runs.comparison import Comparison, HeldLinks, compare_rows
from topicloom.runs.design_rows import Designed, design_rows, dry_run_rows, write_designed
from topicloom.runs.memory import available_memory
from topicloom.runs.memory_limits import check_side_by_side
from topicloom.runs.request import SPARK, DesignRequest
from topicloom.runs.sources import Given, part_of_overlay, said_whose, unreplaced
from topicloom.runs.stages import Stages
from topicloom.spark.session.session import cores_of, is_embedded
from topicloom.spark.session.warm import COMPILING, warm, warm_workers
from topicloom.spark.session.workers import check_workers
from topicloom.spark.steps.check import measure_prepared, verify_prepared
from topicloom.spark.steps.clean import expanded
from topicloom.spark.steps.construct import compare_methods
from topicloom.spark.steps.design import announce_prepared, barred_pairs, baselines, design_prepared, faults_of
from topicloom.spark.steps.links import BROUGHT_HERE, fits_driver, fitted_to, matched, widened
from topicloom.spark.steps.one_pass import Answer, Work, in_tasks
from topicloom.spark.steps.prepare import Prepared, first_rejected, label_findings, prepare
from topicloom.spark.steps.read import SparkTable, open_table
from topicloom.spark.steps.write import write_tables

HINT = "so small an input needs no Spark: --engine memory gives the same in a fraction of the time"


@dataclass(frozen=True)
class Tasks:
    """Tasks of Spark, on tables that were looked at: a `topicloom.runs.carriers.Carrier`.

    Attributes
    ----------
    tables : sequence of SparkTable
    engine : str
        ``spark``: one task where the tables fit one; ``distributed``: always tasks that share the rows.
    expand : str or None
        The rules by which patterns among the subscriptions are replaced.
    master, remote : str or None
        Where Spark runs; see `spark_session`.
    """

    tables: Sequence[SparkTable]
    engine: str = SPARK
    expand: str | None = None
    master: str | None = None
    remote: str | None = None

    def design(
        self, request: DesignRequest, stages: Stages, *, folder: Path | None, work: Path | None = None
    ) -> Designed | None:
        """As `topicloom.runs.carriers.Carrier.design`."""
        work_of_one = partial(
            dry_run_rows if folder is None else design_rows,
            request=request,
            available=self._available,
            expand=self.expand,
        )
        sentence = "designing for the network" if request.network else f"designing with {request.method}"
        found = self._one_task_each([work_of_one], stages, sentence)
        if found is None:
            return self._spread_design(request, stages, folder, work)
        designed: Designed | None = found[0]
        if designed is not None and folder is not None:
            write_designed(designed, folder, request=request, stages=stages)
        return designed

    def verify(self, stages: Stages, *, k: int) -> tuple[Verdict, LinkFindings]:
        """As `topicloom.runs.carriers.Carrier.verify`."""
        found = self._one_task_each([partial(verify_rows, k=k, expand=self.expand)], stages, "verifying")
        if found is not None:
            return found[0]
        prepared, links, findings = self._prepared_links(stages)
        with self._check_folder(findings) as folder:
            return verify_prepared(prepared, links, k=k, stages=stages, work=folder), findings

    def measure(self, stages: Stages, *, bound: bool) -> tuple[tuple[Metrics, LowerBound | None], LinkFindings]:
        """As `topicloom.runs.carriers.Carrier.measure`. Tasks that share the rows prove no bound."""
        found = self._one_task_each([partial(measure_rows, expand=self.expand, bound=bound)], stages, "measuring")
        if found is not None:
            return found[0]
        if bound:
            raise InvalidOptionError("--bound works where one task holds the tables; --engine memory tries it anyway")
        prepared, links, findings = self._prepared_links(stages)
        with self._check_folder(findings) as folder:
            return (measure_prepared(prepared, links, stages=stages, work=folder), None), findings

    def compare(
        self, choices: Sequence[MethodChoice], stages: Stages, *, seed: int, network: Network | None = None
    ) -> Comparison:
        """As `topicloom.runs.carriers.Carrier.compare`, with a task for each row. It takes no network."""
        if network is not None:
            raise InvalidOptionError("--network is for comparisons in one process; --engine memory makes them")
        cores = cores_of(self.master, self.remote)
        check = partial(check_side_by_side, choices=choices, cores=cores, available=self._available)
        one = partial(compare_rows, seed=seed, expand=self.expand, check=check)
        works = [partial(one, choices=[], held=True)] if len(self.tables) > 1 else []
        works += [partial(one, choices=[choice], held=False) for choice in choices]
        sentence = f"running {len(choices)} methods side by side"
        parts = in_tasks(self.tables, works, engine=self.engine, stages=stages, sentence=sentence)
        if parts is not None:
            return replace(parts[0], compared=tuple(one for part in parts for one in part.compared))
        prepared = prepared_rows(self.tables[0], self.expand, stages)
        check(prepared.size)
        return _spread_comparison(prepared, self.tables[1:], choices, stages, seed)

    @property
    def _available(self) -> int:
        """Bytes that a worker may take; no limit is known where workers run on other machines."""
        return available_memory() if is_embedded(self.master, self.remote) else sys.maxsize

    def _one_task_each(self, works: Sequence[Work[Answer]], stages: Stages, sentence: str) -> list[Answer] | None:
        found = in_tasks(self.tables, works, engine=self.engine, stages=stages, sentence=sentence)
        if (
            found is not None and "connect" not in type(self.tables[0].rows).__module__
        ):  # whose files may be the server's
            stages.note(HINT)
        return found

    def _spread_design(
        self, request: DesignRequest, stages: Stages, folder: Path | None, work: Path | None
    ) -> Designed | None:
        if request.network is not None:
            raise InvalidOptionError("--network works where one task holds the rows; --engine memory tries it anyway")
        if request.refine is not None:
            raise InvalidOptionError(
                "--refine is for designs of one task; design without it, then: topicloom refine OUT BETTER"
            )
        prepared = prepared_rows(self.tables[0], self.expand, stages)
        request = request.at(prepared.size, stages.note)
        announce_prepared(request, prepared, stages, self._available, workers=cores_of(self.master, self.remote))
        barred = barred_pairs(request, prepared, stages)
        if folder is None:
            return None
        with stages("compile", COMPILING):
            warm(request.method)
            if is_embedded(self.master, self.remote):
                warm_workers(self.tables[0].rows.sparkSession, request.method)
        result = design_prepared(prepared, request, work=work, barred=barred, stages=stages)
        faults = faults_of(result, barred)
        write_tables(result, folder, forbidden=request.forbidden, stages=stages)
        if result.work is not None:
            shutil.rmtree(result.work, ignore_errors=True)
        return Designed({}, result.metrics, result.verdict, result.run, tuple(faults), baselines(prepared))

    def _prepared_links(self, stages: Stages) -> tuple[Prepared, DataFrame, LinkFindings]:
        """Prepare subscriptions with nodes that only links name. Returns them, links by id, and oddities of the links.

        Of more than 5,000,000 links and nodes none is brought here, and every link must name nodes of the
        subscriptions.
        """
        subscriptions, links = self.tables
        prepared = prepared_rows(subscriptions, self.expand, stages)
        if not fits_driver(links.rows, prepared.counts["nodes"]):
            return prepared, *matched(links.rows, prepared, "the links")
        fitted = fitted_to(links.rows, prepared.nodes)
        for sentence in fitted.findings.sentences:
            stages.note(sentence)
        return *widened(prepared, fitted), fitted.findings

    @contextmanager
    def _check_folder(self, findings: LinkFindings) -> Iterator[Path | None]:
        """Make a folder to check links in. Returns None where executors may not see it, or links have strangers."""
        if not is_embedded(self.master, self.remote) or findings.unknown or findings.transit:
            yield None
            return
        with TemporaryDirectory(prefix="topicloom-check-") as folder:
            yield Path(folder)


def look_at_tables(
    spark: SparkSession, given: Sequence[Given], plans: Sequence[Plan | None], stages: Stages, remote: str | None = None
) -> list[SparkTable]:
    """Look at tables, or parts of overlay directories, all of the same state. Notes what there is to say of the files.

    ``plans`` are those of the tables that were looked at already. They are used unless an overlay was replaced since.
    """
    with unreplaced(*(argument for argument, _ in given)):
        tables = []
        for (argument, options), plan in zip(given, plans):
            source = part_of_overlay(argument, options.kind.what, remote)
            stages.say(f"looking at {source}")
            with said_whose(remote):
                tables.append(open_table(spark, source, options, plan=plan if _is_current(plan) else None))
            for note in tables[-1].notes if options.kind is SUBSCRIPTIONS else ():
                stages.note(note)
    check_workers(spark)
    return tables


def _is_current(plan: Plan | None) -> bool:
    """Whether the overlay directory of a plan, if it is of one, is still the same."""
    try:
        if plan is not None and plan.version is not None:
            plan.version.check()
    except UnreadableInputError:
        return False
    return True


def prepared_rows(table: SparkTable, expand: str | None, stages: Stages) -> Prepared:
    """Prepare the rows of a table, with patterns replaced if asked for. Notes rejected rows and odd labels."""
    rows, more = (table.rows, None) if expand is None else expanded(table.rows, expand)
    prepared = prepare(rows, stages=stages, expanded=more)
    for note in example_notes(first_rejected(prepared)):
        stages.note(note)
    for finding in label_findings(prepared):
        stages.note(finding.sentence)
    return prepared


def _spread_comparison(
    prepared: Prepared, links: Sequence[SparkTable], choices: Sequence[MethodChoice], stages: Stages, seed: int
) -> Comparison:
    """Compare by the distributed pipeline: encoded once, and a task for each row."""
    if links and not fits_driver(links[0].rows, prepared.counts["nodes"]):
        raise NotEnoughMemoryError(
            f"--links and the nodes are more than {BROUGHT_HERE:,} together, which is too many for this process; "
            "topicloom measure takes them"
        )
    given = fitted_to(links[0].rows, prepared.nodes) if links else None
    for sentence in () if given is None else given.findings.sentences:
        stages.note(sentence)
    held = [] if given is None else [HeldLinks(given.links, prepared.counts["nodes"] + len(given.strangers))]
    with stages("compile", COMPILING):
        for choice in choices:
            warm(choice.method)
    sizes = {"n_nodes": prepared.counts["nodes"], "n_topics": prepared.counts["topics"]}
    with stages("compare", f"running {len(choices)} methods side by side"):
        compared = compare_methods(prepared.encoded, [*held, *choices], seed=seed, **sizes)
    findings = None if given is None else given.findings
    return Comparison(tuple(compared), prepared.counts, prepared.fingerprint, findings)
