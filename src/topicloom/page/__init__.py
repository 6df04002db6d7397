"""One self-contained HTML page for an overlay: what it is, what breaks it, and what a change does to it."""

from topicloom.page.document import document
from topicloom.page.notebook import Page
from topicloom.page.shown_overlay import Picture, gather

__all__ = ["Page", "Picture", "document", "gather"]
