"""The overlay that arguments name: an overlay directory, or a table of links beside one of subscriptions."""

from collections.abc import Callable
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Annotated, Any

import typer

from topicloom.cli.option_groups import LinkOptions, TableOptions
from topicloom.errors import OverlayFormatError
from topicloom.files.read.link_findings import LinkFindings, fitted_links
from topicloom.files.read.notes import example_notes, row_notes
from topicloom.files.read.source_plan import plan_source
from topicloom.files.read.table import Reading, as_links, read_table
from topicloom.files.write.atomic import recover
from topicloom.files.write.overlay_directory import read_forbidden
from topicloom.files.write.run_file import RUN_FILE
from topicloom.model import ForbiddenLinks, Interest, Overlay
from topicloom.model.labels import to_arrow

GivenOverlay = Annotated[
    Path, typer.Argument(help="Overlay directory; or a table of links (src, dst), with --subscriptions.")
]
SubscriptionsFile = Annotated[
    str | None,
    typer.Option(
        "--subscriptions",
        help="Table of subscriptions, or overlay directory, that a table of links is for.",
        show_default=False,
    ),
]


def given_overlay(
    source: Path, subscriptions: str | None, table: TableOptions, links: LinkOptions, tell: Callable[[str], Any]
) -> tuple[Overlay, LinkFindings | None]:
    """The overlay, and what is odd about its links if they came as a table. ``tell`` hears about both tables.

    Nodes of the links that have no subscription are nodes of the overlay, which want nothing. What an overlay directory
    among the two forbids stays forbidden.

    Raises
    ------
    InputNotFoundError, OverlayFormatError, MissingColumnError, UnreadableInputError, InvalidOptionError
    InvalidLinksError
        A link of the table is forbidden.
    """
    if subscriptions is None:
        if source.is_file():
            raise OverlayFormatError(
                f"{source} is not an overlay directory; if it is a table of links, name the subscriptions with "
                "--subscriptions FILE"
            )
        return Overlay.load(source), None
    interest = given_interest(subscriptions, table, tell)
    folder = source / "links" if (source / "run.json").is_file() else source
    reading = read_table(plan_source(str(folder), links.wanted_as(table)))
    for note in reading.notes:
        tell(note)
    fitted = fitted_links(as_links(reading), to_arrow(interest.node_labels if interest.node_labels is not None else []))
    for sentence in fitted.findings.sentences:
        tell(sentence)
    kept = [read_forbidden(one) for one in (source, Path(subscriptions)) if (one / RUN_FILE).is_file()]
    forbidden = reduce(or_, kept, ForbiddenLinks())
    return Overlay(fitted.onto(interest), fitted.links, forbidden=forbidden), fitted.findings


def notes_on(reading: Reading) -> tuple[str, ...]:
    """What is said of a table: how its files were read, what became of its rows, and the first rejected ones."""
    examples = example_notes(reading.rejected.slice(0, 3).to_pylist())
    return (*reading.notes, *row_notes(reading.counts, reading.reasons), *examples)


def given_interest(source: str, table: TableOptions, tell: Callable[[str], Any]) -> Interest:
    """The interest of a table of subscriptions, or of an overlay directory. ``tell`` hears what is said of a table."""
    recover(Path(source))
    if (Path(source) / "run.json").is_file():
        return Overlay.load(source).interest
    reading = read_table(plan_source(source, table.wanted), expand=table.expand)
    for note in notes_on(reading):
        tell(note)
    for finding in reading.findings:
        tell(finding.sentence)
    return reading.interest()
