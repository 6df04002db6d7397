"""``topicloom refine``: fewer links, or lower degrees, from a finished overlay."""

import json
import math
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from topicloom.cli.console import format_number, narrated, print_table, tell
from topicloom.cli.option_groups import Json, Overwrite, Seed
from topicloom.errors import InvalidOptionError
from topicloom.files.write.destination import check_destination
from topicloom.methods.bounds import lower_bound
from topicloom.methods.refinement import Progress, refine
from topicloom.model import Overlay

EXAMPLE = "Example: topicloom refine overlay fewer --effort 30"
INTERRUPTED = 130


def command(
    overlay: Annotated[Path, typer.Argument(help="Overlay directory.")],
    out: Annotated[Path, typer.Argument(help="Folder for the refined overlay directory.")],
    effort: Annotated[float, typer.Option(help="Work to spend; 1 takes about as long as gm.")] = 10,
    objective: Annotated[
        str, typer.Option(help="links, or degree: lower the maximum degree first, then the links.")
    ] = "links",
    k: Annotated[
        int | None,
        typer.Option(help="Topic-connectivity to keep.  [default: what it was designed for]", show_default=False),
    ] = None,
    shorten: Annotated[
        float, typer.Option(help="Links given up for lower topic diameters: 0 none, 0.05 some, 0.5 many.")
    ] = 0,
    until_gap: Annotated[
        str | None,
        typer.Option(
            help="Stop when the links are proved to be so near to the fewest, such as 5%.", show_default=False
        ),
    ] = None,
    seed: Seed = 0,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> int:
    """Refine an overlay to fewer links: the same promise, never with more.

    The same effort and seed give the same links; the clock decides nothing. Ctrl-C ends it early: the best so far is
    written, verified. Needs no Spark.
    """
    out = out.absolute()
    check_destination(out, overwrite=overwrite, inputs=[overlay])
    gap = None if until_gap is None else _share(until_gap)
    start = Overlay.load(overlay)
    with narrated("refining") as narrator:
        bound = None
        if gap is not None:
            narrator("proving how few links are possible")
            bound = lower_bound(start.interest)
        until = None if bound is None or gap is None else int(bound.links * (1 + gap))

        def show(at: Progress) -> None:
            narrator(f"effort {at.spent:,.1f} of {at.effort:g}: {at.links:,} links, maximum degree {at.max_degree:,}")

        better = refine(
            start, effort=effort, objective=objective, k=k, shorten=shorten, until=until, progress=show, seed=seed
        )
        narrator("measuring and writing")
        better.save(out, overwrite=overwrite)
    done = better.report["refinement"]
    verdict = better.verify(done["k"])
    if as_json:
        facts = {"out": str(out), "ok": verdict.ok, "start_links": start.n_links, "links": better.n_links, **done}
        if bound is not None:
            facts["bound"] = bound.facts(better.n_links)
        print(json.dumps(facts, allow_nan=False))
    else:
        _print_curve(done["curve"], start.n_links)
        if np.array_equal(better.links, start.links):
            tell("nothing gained: the links stay as they were")
        if bound is not None:
            print(f"{better.n_links:,} links: {bound.sentence(better.n_links)}")
        tell(f"{'verified' if verdict.ok else 'NOT topic-connected, as before'}; wrote {out}")
    if done["stopped"]:
        return INTERRUPTED
    return 0 if verdict.ok else 1


def _share(text: str) -> float:
    """Read a share such as 5% or 0.05."""
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share < math.inf:
        raise InvalidOptionError(f"--until-gap {text!r} is no share; one such as 5% or 0.05 is accepted")
    return share


def _print_curve(curve: list[list[float]], start_links: int) -> None:
    """At most eleven points of the curve: effort, links, their share of those at the start, maximum degree."""
    shown = sorted({round(at * (len(curve) - 1) / 10) for at in range(11)})
    rows = [
        (f"{effort:,.2f}", format_number(links), f"{links / max(start_links, 1):.3f}", format_number(degree))
        for effort, links, degree in (curve[at] for at in shown)
    ]
    print_table(("effort", "links", "of the start's", "maximum degree"), rows)
