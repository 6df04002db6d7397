"""Links that may not be: pairs from a table, and pairs of brokers of which neither may dial the other."""

from pathlib import Path

from topicloom.cli.commands.routes import load_inventory
from topicloom.cli.console import tell, visible
from topicloom.cli.option_groups import LinkOptions, TextOptions
from topicloom.files.read.read_options import ReadOptions
from topicloom.files.read.source_plan import plan_source
from topicloom.files.read.table import as_links, every_row, read_table
from topicloom.files.write.overlay_directory import read_forbidden
from topicloom.files.write.run_file import RUN_FILE
from topicloom.runs.bars import Bars
from topicloom.runs.sources import part_of_overlay


def bars_of(pairs: Path | None, inventory: Path | None, links: LinkOptions, text: TextOptions) -> Bars | None:
    """What a table of pairs and an inventory forbid. Returns None without either.

    Raises
    ------
    InputNotFoundError, MissingColumnError, UnreadableInputError, InvalidOptionError
        A table cannot be read, or a row of the pairs cannot be used.
    """
    if pairs is None and inventory is None:
        return None
    named = () if pairs is None else tuple(read_pairs(pairs, links.wanted_as(text)))
    return Bars(named, None if inventory is None else load_inventory(inventory, text)[0].brokers)


def forbidden_of(subscriptions: str, links: str, options: ReadOptions) -> list[tuple[str, str]]:
    """Those of the links that an overlay directory among the two arguments forbids, by name."""
    folders = [Path(argument) for argument in {subscriptions, links} if "://" not in argument]
    kept = [read_forbidden(folder) for folder in folders if (folder / RUN_FILE).is_file()]
    if not any(kept):
        return []
    table = as_links(read_table(plan_source(part_of_overlay(links, "links"), options))).table
    ends = zip(*(table[end].to_pylist() for end in ("src", "dst")))
    return [(u, v) for u, v in ends if any(forbidden.forbids(u, v) for forbidden in kept)]


def tell_of_forbidden(links: list[tuple[str, str]]) -> None:
    """Say that links are forbidden, if any are."""
    if links:
        u, v = map(visible, links[0])
        tell(f"{len(links):,} links are forbidden by the overlay directory, such as {u} – {v}")


def read_pairs(path: Path, wanted: ReadOptions) -> list[tuple[str, str]]:
    """Pairs of labels from a table of links. Every row of it counts: one that cannot be used is an error."""
    table = every_row(str(path), wanted).table
    return list(zip(*(table[name].to_pylist() for name in table.column_names[:2])))
