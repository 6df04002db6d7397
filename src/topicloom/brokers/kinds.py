"""The kinds of brokers. A kind is a folder of this room, and nothing outside the folder names it.

To add one, write a folder ``brokers/NAME/`` whose package holds a `Kind` called ``KIND``. `KINDS` finds it there. The
library, the commands and their options take it from `KINDS`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, NamedTuple, Protocol

from topicloom.brokers.planned_network import Site
from topicloom.errors import InvalidOptionError

if TYPE_CHECKING:
    from topicloom.brokers.auditing.audit_effort import Effort
    from topicloom.brokers.auditing.traffic import Mesh
    from topicloom.brokers.rehearsal.stage import Runner

RESTART, RELOAD, GATE, CONFIGURE = "restart", "reload", "gate", "configure"


class ChangedRow(NamedTuple):
    """A row that differs between two plans, as a broker at one of its ends sees it.

    Attributes
    ----------
    version
        Of the broker, as numbers; (0,) where it is not known.
    dials
        Whether this broker dials the link.
    ready
        Whether the row stands in both plans, open in one and shut in the other.
    same_link
        Whether the link carries rows in both plans.
    """

    version: tuple[int, ...]
    dials: bool
    ready: bool
    same_link: bool


class Target(Protocol):
    """What is written for one kind of broker. It is pure: checked networks, slugs and inventories in, texts out."""

    default_version: str
    ordered: bool
    """Whether a broker is better started after those that it dials."""
    needs_forests: bool
    """Whether the number of forests counts, so that a plan for this kind has few of them."""
    holds_both: bool
    """Whether rows of two plans may live at once: duplicates, but no storm."""

    def refused_version(self, version: str) -> str | None:
        """Say why a version cannot be used, or None."""

    def misfit(self, topic: str, version: str) -> str | None:
        """Say why a topic cannot be carried unchanged, or None. Names unsafe everywhere are refused before."""

    def config_path(self, slug: str) -> str:
        """Path, inside the export, of the file that a broker is started with."""

    def files(self, site: Site) -> dict[str, str]:
        """Every file of the export: path to text. Equal sites give equal texts."""

    def notes(self, site: Site) -> tuple[str, ...]:
        """Return warnings for the person who puts the files in place, such as what is missing."""

    def takes(self, row: ChangedRow) -> str | None:
        """How a broker takes a changed row: `RESTART`, `RELOAD` or `GATE`, or None where it has nothing to do."""


class Reader(Protocol):
    """How configurations of one kind are read for an audit."""

    mains: tuple[str, ...]
    """Names that the configuration of a broker has when its folder is named like the broker."""

    def likeness(self, text: str) -> float:
        """Say how much a configuration looks like one of this kind, from 0 to 1. The first kind of the highest wins."""

    def mesh(
        self,
        files: Mapping[str, tuple[Path, str]],
        known: Mapping[tuple[str, int], str],
        effort: "Effort",
        *,
        exported: bool,
    ) -> "Mesh":
        """Read brokers from (path, label) by name. ``exported`` says that topicloom wrote the files."""


@dataclass(frozen=True)
class Kind:
    """Every fact of one kind of broker.

    Attributes
    ----------
    name
        As inventories and options have it.
    title
        As sentences have it.
    target
        What is written for it.
    runner
        How it is run in a rehearsal; None where it is not.
    reader
        How its configurations are read for an audit; None where they are not.
    """

    name: str
    title: str
    target: Target
    runner: "type[Runner] | None" = None
    reader: Reader | None = None


class Kinds(Mapping[str, Kind]):
    """Every kind by its name, sorted. The folders are searched when the first kind is asked for."""

    @cached_property
    def _found(self) -> dict[str, Kind]:
        room = import_module("topicloom.brokers")
        folders = [found.name for found in iter_modules(room.__path__) if found.ispkg]
        packages = [import_module(f"{room.__name__}.{name}") for name in sorted(folders)]
        kinds = [package.KIND for package in packages if hasattr(package, "KIND")]
        return {kind.name: kind for kind in kinds}

    def __getitem__(self, name: str) -> Kind:
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


KINDS = Kinds()


def target_named(name: str) -> Target:
    """Find the target of that name. An error lists those there are."""
    if name not in KINDS:
        raise InvalidOptionError(f"there is no target {name!r}; there are {', '.join(KINDS)}")
    return KINDS[name].target
