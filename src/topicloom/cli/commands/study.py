"""``topicloom study``: the papers' experiments, from one command."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topicloom.cli.console import narrated, print_table, tell
from topicloom.cli.option_groups import Conf, Master, Remote, Verbose
from topicloom.errors import InputNotFoundError, InvalidOptionError
from topicloom.model.checks import checked_whole
from topicloom.spark.session.session import cores_of, spark_session
from topicloom.version import __version__

if TYPE_CHECKING:
    from topicloom_papers.cells.studies import Scale, Study

EXAMPLE = "Example: topicloom study gm-fig4a results --scale quick"


def command(
    name: Annotated[
        str | None,
        typer.Argument(help="A study, all, or report: tables, plots and page, rewritten from what was measured."),
    ] = None,
    out: Annotated[
        Path | None, typer.Argument(help="Folder for results, plots and the page; a repeated run resumes there.")
    ] = None,
    scale: Annotated[
        str, typer.Option(help="quick: does it work? paper: the papers' sizes, some 50 minutes on two cores.")
    ] = "paper",
    seeds: Annotated[
        int | None, typer.Option(help="Seeds per point.  [default: as the study says, mostly 10]", show_default=False)
    ] = None,
    note: Annotated[str, typer.Option(help="A sentence for the top of the page, such as on what machine.")] = "",
    list_studies: Annotated[bool, typer.Option("--list", help="List the studies.")] = False,
    master: Master = None,
    remote: Remote = None,
    conf: Conf = [],  # noqa: B006 - typer reads it and never writes
    verbose: Verbose = False,
) -> int:
    """Reproduce a figure or table of the papers on Spark: results, plots, and ours beside the published numbers.

    Repeat an interrupted command to resume it: what OUT already holds is not measured again.
    """
    from topicloom_papers.cells.studies import SCALES, Scale
    from topicloom_papers.studies import STUDIES

    if list_studies:
        print_table(("study", "shows"), [(study.name, f"{study.source}: {study.title}") for study in STUDIES.values()])
        return 0
    if name is None or out is None:
        raise InvalidOptionError("topicloom study needs the name of a study and a folder; --list shows the studies")
    if name not in (*STUDIES, "all", "report"):
        raise InvalidOptionError(f"there is no study {name!r}; the studies are all, {', '.join(STUDIES)}")
    if scale not in SCALES:
        raise InvalidOptionError(f"--scale is {scale!r}; {' and '.join(SCALES)} are accepted")
    size = Scale(scale, None if seeds is None else checked_whole("--seeds", seeds, 1, 10_000))
    chosen = list(STUDIES.values()) if name in ("all", "report") else [STUDIES[name]]
    out = out.absolute()
    if name != "report":
        _run(name, out, chosen, size, master=master, remote=remote, conf=conf, verbose=verbose)
    elif not (out / "results" / "results.parquet").exists():
        raise InputNotFoundError(f"{out} holds no results of a study; run one there first")
    _report(out, chosen, size, note)
    return 0


def _run(
    name: str,
    out: Path,
    studies: "list[Study]",
    size: "Scale",
    *,
    master: str | None,
    remote: str | None,
    conf: list[str],
    verbose: bool,
) -> None:
    """Measure the cells of some studies that OUT does not hold yet."""
    from topicloom_papers.cells.cell_store import CellStore
    from topicloom_papers.cells.cells import distinct
    from topicloom_papers.cells.inputs import DATASETS_VARIABLE, available
    from topicloom_papers.cells.runner import run_cells, warm
    from topicloom_papers.studies import known_kinds

    wanted = distinct(cell for study in studies for cell in study.grid(size))
    cells = [cell for cell in wanted if available(cell)]
    tell(f"{name} at {size.name} scale: {len(studies)} studies, {len(cells):,} cells")
    if len(cells) < len(wanted):
        tell(
            f"{len(wanted) - len(cells):,} cells on real data sets are left out; {DATASETS_VARIABLE} names their folder"
        )
    store = CellStore(out)
    with (
        narrated("starting Spark") as narrator,
        spark_session(master=master, remote=remote, conf=conf, verbose=verbose) as spark,
    ):
        narrator("loading kernels (compiled on the first run, a minute or two)")
        warm(cells)
        narrator("measuring")
        run_cells(spark, cells, store, cores=cores_of(master, remote), say=narrator.note)
    forgotten = store.prune(known_kinds())
    if forgotten:
        tell(f"removed {forgotten:,} cells that no study uses any more")


def _report(out: Path, studies: "list[Study]", size: "Scale", note: str) -> None:
    """Write tables, plots and the page from what has been measured, and show the table."""
    from topicloom_papers.cells.cell_store import CellStore
    from topicloom_papers.page import verdicts
    from topicloom_papers.page.lookup import Results
    from topicloom_papers.page.results_page import write_report

    everything = Results.of(CellStore(out).load())
    results = {study.name: everything.among(study.grid(size)) for study in studies}
    header = (
        f"Measured by topicloom {__version__} at {size.name} scale, every overlay verified by the judge. {note}".strip()
    )
    rows = write_report(studies, results, out, header=header)
    counted = [row for row in rows if not row.number.experiment]
    print_table(
        ("number", "published", "ours", "ratio", "verdict"),
        [
            (
                f"{row.study}: {row.number.says}",
                verdicts.format_value(row.number.value, row.number.unit),
                verdicts.format_value(row.ours, row.number.unit),
                verdicts.format_value(row.ratio),
                row.verdict,
            )
            for row in counted
        ],
    )
    tell(verdicts.tally(rows))
    tell(f"wrote {out / 'results.md'} and {out / 'results'}")
