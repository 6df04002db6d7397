"""The version, alone in a module so that a build can read it without importing the rest."""

__version__ = "0.2.0"
