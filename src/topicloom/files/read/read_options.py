"""How a table is to be read: which columns, and what the user says about its files."""

import codecs
from dataclasses import dataclass, replace
from typing import Any, Self, TypedDict, Unpack

from topicloom.errors import InvalidOptionError

FORMATS = ("csv", "tsv", "json", "parquet", "xlsx")
SEPARATORS = (",", ";", "\t", "|")
SEPARATOR_NAMES = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "pipe": "|", "space": " "}
# What people write in a column of roles, in lower case, and the role that is meant.
ROLE_WORDS = {
    **dict.fromkeys(("publish", "publisher", "publishes", "pub", "p"), "publish"),
    **dict.fromkeys(("subscribe", "subscriber", "subscribes", "sub", "s"), "subscribe"),
    **dict.fromkeys(("both", "ps", "sp", "p/s", "p+s", "pub/sub", "pubsub", "pub+sub"), "both"),
}


@dataclass(frozen=True)
class TableKind:
    """What a table holds: the names of its two columns, and the names that people give to such columns."""

    what: str
    names: tuple[str, str]
    parameters: tuple[str, str]
    likely: tuple[tuple[str, ...], tuple[str, ...]]


SUBSCRIPTIONS = TableKind(
    "subscriptions",
    ("node", "topic"),
    ("node_column", "topic_column"),
    (
        ("node", "broker", "client", "clientid", "subscriber", "peer", "host", "server", "device", "consumer", "user",
         "account", "service", "instance", "publisher", "name", "id"),
        ("topic", "subject", "filter", "topicfilter", "channel", "pattern", "queue", "subscription", "key", "stream",
         "feed", "interest", "topics", "subjects", "filters", "channels"),
    ),
)  # fmt: skip
RATES = TableKind(
    "rates",
    ("topic", "rate"),
    ("topic_column", "rate_column"),
    (
        ("topic", "subject", "filter", "channel", "stream", "key", "name", "id"),
        ("rate", "rates", "weight", "messages", "frequency", "load", "traffic"),
    ),
)
LINKS = TableKind(
    "links",
    ("src", "dst"),
    ("src_column", "dst_column"),
    (
        ("src", "source", "from", "left", "a", "u", "node1", "broker1", "start", "local"),
        ("dst", "target", "to", "destination", "right", "b", "v", "node2", "broker2", "end", "remote", "dest"),
    ),
)


class SubscriptionWords(TypedDict, total=False):
    """What readers of subscriptions take as keywords. `topicloom.read_subscriptions` says what each of them means."""

    node_column: str | None
    topic_column: str | None
    role_column: str | None
    format: str | None
    separator: str | None
    encoding: str | None
    header: bool | None
    topics_separator: str | None
    skip_lines: int
    trim: bool
    sheet: str | None


class LinkWords(TypedDict, total=False):
    """What readers of links take as keywords."""

    src_column: str | None
    dst_column: str | None
    format: str | None
    separator: str | None
    encoding: str | None
    header: bool | None
    skip_lines: int
    trim: bool
    sheet: str | None


@dataclass(frozen=True)
class ReadOptions:
    """What is asked for, and what is said about the files. None means that it is found out.

    Attributes
    ----------
    kind : TableKind
        Subscriptions, links or rates.
    first, second : str, optional
        Names of the two columns; those of the kind unless given. Positions, counted from 1, in files without a header.
    role : str, optional
        Name of the column that holds roles.
    format : str, optional
        One of csv, tsv, json, parquet, xlsx.
    separator, encoding : str, optional
        Of text files.
    header : bool, optional
        False: the first line of CSV files is data.
    topics_separator : str, optional
        What separates the topics of a row that holds several of them.
    skip_lines : int
        Lines of text, or rows of a sheet, before the one that names the columns.
    trim : bool
        Whether labels lose the blanks at their ends.
    sheet : str, optional
        Which sheet of a workbook; the first one unless given.
    likely_separator : str, optional
        Tried before the usual ones. It is that of another table of the same command.
    """

    kind: TableKind = SUBSCRIPTIONS
    first: str | None = None
    second: str | None = None
    role: str | None = None
    format: str | None = None
    separator: str | None = None
    encoding: str | None = None
    header: bool | None = None
    topics_separator: str | None = None
    skip_lines: int = 0
    trim: bool = False
    sheet: str | None = None
    likely_separator: str | None = None

    @classmethod
    def of_subscriptions(cls, **words: Unpack[SubscriptionWords]) -> Self:
        """Options from the keywords of `topicloom.read_subscriptions`."""
        given: dict[str, Any] = dict(words)
        first, second, role = (given.pop(name, None) for name in ("node_column", "topic_column", "role_column"))
        return cls(SUBSCRIPTIONS, first, second, role, **given)

    @classmethod
    def of_links(cls, **words: Unpack[LinkWords]) -> Self:
        """Options from the keywords of `topicloom.read_links`."""
        given: dict[str, Any] = dict(words)
        first, second = (given.pop(name, None) for name in ("src_column", "dst_column"))
        return cls(LINKS, first, second, **given)

    @property
    def names(self) -> tuple[str, str]:
        """The names of the two columns."""
        return self.first or self.kind.names[0], self.second or self.kind.names[1]

    def checked(self) -> "ReadOptions":
        """Return the same options with the separator spelled out. Refuses what cannot be meant."""
        first, second = self.names
        if len({first, second, self.role}) < 3:
            raise InvalidOptionError(f"the columns are {first!r}, {second!r} and {self.role!r}; each has its own name")
        if self.format is not None and self.format not in FORMATS:
            raise InvalidOptionError(f"there is no format {self.format!r}; the formats are {', '.join(FORMATS)}")
        if self.encoding is not None:
            _check_encoding(self.encoding)
        if self.topics_separator == "":
            raise InvalidOptionError("the topics separator is empty; give the text between two topics, such as '|'")
        if self.skip_lines < 0:
            raise InvalidOptionError(f"{self.skip_lines} lines cannot be skipped; 0 or more are accepted")
        between = {"\\n": "\n", "\\t": "\t"}.get(self.topics_separator or "", self.topics_separator)
        spelled = (None if one is None else _separator(one) for one in (self.separator, self.likely_separator))
        separator, likely = spelled
        return replace(self, separator=separator, likely_separator=likely, topics_separator=between)


def _separator(text: str) -> str:
    found = SEPARATOR_NAMES.get(text.lower(), text)
    if len(found) != 1 or not found.isascii() or found in '"\r\n\0':
        raise InvalidOptionError(
            f"the separator {text!r} is not one ASCII character; give ',', ';', '|', tab or another one"
        )
    return found


def _check_encoding(encoding: str) -> None:
    try:
        info: Any = codecs.lookup(encoding)
        usable = bool(info._is_text_encoding) and info.incrementaldecoder is not None
    except (LookupError, ValueError):
        usable = False
    if not usable:
        raise InvalidOptionError(
            f"there is no encoding {encoding!r}; utf-8, utf-16, latin-1 and cp1252 are common ones"
        )
