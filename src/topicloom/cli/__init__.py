"""The command line: one file per command, the only place that prints."""

from topicloom.cli.app import entry, main

__all__ = ["entry", "main"]
