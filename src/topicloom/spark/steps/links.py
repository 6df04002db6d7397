"""Links that came as labels, from any tool, to ids of a prepared interest."""

from dataclasses import replace
from os import PathLike
from typing import Unpack

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from topicloom.errors import InvalidLinksError, MissingColumnError
from topicloom.files.read.link_findings import FittedLinks, LinkFindings, fitted_links
from topicloom.files.read.read_options import LinkWords, ReadOptions
from topicloom.files.read.table import as_links, reading_of
from topicloom.model.labels import ROWS
from topicloom.spark.session.columns import (
    DST,
    DST_ID,
    FILE,
    LINE,
    NODE,
    NODE_ID,
    REASON,
    SRC,
    SRC_ID,
    TOPIC,
    TOPICS,
    find_column,
    quoted,
    require_dataframe,
)
from topicloom.spark.steps.clean import with_reasons
from topicloom.spark.steps.prepare import Prepared
from topicloom.spark.steps.read import open_table, worker_sentences

BROUGHT_HERE = 5_000_000


def read_links(spark: SparkSession, source: str | PathLike[str], **words: Unpack[LinkWords]) -> DataFrame:
    """Read any table with columns ``src`` and ``dst`` as (src, dst) strings. Options as for `read_subscriptions`.

    Raises
    ------
    InvalidLinksError
        A row is not a link: wrong number of fields, or a label that is null, blank or not valid text.
    """
    return checked_rows(open_table(spark, source, ReadOptions.of_links(**words)).rows, source)


def checked_rows(rows: DataFrame, source: str | PathLike[str]) -> DataFrame:
    """Rows of a table of links -> (src, dst). Runs an action, and raises `InvalidLinksError` if one is no link."""
    bad = rows.where(F.col(REASON).isNotNull())
    with worker_sentences():
        first = bad.orderBy(FILE, LINE).limit(1).collect()
    if first:
        where = f"line {first[0][LINE]:,} of {first[0][FILE]}"
        raise InvalidLinksError(
            f"{bad.count():,} rows of {source} are not links; the first, {where}: {first[0][REASON]}"
        )
    return rows.select(F.col(NODE).alias(SRC), F.col(TOPIC).alias(DST))


def fits_driver(rows: DataFrame, n_nodes: int) -> bool:
    """Whether `fitted_to` may bring links and labels to the driver: 5,000,000 rows and nodes together, some 1 GB."""
    with worker_sentences():
        return rows.count() + n_nodes <= BROUGHT_HERE


def fitted_to(rows: DataFrame, nodes: DataFrame) -> FittedLinks:
    """Rows of a table of links and (node, node_id) -> the links by id, and what is odd about them, in the driver.

    Brings all rows and the labels of all nodes here; `fits_driver` says whether they are few enough.
    """
    with worker_sentences():
        table = rows.select(*(name for name in ROWS.names if name in rows.columns)).toArrow()
    table = pa.table({name: table[name] if name in table.column_names else pa.nulls(len(table)) for name in ROWS.names})
    names = nodes.orderBy(NODE_ID).select(NODE).toArrow().column(0).combine_chunks()
    return fitted_links(as_links(reading_of(table.cast(ROWS))), names)


def matched(rows: DataFrame, prepared: Prepared, source: str) -> tuple[DataFrame, LinkFindings]:
    """Rows of a table of very many links -> distinct (src_id, dst_id), and their counts, without the driver.

    Raises
    ------
    InvalidLinksError
        A row is not a link between two nodes of the subscriptions. Fewer links may name others; see `fitted_to`.
    """
    links = encode_links(checked_rows(rows, source), prepared.nodes).persist()
    n_rows, n_links = rows.count(), links.count()
    return links, LinkFindings(n_rows, n_links, n_rows - n_links, 0)


