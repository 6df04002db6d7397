"""``topicloom generate``: a synthetic table of subscriptions."""

from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import typer

from topicloom.cli.console import narrated, tell
from topicloom.cli.option_groups import Overwrite, Seed, SparkOptions
from topicloom.datasets import Workload
from topicloom.datasets import generate as draw
from topicloom.datasets.workload import POPULARITIES, SIZE_EXPONENT, SIZES
from topicloom.files.write.atomic import whole_directory
from topicloom.files.write.destination import not_our_subscriptions
from topicloom.files.write.overlay_directory import write_parquet
from topicloom.model.labels import to_arrow
from topicloom.spark.session.session import spark_session

EXAMPLE = "Example: topicloom generate subs --nodes 2000 --topics 200 --subscriptions 10 --popularity zipf --alpha 0.5"

# Above this many subscriptions they are drawn on Spark, a block of nodes at a time; the same ones as in memory.
IN_MEMORY = 20_000_000


def command(
    out: Annotated[Path, typer.Argument(help="Folder for the table: Parquet with columns node and topic.")],
    nodes: Annotated[int, typer.Option(help="Number of nodes.")] = 1000,
    topics: Annotated[int, typer.Option(help="Number of topics.")] = 100,
    subscriptions: Annotated[int, typer.Option(help="Topics a node; their mean with --sizes mean.")] = 20,
    sizes: Annotated[str, typer.Option(help=f"How many topics a node has: {', '.join(SIZES)}.")] = "fixed",
    min_size: Annotated[int | None, typer.Option(help="Fewest topics a node, with --sizes power-law.")] = None,
    max_size: Annotated[int | None, typer.Option(help="Most topics a node, with --sizes power-law.")] = None,
    popularity: Annotated[str, typer.Option(help=f"Which topics are wanted: {', '.join(POPULARITIES)}.")] = "uniform",
    alpha: Annotated[float, typer.Option(help="Exponent of the Zipf popularity.")] = 2.0,
    rate: Annotated[
        float | None,
        typer.Option(help="Rate of the exponential popularity.", show_default="7.98: 55 % on a tenth of the topics"),
    ] = None,
    size_exponent: Annotated[float, typer.Option(help="Exponent of power-law sizes.")] = SIZE_EXPONENT,
    size_shift: Annotated[
        int, typer.Option(help="Power-law sizes are this number + x, x by the power law; 9 with sizes from 10.")
    ] = 0,
    seed: Seed = 0,
    overwrite: Overwrite = False,
    *,
    spark_options: SparkOptions,
) -> None:
    """Draw a synthetic table of subscriptions: same options and seed, same subscriptions, on every machine."""
    options: dict[str, Any] = {
        "nodes": nodes, "topics": topics, "subscriptions": subscriptions, "popularity": popularity, "sizes": sizes,
        "min_size": min_size, "max_size": max_size, "alpha": alpha, "rate": rate,
        "size_exponent": size_exponent, "size_shift": size_shift, "seed": seed,
    }  # fmt: skip
    workload = Workload(**options)
    with (
        whole_directory(out, overwrite=overwrite, ours=not_our_subscriptions) as staging,
        narrated(f"drawing subscriptions of {nodes:,} nodes") as narrator,
    ):
        few = nodes * (workload.max_size or subscriptions) <= IN_MEMORY
        if spark_options.master or spark_options.remote or spark_options.conf or not few:
            from topicloom.pipeline import generate_subscriptions
            from topicloom.spark.steps.write import write_parquet as write_on_spark

            narrator("starting Spark")
            with spark_session(**vars(spark_options), small=few) as spark:
                narrator(f"drawing subscriptions of {nodes:,} nodes on Spark")
                write_on_spark(generate_subscriptions(spark, **options), staging)
        else:
            _write_in_memory(staging, options)
    tell(f"wrote {out}")


def _write_in_memory(folder: Path, options: dict[str, Any]) -> None:
    interest = draw(**options)
    nodes, topics = (to_arrow(labels) for labels in (interest.node_labels, interest.topic_labels) if labels is not None)
    table = {"node": nodes.take(pa.array(interest.nodes)), "topic": topics.take(pa.array(interest.topics))}
    write_parquet(pa.table(table), folder / "part-00000.parquet")
