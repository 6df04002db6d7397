"""The command line: one file per command, the only place that prints."""

from topicloom.extras import needing

with needing("cli", "the command topicloom"):
    from topicloom.cli.app import entry, main

__all__ = ["entry", "main"]
