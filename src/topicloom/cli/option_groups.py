"""Options that several commands share, alone and in groups."""

import inspect
from collections.abc import Callable
from copy import copy
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, get_args, get_origin, get_type_hints

import typer

from topicloom.cli.panels import OF_LINKS, OF_NETWORKS, OF_SPARK, OF_TABLES
from topicloom.files.read.read_options import RATES, ReadOptions

Master = Annotated[
    str | None,
    typer.Option(
        help="Spark master, such as spark://host:7077.  [default: local[*,4]]",
        show_default=False,
        rich_help_panel=OF_SPARK,
    ),
]
Remote = Annotated[
    str | None, typer.Option(help="Spark Connect server, such as sc://host:15002.", rich_help_panel=OF_SPARK)
]
Conf = Annotated[
    list[str],
    typer.Option(
        help="Spark setting key=value; may be given several times.", show_default=False, rich_help_panel=OF_SPARK
    ),
]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="Show Spark's own output, and tracebacks.", rich_help_panel=OF_SPARK),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Overwrite = Annotated[
    bool,
    typer.Option("--overwrite", help="Replace OUT if it exists; the old one stays until the new one is complete."),
]
ExactDiameters = Annotated[
    bool,
    typer.Option(
        "--exact-diameters",
        help="Search for exact topic diameters; those of very large topics are lower bounds otherwise.",
    ),
]
Seed = Annotated[int, typer.Option(help="Same seed, same result.")]
NodeColumn = Annotated[
    str | None, typer.Option(help="Column that holds the nodes.  [default: node]", show_default=False)
]
TopicColumn = Annotated[
    str | None, typer.Option(help="Column that holds the topics.  [default: topic]", show_default=False)
]
Format = Annotated[
    str | None,
    typer.Option(help="csv, tsv, json (lines), parquet or xlsx.  [default: by file name]", show_default=False),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of text names the columns, as it must, or is data.  [default: header]",
        show_default=False,
    ),
]
RoleColumn = Annotated[
    str | None, typer.Option(help="Column that says publish, subscribe or both; kept.", show_default=False)
]
Separator = Annotated[
    str | None,
    typer.Option(help="Between the fields of a line: , ; | tab.  [default: found out]", show_default=False),
]
Encoding = Annotated[
    str | None,
    typer.Option(help="Of all text files given, such as latin-1.  [default: UTF-8 or UTF-16]", show_default=False),
]
Trim = Annotated[
    bool, typer.Option("--trim", help="Take blanks off both ends of labels, in all tables.", show_default=False)
]
SkipLines = Annotated[
    int, typer.Option(help="Lines above the one that names the columns.  [default: 0]", show_default=False)
]
Sheet = Annotated[str | None, typer.Option(help="Sheet of a workbook.  [default: the first]", show_default=False)]
Lenient = Annotated[
    bool,
    typer.Option("--lenient", help="Exit code as usual where over 5 % of the rows are rejected.", show_default=False),
]
TopicsSeparator = Annotated[
    str | None, typer.Option(help="Between the topics of one field, if it holds several.", show_default=False)
]
Expand = Annotated[
    str | None,
    typer.Option(help="Replace patterns by the topics that they match: mqtt or nats.", show_default=False),
]
SrcColumn = Annotated[str | None, typer.Option(help="Column of one end.  [default: src]", show_default=False)]
DstColumn = Annotated[str | None, typer.Option(help="Column of the other.  [default: dst]", show_default=False)]
LinksHeader = Annotated[
    bool | None,
    typer.Option("--links-header/--links-no-header", help="As --header/--no-header, for links.", show_default=False),
]
LinksSkipLines = Annotated[int, typer.Option(help="As --skip-lines, for links.  [default: 0]", show_default=False)]
RateColumn = Annotated[
    str | None, typer.Option(help="Column that holds the rates.  [default: rate]", show_default=False)
]
Subscriptions = Annotated[
    str,
    typer.Argument(
        help="File, folder or pattern of CSV and the like, JSON lines, Parquet or .xlsx, a node and a topic a row; "
        "or an overlay directory."
    ),
]
Links = Annotated[str, typer.Argument(help="Overlay directory, or a file, folder or glob with columns src and dst.")]


class OptionGroup:
    """Options that belong together: a parameter of a command that is one becomes its options on the command line."""

    panel: ClassVar[str | None] = None  # the heading over them on the help page

    @classmethod
    def parameters(cls) -> list[inspect.Parameter]:
        """Return the options as parameters of a function. Those of a dataclass are its fields."""
        hints = get_type_hints(cls, include_extras=True)
        return [
            inspect.Parameter(
                option.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=option.default if option.default_factory is MISSING else option.default_factory(),
                annotation=_in_panel(hints[option.name], cls.panel),
            )
            for option in fields(cls)  # type: ignore[arg-type]
        ]

    @classmethod
    def of(cls, **given: Any) -> Self:
        """Put together what was given on the command line."""
        return cls(**given)


