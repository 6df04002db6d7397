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
    typer.Option(help="csv, tsv, json (lines) or parquet.  [default: by file name]", show_default=False),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether CSV files start with a header.  [default: by the first line]",
        show_default=False,
    ),
]
Subscriptions = Annotated[
    str,
    typer.Argument(
        help="File, folder or glob of CSV, JSON lines or Parquet, a node and a topic a row; or an overlay directory."
    ),
]
Links = Annotated[str, typer.Argument(help="Overlay directory, or a file, folder or glob with columns src and dst.")]
