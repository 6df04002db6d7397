"""``topicloom measure``: the figures of an overlay, whoever made it."""

import json
from collections.abc import Mapping

from topicloom.cli.console import figure, narrated, print_table, tell
from topicloom.cli.options import Json, LinkOptions, Links, SparkOptions, Subscriptions, TableOptions
from topicloom.cli.sources import links_of, unreplaced
from topicloom.cli.tables import opened_table
from topicloom.spark.session import spark_session

EXAMPLE = "Example: topicloom measure subscriptions.csv.gz my-links.csv --json"


def command(
    subscriptions: Subscriptions,
    links: Links,
    *,
    table: TableOptions,
    link_table: LinkOptions,
    as_json: Json = False,
    spark_options: SparkOptions,
) -> None:
    """Measure links, whoever made them: degrees, topic diameters, how well links are shared between topics."""
    with (
        narrated("starting Spark") as narrator,
        spark_session(**vars(spark_options)) as spark,
    ):
        from topicloom.pipeline.design import measure_overlay
        from topicloom.spark.stages import Stages

        with unreplaced(subscriptions, links):
            rows = opened_table(spark, narrator, subscriptions, table, spark_options.remote)
            given = links_of(spark, links, spark_options.remote, link_table)
        metrics = measure_overlay(rows, given, stages=Stages(narrator, narrator.note))
    figures = metrics.to_dict()
    if as_json:
        print(json.dumps(figures, allow_nan=False))
        return
    if metrics.disconnected_topics:
        tell(f"warning: {metrics.disconnected_topics:,} topics are not connected, so their diameters are infinite")
    # only the diameters are infinite without a value; the ratios are then undefined
    infinite = ("mean_topic_diameter", "max_topic_diameter")
    rows_shown = [
        (name.replace("_", " "), figure(value, 3) if value is not None or name in infinite else "–")
        for name, value in figures.items()
        if name != "degree_histogram"
    ]
    print_table(("measure", ""), rows_shown)
    print_table(
        ("degree", "nodes"),
        [(degree, f"{count:,}") for degree, count in _condensed(metrics.degree_histogram).items()],
    )


def _condensed(histogram: Mapping[int, int], rows: int = 16) -> dict[str, int]:
    """A histogram in at most so many rows, neighbouring degrees taken together."""
    degrees = sorted(histogram)
    width = -(-len(degrees) // rows) or 1
    groups = [degrees[start : start + width] for start in range(0, len(degrees), width)]
    named = {f"{group[0]}" if len(group) == 1 else f"{group[0]}–{group[-1]}": group for group in groups}
    return {name: sum(histogram[degree] for degree in group) for name, group in named.items()}
