"""Tables that commands read, and what is said about them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from topicloom.cli.console import Narrator
from topicloom.cli.option_groups import SparkOptions
from topicloom.cli.sources import part_of_overlay, said_whose
from topicloom.reading.notes import example_notes
from topicloom.reading.read_options import SUBSCRIPTIONS, ReadOptions
from topicloom.spark.session import is_embedded

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from topicloom.pipeline.prepare import Prepared
    from topicloom.pipeline.read import SparkTable
    from topicloom.reading.link_findings import LinkFindings
    from topicloom.spark.stages import Stages

Given = tuple[str, ReadOptions]  # an argument of the command line, and how the table it names is read


def rows_of(table: "SparkTable", expand: str | None) -> "DataFrame":
    """Rows of a table that was looked at, with patterns replaced if asked for."""
    from topicloom.pipeline.expand import expanded

    return table.rows if expand is None else expanded(table.rows, expand)


def looked_at_table(
    spark: "SparkSession", narrator: Narrator, argument: str, options: ReadOptions, remote: str | None
) -> "SparkTable":
    """Look at the table, or the part of an overlay directory, that an argument names. Prints notes on its files."""
    from topicloom.pipeline.read import open_table

    source = part_of_overlay(argument, options.kind.what, remote)
    narrator(f"looking at {source}")
    with said_whose(remote):
        table = open_table(spark, source, options)
    for note in table.notes if options.kind is SUBSCRIPTIONS else ():
        narrator.note(note)
    return table


def prepared_links(
    tables: "Sequence[SparkTable]", expand: str | None, narrator: Narrator, stages: "Stages"
) -> "tuple[Prepared, DataFrame, LinkFindings]":
    """Subscriptions prepared, with nodes that occur in links alone; links by id; and what is odd about them.

    Of more than 5,000,000 links and nodes none is brought here, and every link must name nodes of the subscriptions.
    """
    from topicloom.pipeline.links import fits_driver, fitted_to, matched, widened
    from topicloom.pipeline.prepare import prepare

    prepared = prepare(rows_of(tables[0], expand), stages=stages)
    tell_of_rows(narrator, prepared)
    if not fits_driver(tables[1].rows, prepared.counts["nodes"]):
        return prepared, *matched(tables[1].rows, prepared, "the links")
    fitted = fitted_to(tables[1].rows, prepared.nodes)
    for sentence in fitted.findings.sentences:
        narrator.note(sentence)
    return *widened(prepared, fitted), fitted.findings


@contextmanager
def check_folder(spark: SparkOptions, findings: "LinkFindings") -> Iterator[Path | None]:
    """A temporary folder in which links are checked; None where executors may not see it, or links have strangers."""
    if not is_embedded(spark.master, spark.remote) or findings.unknown or findings.transit:
        yield None
        return
    with TemporaryDirectory(prefix="topicloom-check-") as folder:
        yield Path(folder)


def tell_of_rows(narrator: Narrator, prepared: "Prepared") -> None:
    """Show the first rows that were rejected, and labels that deserve a look."""
    from topicloom.pipeline.input_findings import first_rejected, label_findings

    for note in example_notes(first_rejected(prepared)):
        narrator.note(note)
    for finding in label_findings(prepared):
        narrator.note(finding.sentence)
