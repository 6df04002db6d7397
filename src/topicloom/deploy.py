"""From a plan to running brokers: inventory, names, configuration files by kind of broker, rehearsals on loopback."""

from topicloom.brokers.inventory import Broker, Inventory, Tls
from topicloom.brokers.planned_network import Network, Row
from topicloom.brokers.rehearsal import Rehearsal, rehearse
from topicloom.brokers.targets import TARGETS, Export, export, export_files, fits, write_export

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
