"""``topicloom bound``: how near the links of an overlay are to the fewest possible, with a proof to carry away."""

import gzip
import json
from pathlib import Path
from typing import Annotated

import typer

from topicloom.cli.console import narrated, tell
from topicloom.cli.option_groups import Json, Overwrite
from topicloom.errors import OutputExistsError
from topicloom.files.write.atomic import whole_file
from topicloom.methods.bounds import lower_bound
from topicloom.methods.bounds.certificate import certificate_lines
from topicloom.model import Overlay

EXAMPLE = "Example: topicloom bound overlay --certificate proof.txt.gz"


def command(
    overlay: Annotated[Path, typer.Argument(help="Overlay directory.")],
    certificate: Annotated[
        Path | None,
        typer.Option(help="File for the proof, which topicloom check reads; .gz packs it.", show_default=False),
    ] = None,
    effort: Annotated[float, typer.Option(help="Work to spend; 1 takes at most some minutes.")] = 1,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> int:
    """Prove how few links any overlay of the same subscriptions needs, and write the proof as a file.

    The file holds the links and the prices, in whole numbers. With it and the table of subscriptions anybody can check
    both claims without topicloom: python certificate_checker.py FILE SUBSCRIPTIONS.csv. Needs no Spark.
    """
    if certificate is not None and certificate.exists() and not overwrite:
        raise OutputExistsError(f"{certificate} exists; --overwrite replaces it")
    with narrated("reading the overlay") as narrator:
        given = Overlay.load(overlay)
        narrator("proving how few links are possible")
        found = lower_bound(given.interest, effort=effort)
        if certificate is not None:
            text = "".join(f"{line}\n" for line in certificate_lines(given, found)).encode("ascii")
            with whole_file(certificate.absolute()) as file:
                file.write(gzip.compress(text, mtime=0) if certificate.suffix == ".gz" else text)
    if as_json:
        print(json.dumps({**found.facts(given.n_links), "overlay_links": given.n_links}, allow_nan=False))
    else:
        print(f"{given.n_links:,} links: {found.sentence(given.n_links)}; no overlay has fewer than {found.links:,}")
    if certificate is not None:
        tell(f"wrote {certificate}; topicloom check {certificate} {overlay} verifies it")
    return 0
