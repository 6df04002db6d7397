"""Files as people have them to rows of labels: listing, layout and parsing, by one set of rules for every engine.

No row is lost on the way: what cannot be used keeps its file, line and text, and gets a reason.
"""

from topicloom.files.read.read_options import LINKS, SUBSCRIPTIONS, ReadOptions
from topicloom.files.read.table import Reading, read_links, read_subscriptions

__all__ = ["LINKS", "SUBSCRIPTIONS", "ReadOptions", "Reading", "read_links", "read_subscriptions"]
