"""Labels that are perhaps not meant as they are: look-alikes and patterns."""

from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

WILDCARD = r"(^|[/.])[#+>*]([/.]|$)"
_SHOWN = 3


class Finding(NamedTuple):
    """Something about labels that deserves a look.

    Attributes
    ----------
    kind : str
        "look-alikes" or "wildcards".
    what : str
        "node" or "topic".
    number : int
        Number of labels, or of groups of look-alikes.
    examples : tuple of tuples of str
        The first few: labels that look alike together, patterns alone.
    """

    kind: str
    what: str
    number: int
    examples: tuple[tuple[str, ...], ...]

    @property
    def sentence(self) -> str:
        """The finding in words."""
        shown = "; ".join(" and ".join(map(repr, labels)) for labels in self.examples)
        if self.kind == "wildcards":
            return (
                f"warning: {self.number:,} topics look like patterns, such as {shown}; each is taken as one exact name "
                "unless expand='mqtt' or expand='nats' is given"
            )
        return (
            f"warning: {self.number:,} times {self.what}s differ only by case, white space or Unicode form, "
            f"such as {shown}; they are kept apart"
        )


def folded(labels: pa.Array) -> pa.Array:
    """Labels without what people overlook: case, white space and Unicode normal form."""
    texts = pc.utf8_lower(pc.utf8_normalize(labels.cast(pa.string()), form="NFKC"))
    return pc.replace_substring_regex(texts, r"[\s\pZ\x{200B}\x{FEFF}]+", "")


def look_alikes(labels: pa.Array, what: str) -> Finding | None:
    """Find distinct labels that are the same after `folded`."""
    keys = folded(labels).dictionary_encode()
    counts = pc.value_counts(keys.indices)
    several = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
    if not len(several):
        return None
    groups = pa.table({"key": keys.indices, "label": labels}).filter(pc.is_in(keys.indices, several))
    grouped = groups.group_by("key", use_threads=False).aggregate([("label", "list")])
    examples = sorted(tuple(sorted(group)) for group in grouped["label_list"].to_pylist())
    return Finding("look-alikes", what, len(several), tuple(group[:_SHOWN] for group in examples[:_SHOWN]))


def wildcards(topics: pa.Array) -> Finding | None:
    """Find topics that are patterns of MQTT, NATS or AMQP."""
    found = topics.filter(pc.match_substring_regex(topics, WILDCARD))
    if not len(found):
        return None
    examples = sorted(found.to_pylist())[:_SHOWN]
    return Finding("wildcards", "topic", len(found), tuple((label,) for label in examples))


def findings(nodes: pa.Array, topics: pa.Array) -> tuple[Finding, ...]:
    """All findings about distinct labels of nodes and topics."""
    found: Sequence[Finding | None] = (look_alikes(nodes, "node"), look_alikes(topics, "topic"), wildcards(topics))
    return tuple(one for one in found if one is not None)
