"""What a target gets: a network, its brokers and their slugs, all checked."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from topicloom.deploy.inventory import Broker
from topicloom.deploy.planned_network import Network, Row


@dataclass(frozen=True)
class Site:
    """A network with the place and the slug of every broker.

    Attributes
    ----------
    network
        Rows by topic and link.
    brokers
        Node to its entry in the inventory, with the version that is written for.
    slugs
        Node to its slug, which is what files may hold.
    gates
        Whether rows can be opened and shut while brokers run.
    prefix
        Folder of the files on the brokers' machines, ending in ``/``, or empty.
    """

    network: Network
    brokers: Mapping[str, Broker]
    slugs: Mapping[str, str]
    gates: bool
    prefix: str

    @cached_property
    def dialled_by(self) -> dict[str, list[str]]:
        """Owner to the brokers that it dials."""
        return _grouped((owner, acceptor) for owner, acceptor in self.network.links)

    @cached_property
    def accepted_by(self) -> dict[str, list[str]]:
        """Acceptor to the brokers that dial it."""
        return _grouped((acceptor, owner) for owner, acceptor in self.network.links)

    def link_rows(self, owner: str, acceptor: str) -> tuple[Row, ...]:
        """Rows of a link, active and standby, by topic."""
        return self.network.links[owner, acceptor]


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return {key: sorted(values) for key, values in found.items()}
