"""Options that several commands share."""

from typing import Annotated

import typer

Master = Annotated[
    str | None,
    typer.Option(help="Spark master, such as spark://host:7077.  [default: local[*,4]]", show_default=False),
]
Remote = Annotated[str | None, typer.Option(help="Spark Connect server, such as sc://host:15002.")]
Conf = Annotated[
    list[str], typer.Option(help="Spark setting key=value; may be given several times.", show_default=False)
]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show Spark's own output, and tracebacks.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
Overwrite = Annotated[
    bool,
    typer.Option("--overwrite", help="Replace OUT if it exists; the old one stays until the new one is complete."),
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
    str | None, typer.Option(help="Of text files, such as latin-1.  [default: UTF-8 or UTF-16]", show_default=False)
]
TopicsSeparator = Annotated[
    str | None, typer.Option(help="Between the topics of one field, if it holds several.", show_default=False)
]
Expand = Annotated[
    str | None,
    typer.Option(help="Replace patterns by the topics that they match: mqtt or nats.", show_default=False),
]
SrcColumn = Annotated[str | None, typer.Option(help="Links: column of one end.  [default: src]", show_default=False)]
DstColumn = Annotated[str | None, typer.Option(help="Links: column of the other.  [default: dst]", show_default=False)]
LinksHeader = Annotated[
    bool | None,
    typer.Option("--links-header/--links-no-header", help="Links: as --header/--no-header.", show_default=False),
]
Subscriptions = Annotated[
    str,
    typer.Argument(
        help="File, folder or pattern of CSV and the like, JSON lines, Parquet or .xlsx, a node and a topic a row; "
        "or an overlay directory."
    ),
]
Links = Annotated[str, typer.Argument(help="Overlay directory, or a file, folder or glob with columns src and dst.")]
