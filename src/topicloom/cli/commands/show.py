"""``topicloom show``: one page that shows an overlay, what breaks it, and what a change does to it."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from topicloom.brokers.inventory import Inventory
from topicloom.cli.console import narrated, tell
from topicloom.cli.option_groups import Overwrite
from topicloom.errors import InputNotFoundError, InvalidOptionError, OutputExistsError
from topicloom.model import Overlay
from topicloom.model.arrays import Int32Array
from topicloom.page import Page, document, gather
from topicloom.routing import Plan, Routes

EXAMPLE = "Example: topicloom show overlay page.html --plan plan --before overlay-of-last-year"


def command(
    overlay: Annotated[Path, typer.Argument(help="Overlay directory, or a plan that topicloom routes wrote.")],
    page: Annotated[Path, typer.Argument(help="HTML file to write.")],
    plan: Annotated[
        Path | None, typer.Option(help="Plan of this overlay: shows which links each topic uses.", show_default=False)
    ] = None,
    before: Annotated[
        Path | None,
        typer.Option(help="Overlay or plan that this one replaces: shows what changes.", show_default=False),
    ] = None,
    compare: Annotated[
        Path | None, typer.Option(help="Folder of topicloom compare: adds its table.", show_default=False)
    ] = None,
    inventory: Annotated[
        Path | None, typer.Option(help="Brokers with their sites: groups the picture by site.", show_default=False)
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title of the page.  [default: name of the folder]")] = None,
    overwrite: Overwrite = False,
) -> int:
    """Write one self-contained HTML page: is it right, what is fragile, who links whom and why, what breaks.

    The page needs no network, and opens in any browser and from a mail attachment. Needs no Spark.
    """
    page = page.absolute()
    if page.exists() and not overwrite:
        raise OutputExistsError(f"{page} exists; --overwrite replaces it")
    with narrated("reading") as narrator:
        shown, routes = _given(overlay)
        if plan is not None:
            routes = Plan.load(plan).routes
            _check_same(shown, routes, plan)
        earlier = None if before is None else _links_before(shown, _given(before)[0])
        compared = [] if compare is None else _results(compare)
        sites = None if inventory is None else _sites(inventory)
        narrator("judging, measuring and drawing")
        picture = gather(
            shown,
            title=title or overlay.absolute().name,
            routes=routes,
            before=earlier,
            compared=compared,
            sites=sites,
        )
        Page(picture.title, document(picture)).save(page, overwrite=overwrite)
    tell(f"wrote {page} ({page.stat().st_size / 1e6:,.2f} MB); open it in any browser")
    return 0


def _given(folder: Path) -> tuple[Overlay, Routes | None]:
    """Return the overlay of a folder, and its routes where the folder is a plan."""
    if (folder / "plan.json").is_file():
        routes = Plan.load(folder).routes
        return Overlay(routes.interest, routes.links, "plan"), routes
    return Overlay.load(folder), None


def _check_same(overlay: Overlay, routes: Routes, plan: Path) -> None:
    if Overlay(routes.interest, routes.links) != overlay:
        raise InvalidOptionError(f"{plan} is not a plan of this overlay; topicloom routes makes one")


def _links_before(overlay: Overlay, earlier: Overlay) -> Int32Array:
    """Return the earlier links between nodes of the overlay. Links of nodes that are gone cannot be drawn."""
    names = [earlier.interest.node_name(v) for v in range(earlier.interest.n_nodes)]
    known = {overlay.interest.node_name(v) for v in range(overlay.interest.n_nodes)}
    kept = [(names[u], names[v]) for u, v in earlier.links.tolist() if names[u] in known and names[v] in known]
    if len(kept) < earlier.n_links:
        tell(f"{earlier.n_links - len(kept):,} earlier links are of brokers that are gone, and not drawn")
    return Overlay.from_links(overlay.interest, kept).links if kept else overlay.links[:0]


def _results(folder: Path) -> list[dict[str, Any]]:
    path = folder / "results.json"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))["results"]
    except (OSError, ValueError, KeyError, TypeError):
        raise InputNotFoundError(f"{folder} has no readable results.json, as topicloom compare writes it") from None
    return list(found)


def _sites(inventory: Path) -> dict[str, str]:
    return {name: broker.site or "" for name, broker in Inventory.load(inventory).brokers.items()}
