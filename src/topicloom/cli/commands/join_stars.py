"""``topicloom join-stars``: the links between sites, from their star sets alone."""

import json
from pathlib import Path
from typing import Annotated

import typer

from topicloom.cli.console import format_number, print_table, tell
from topicloom.cli.option_groups import Json, Overwrite
from topicloom.files.write.destination import check_destination
from topicloom.methods.star_sets import StarSet, join_stars
from topicloom.methods.star_sets.join_folder import load_sites, save

EXAMPLE = "Example: topicloom join-stars both site-a.stars site-b.stars"


def command(
    out: Annotated[Path, typer.Argument(help="Folder for the links between sites.")],
    stars: Annotated[list[Path], typer.Argument(help="Star sets, one of each site.", metavar="STARS...")],
    after: Annotated[
        list[Path], typer.Option(help="Folder of an earlier join of some of these sites.", show_default=False)
    ] = [],  # noqa: B006 - typer reads it and never writes
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> int:
    """Compute the links between sites: OUT/links/, and OUT/sites/ with those of each site's nodes.

    Every site that has the same files computes the same links. Needs no Spark.
    """
    out = out.absolute()
    inputs = [*stars, *after]
    check_destination(out, overwrite=overwrite, inputs=inputs)
    given = [StarSet.load(path) for path in stars]
    join = join_stars(given, after=[load_sites(folder) for folder in after])
    missing = {key for one in given for key in one.others} - {one.key for one in given}
    if missing:
        tell(f"star sets were made for {len(missing):,} more of the sites, which can join later with --after {out}")
    folders = save(join, out, inputs=inputs, overwrite=overwrite)
    counts = {site: len(join.links_of(site)) for site in join.sites}
    if as_json:
        print(json.dumps({"out": str(out), "ok": join.ok, **join.report, "site_links": counts, "folders": folders}))
        return 0 if join.ok else 1
    rows = [
        (site, format_number(join.report["star_nodes"][site]), format_number(count), folders[site])
        for site, count in counts.items()
    ]
    print_table(("site", "star nodes", "links", "its links"), rows)
    print(f"{len(join.links):,} links connect {join.report['shared_topics']:,} shared topics")
    provided = ", provided that the links of the earlier joins still stand" if after and join.ok else ""
    tell(f"{'verified' if join.ok else 'NOT connected'}{provided}; wrote {out}")
    return 0 if join.ok else 1
