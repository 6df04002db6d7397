"""Gates: files that open and shut rows at brokers that run, and what to put in place when a broker dies."""

from collections.abc import Iterable, Set
from typing import Protocol

from topicloom.brokers.planned_network import Row, Site


class Gates(Protocol):
    """How one kind of broker opens and shuts rows while it runs.

    Every broker reads a file of its own again when it gets SIGHUP.

    Attributes
    ----------
    fenced
        Whether a broker that was dead has to boot with every row shut until the others take it in again.
    steps
        Whether a death is healed in two steps: what moves is shut everywhere before it is opened.
    """

    fenced: bool
    steps: bool

    def path(self, slug: str) -> str:
        """Path of the file that a running broker reads again."""

    def fenced_path(self, slug: str) -> str:
        """Path of the file in which every row is shut; only where `fenced`."""

    def texts(self, site: Site, nodes: Iterable[str], opened: Set[Row]) -> dict[str, str]:
        """Broker to the text that lets these rows through and no other row."""

    def between(self, site: Site, nodes: Iterable[str], before: Set[Row], after: Set[Row]) -> dict[str, str]:
        """Broker to the text of the step between, in which everything that moves is shut."""

    def touched(self, site: Site, before: Set[Row], after: Set[Row]) -> set[str]:
        """Brokers whose text may differ."""

    def moves(self, row: Row, node: str) -> bool:
        """Whether a row is opened and shut at this broker."""


def failover_path(gates: Gates, dead: str, slug: str) -> str:
    """Path of the file of a broker after another one has died."""
    return f"failover/{dead}/{gates.path(slug)}"


def shut_path(gates: Gates, dead: str, slug: str) -> str:
    """Path of the file of the step between, where there are two."""
    return f"failover/{dead}/shut/{gates.path(slug)}"


def failover_files(gates: Gates, site: Site) -> dict[str, str]:
    """For every broker that may die: the new file of each broker that has to change, and a table of them."""
    files, table, opened = {}, ["dead,broker,file,opens,shuts"], site.network.open_rows()
    for dead in site.network.nodes:
        after = site.network.open_rows(dead)
        touched = sorted(gates.touched(site, opened, after) - {dead})
        shut = gates.between(site, touched, opened, after) if gates.steps else {}
        for node, text in gates.texts(site, touched, after).items():
            path = failover_path(gates, site.slugs[dead], site.slugs[node])
            files[path] = text
            if gates.steps:
                files[shut_path(gates, site.slugs[dead], site.slugs[node])] = shut[node]
            opens, shuts = (sum(gates.moves(row, node) for row in rows) for rows in (after - opened, opened - after))
            table.append(f"{site.slugs[dead]},{site.slugs[node]},{path},{opens},{shuts}")
    files["failover.csv"] = "\n".join(table) + "\n"
    return files