def widened(prepared: Prepared, fitted: FittedLinks) -> tuple[Prepared, DataFrame]:
    """Add strangers of links to a prepared interest as nodes that want nothing. Returns it and (src_id, dst_id)."""
    spark, n_nodes = prepared.interest.sparkSession, prepared.counts["nodes"]
    links = pa.table({SRC_ID: fitted.links[:, 0], DST_ID: fitted.links[:, 1]})
    encoded = spark.createDataFrame(links, f"{SRC_ID} int, {DST_ID} int")
    if not fitted.strangers:
        return prepared, encoded
    rows: list[tuple[str, list[int], int]] = [
        (label, [], n_nodes + place) for place, label in enumerate(fitted.strangers)
    ]
    strangers = spark.createDataFrame(rows, f"{NODE} string, {TOPICS} array<int>, {NODE_ID} int")
    return replace(prepared, interest=prepared.interest.unionByName(strangers)), encoded


def require_links(links: DataFrame) -> DataFrame:
    """(src, dst) of a table that a caller gave, as rows: (node, topic, reason). The reason is null for usable rows.

    Raises
    ------
    InvalidOptionError, InvalidLinksError
        It is no Spark DataFrame, or has no such columns.
    """
    ends = ends_of(links)
    return with_reasons(ends.select(F.col(SRC).alias(NODE), F.col(DST).alias(TOPIC)))


def ends_of(links: DataFrame) -> DataFrame:
    """The columns src and dst of a table that a caller gave, in any case where the session ignores case.

    Raises
    ------
    InvalidOptionError, InvalidLinksError
        It is no Spark DataFrame, or has no such columns.
    """
    require_dataframe(links, "links", "src and dst")
    try:
        return links.select(*(quoted(find_column(links, name)).alias(name) for name in (SRC, DST)))
    except MissingColumnError as error:
        raise InvalidLinksError(f"these are not links: {error}") from None


def refuse_findings(found: LinkFindings) -> None:
    """Refuse links that are not all between two nodes of the subscriptions.

    Raises
    ------
    InvalidLinksError
    """
    if found.rejected:
        raise InvalidLinksError(f"{found.rejected:,} rows are not links: {found.examples[0]}")
    if strangers := sorted((*found.unknown, *found.transit)):
        raise InvalidLinksError(
            f"links name {len(strangers):,} nodes that are not in the subscriptions, such as {strangers[0]!r}"
        )
    if found.loops:
        raise InvalidLinksError(f"a link joins node {min(found.loops)!r} with itself")


def encode_links(links: DataFrame, nodes: DataFrame) -> DataFrame:
    """(src, dst) labels and (node, node_id) -> distinct (src_id, dst_id) with src_id < dst_id.

    Raises
    ------
    InvalidLinksError
        A link names a node that has no subscription, or joins a node with itself. (This check runs an action.)
    """
    of_src = nodes.select(F.col(NODE).alias(SRC), F.col(NODE_ID).alias(SRC_ID))
    of_dst = nodes.select(F.col(NODE).alias(DST), F.col(NODE_ID).alias(DST_ID))
    texts = links.select(F.col(SRC).cast("string").alias(SRC), F.col(DST).cast("string").alias(DST))
    found = texts.join(of_src, SRC, "left").join(of_dst, DST, "left")
    with worker_sentences():
        _refuse_unknown(found)
    low, high = F.least(SRC_ID, DST_ID), F.greatest(SRC_ID, DST_ID)
    return found.select(low.alias(SRC_ID), high.alias(DST_ID)).distinct()


def _refuse_unknown(found: DataFrame) -> None:
    src, dst = (F.coalesce(F.col(end), F.lit("null")) for end in (SRC, DST))
    unknown = F.when(F.col(SRC_ID).isNull(), src).when(F.col(DST_ID).isNull(), dst)
    strangers = found.select(unknown.alias("label")).where(F.col("label").isNotNull()).distinct()
    example = strangers.orderBy("label").limit(1).collect()
    if example:
        raise InvalidLinksError(
            f"links name {strangers.count():,} nodes that are not in the subscriptions, such as {example[0]['label']!r}"
        )
    loops = found.where(F.col(SRC_ID) == F.col(DST_ID)).orderBy(SRC).limit(1).collect()
    if loops:
        raise InvalidLinksError(f"a link joins node {loops[0][SRC]!r} with itself")
