"""From a plan to running brokers: steps, inventory, names, configuration files by kind of broker, rehearsals."""

from topicloom.brokers.changes import Steps, diff
from topicloom.brokers.inventory import Broker, Inventory, Tls
from topicloom.brokers.planned_network import Network, Row
from topicloom.brokers.rehearsal.rehearsal import Rehearsal, rehearse
from topicloom.brokers.targets import TARGETS, Export, export, export_files, fits, write_export

__all__ = [
    "TARGETS",
    "Broker",
    "Export",
    "Inventory",
    "Network",
    "Rehearsal",
    "Row",
    "Steps",
    "Tls",
    "diff",
    "export",
    "export_files",
    "fits",
    "rehearse",
    "write_export",
]
