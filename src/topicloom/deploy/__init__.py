"""From a plan to running brokers: inventory, names, configuration files by kind of broker, rehearsals on loopback."""

from topicloom.deploy.inventory import Broker, Inventory, Tls
from topicloom.deploy.planned_network import Network, Row
from topicloom.deploy.rehearsal import Rehearsal, rehearse
from topicloom.deploy.targets import TARGETS, Export, export, export_files, fits, write_export

__all__ = [
    "TARGETS",
    "Broker",
    "Export",
    "Inventory",
    "Network",
    "Rehearsal",
    "Row",
    "Tls",
    "export",
    "export_files",
    "fits",
    "rehearse",
    "write_export",
]
