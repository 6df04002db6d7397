"""``topicloom join``: one overlay of several that have no node in common."""

import json
from pathlib import Path
from typing import Annotated

import typer

from topicloom.cli.console import format_number, narrated, print_table, tell
from topicloom.cli.option_groups import Json, Overwrite, Seed
from topicloom.files.write.destination import check_destination
from topicloom.judge import verify
from topicloom.methods import join
from topicloom.methods.bounds import LowerBound, lower_bound
from topicloom.model import Overlay

_CLASSES = {"star": "star nodes", "other": "other nodes"}

EXAMPLE = "Example: topicloom join both site-a site-b --method star-merge"


def command(
    out: Annotated[Path, typer.Argument(help="Folder for the joined overlay directory.")],
    overlays: Annotated[list[Path], typer.Argument(help="Two or more overlay directories.")],
    method: Annotated[
        str, typer.Option(help="star-merge (fast, few nodes need to know each other) or naive-merge (fewest links).")
    ] = "star-merge",
    bound: Annotated[
        bool, typer.Option("--bound", help="Prove how near the links are to the fewest that any join has.")
    ] = False,
    seed: Seed = 0,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> int:
    """Join topic-connected overlays that have no node in common. None of their links is touched.

    Says what was added; the result is verified. Nodes and topics are known by their labels. Needs no Spark.
    """
    out = out.absolute()
    check_destination(out, overwrite=overwrite, inputs=overlays)
    given = [Overlay.load(folder) for folder in overlays]
    joined = join([(overlay.interest, overlay) for overlay in given], method=method, seed=seed)
    verdict = verify(joined.interest, joined.links)
    joined.save(out, overwrite=overwrite)
    report = joined.report
    proved = _bound(joined) if bound else None
    if as_json:
        facts = {"out": str(out), "method": method, "ok": verdict.ok, "links": joined.n_links, **report}
        facts |= {} if proved is None else {"bound": proved.facts(joined.n_links)}
        print(json.dumps(facts, allow_nan=False))
        return 0 if verdict.ok else 1
    rows = [
        (folder.name, *(format_number(part[what]) for what in ("nodes", "links", "stars")))
        for folder, part in zip(overlays, report["overlays"])
    ]
    rows.append(
        (
            "joined",
            format_number(joined.interest.n_nodes),
            format_number(joined.n_links),
            format_number(report["star_nodes"]),
        )
    )
    print_table(("overlay", "nodes", "links", "candidates" if method == "naive-merge" else "star nodes"), rows)
    print(
        f"{report['outer_links']:,} links added to the {report['inner_links']:,} there were; "
        f"a node had to consider at most {report['pn_ratio']:.1%} of all nodes"
    )
    for name, ratios in report["pn_ratios"].items():
        print(f"  {_CLASSES[name]}: {ratios['mean']:.1%} on average, {ratios['max']:.1%} at most")
    if proved is not None:
        print(f"of all joins of these overlays: {proved.sentence(joined.n_links)}")
    tell(f"{'verified' if verdict.ok else 'NOT topic-connected'}; wrote {out}")
    return 0 if verdict.ok else 1


def _bound(joined: Overlay) -> LowerBound:
    """Prove how few links a join has that keeps all links of the overlays joined."""
    with narrated("proving how few links are possible"):
        return lower_bound(joined.interest, standing=joined.links[: joined.report["inner_links"]])
