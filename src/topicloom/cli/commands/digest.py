"""``topicloom digest``: salted hashes of a site's topics, for sites that want to join."""

import json
from pathlib import Path
from typing import Annotated

import typer

from topicloom.cli.console import tell
from topicloom.cli.option_groups import Json, Overwrite
from topicloom.methods.star_sets import topic_digest
from topicloom.model import Overlay

EXAMPLE = "Example: topicloom digest site-a site-a.digest --salt 2026-11-spring    (then: topicloom star-set)"

Site = Annotated[
    str | None, typer.Option(help="What the site calls itself.  [default: name of the folder]", show_default=False)
]


def command(
    overlay: Annotated[Path, typer.Argument(help="Overlay directory of this site.")],
    out: Annotated[Path, typer.Argument(help="File for the digest, to be sent to the other sites.")],
    salt: Annotated[str, typer.Option(help="Text that all sites of the join have agreed on.")],
    site: Site = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> int:
    """Write salted hashes of this site's topics, so that sites learn which topics they share.

    Anybody who has the file can count the topics and test guesses; it holds no name. Needs no Spark.
    """
    digest = topic_digest(Overlay.load(overlay).interest, salt=salt, site=site or overlay.absolute().name)
    digest.save(out, overwrite=overwrite)
    if as_json:
        print(json.dumps({"out": str(out), "site": digest.site, "topics": len(digest.topics)}))
    else:
        print(f"{len(digest.topics):,} topics of {digest.site!a} as salted hashes")
    tell(f"wrote {out}. Anybody who has it can count the topics and test whether a guessed name is among them.")
    return 0
