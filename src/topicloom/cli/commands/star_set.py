"""``topicloom star-set``: few nodes that stand for the topics which other sites have too."""

import json
from pathlib import Path
from typing import Annotated

import typer

from topicloom.cli.commands.digest import Site
from topicloom.cli.console import tell
from topicloom.cli.option_groups import Json, Overwrite, Seed
from topicloom.methods.star_sets import TopicDigest, star_set
from topicloom.model import Overlay

EXAMPLE = "Example: topicloom star-set site-a site-a.stars --others site-b.digest site-c.digest"


def command(
    overlay: Annotated[Path, typer.Argument(help="Overlay directory of this site; it must be topic-connected.")],
    out: Annotated[Path, typer.Argument(help="File for the star set.")],
    others: Annotated[list[Path], typer.Option(help="Digests of the other sites, one or more.")],
    more: Annotated[list[Path] | None, typer.Argument(help="Further digests.", metavar="[DIGEST]...")] = None,
    site: Site = None,
    seed: Seed = 0,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> int:
    """Write this site's star nodes with the shared topics that they stand for, and nothing else.

    Topics are written as hashes; those that no other site has do not occur. Needs no Spark.
    """
    digests = [TopicDigest.load(path) for path in [*others, *(more or [])]]
    given = Overlay.load(overlay)
    stars = star_set(given, others=digests, site=site or overlay.absolute().name, seed=seed)
    stars.save(out, overwrite=overwrite)
    shared = len(stars.topics)
    facts = {"site": stars.site, "star_nodes": len(stars.stars), "shared_topics": shared, "others": len(stars.others)}
    if as_json:
        print(json.dumps({"out": str(out), **facts}))
    else:
        print(
            f"{len(stars.stars):,} of {given.interest.n_nodes:,} nodes stand for the {shared:,} topics that "
            f"{len(stars.others):,} other {'site has' if len(stars.others) == 1 else 'sites have'} too; "
            "the other topics do not occur"
        )
    tell(f"wrote {out}")
    return 0