@dataclass(frozen=True)
class TextOptions(OptionGroup):
    """What holds for every table that a command reads."""

    panel = OF_TABLES
    separator: Separator = None
    encoding: Encoding = None
    trim: Trim = False


@dataclass(frozen=True)
class TableOptions(TextOptions):
    """How a table of subscriptions is to be read."""

    node_column: NodeColumn = None
    topic_column: TopicColumn = None
    format: Format = None
    header: Header = None
    skip_lines: SkipLines = 0
    sheet: Sheet = None
    role_column: RoleColumn = None
    topics_separator: TopicsSeparator = None
    expand: Expand = None
    lenient: Lenient = False

    @property
    def wanted(self) -> ReadOptions:
        """The same, as readers take it."""
        words: Any = {name: value for name, value in vars(self).items() if name not in ("expand", "lenient")}
        return ReadOptions.of_subscriptions(**words)


@dataclass(frozen=True)
class LinkOptions(OptionGroup):
    """How a table of links is to be read."""

    panel = OF_LINKS
    src_column: SrcColumn = None
    dst_column: DstColumn = None
    links_header: LinksHeader = None
    links_skip_lines: LinksSkipLines = 0

    def wanted_as(self, text: TextOptions) -> ReadOptions:
        """The same, as readers take it, for a table that stands beside another one."""
        asked = ReadOptions.of_links(
            src_column=self.src_column,
            dst_column=self.dst_column,
            header=self.links_header,
            skip_lines=self.links_skip_lines,
            encoding=text.encoding,
            trim=text.trim,
        )
        return replace(asked, likely_separator=text.separator)


@dataclass(frozen=True)
class RateOptions(OptionGroup):
    """How a table of rates is to be read."""

    panel = OF_TABLES
    topic_column: TopicColumn = None
    rate_column: RateColumn = None
    header: Header = None
    skip_lines: SkipLines = 0

    def wanted_as(self, text: TextOptions) -> ReadOptions:
        """The same, as readers take it."""
        return ReadOptions(
            RATES,
            self.topic_column,
            self.rate_column,
            separator=text.separator,
            encoding=text.encoding,
            header=self.header,
            skip_lines=self.skip_lines,
            trim=text.trim,
        )


@dataclass(frozen=True)
class NetworkOptions(OptionGroup):
    """The network that there is, and what is asked of a design for it."""

    panel = OF_NETWORKS

    network: Annotated[
        Path | None,
        typer.Option(
            help="Folder with nodes.csv and, if wanted, sites, site_pairs, pairs, topics: design for the network that "
            "there is, by price.",
            show_default=False,
        ),
    ] = None
    survive: Annotated[
        str | None,
        typer.Option(
            help="--network: site, or another column of nodes.csv; any one group of it may fail.", show_default=False
        ),
    ] = None
    keep: Annotated[
        float | None,
        typer.Option(help="--network: share of its price that a standing link saves; below 1.  [default: 0]"),
    ] = None


@dataclass(frozen=True)
class SparkOptions(OptionGroup):
    """Where Spark runs, and how."""

    master: Master = None
    remote: Remote = None
    conf: Conf = field(default_factory=list)
    verbose: Verbose = False


def flat(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command as typer reads it: a parameter that is a group of options becomes the options of the group.

    >>> def hello(name: str, *, spark: SparkOptions) -> None: ...
    >>> list(inspect.signature(flat(hello)).parameters)
    ['name', 'master', 'remote', 'conf', 'verbose']
    """
    hints = get_type_hints(command, include_extras=True)
    groups = {
        name: (kind, kind.parameters())
        for name, kind in hints.items()
        if isinstance(kind, type) and issubclass(kind, OptionGroup)
    }

    @wraps(command)
    def run(**given: Any) -> Any:
        for name, (kind, options) in groups.items():
            given[name] = kind.of(**{option.name: given.pop(option.name) for option in options})
        return command(**given)

    parameters: list[inspect.Parameter] = []
    for given in inspect.signature(command).parameters.values():
        alone = given.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[given.name])
        parameters += groups[given.name][1] if given.name in groups else [alone]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run


def _in_panel(annotation: Any, panel: str | None) -> Any:
    """Return the annotation of an option with a heading, unless it has one."""
    if panel is None or get_origin(annotation) is not Annotated:
        return annotation
    kind, declared = get_args(annotation)
    shown = copy(declared)
    shown.rich_help_panel = declared.rich_help_panel or panel
    return Annotated[kind, shown]
