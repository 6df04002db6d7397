"""Verifying and measuring large overlays from files that all tasks map: no list of topics is joined with a link.

A task takes some topics with all their subscribers and all links that serve one of them, as `per_topic` does, but picks
them from the files of `shared_files` itself.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from heapq import heapify, heapreplace

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from topicloom.kernels import topic_buckets  # kernels that travelled by themselves would be compiled by every worker
from topicloom.measures.topic_measures import shared_counts
from topicloom.model import Interest
from topicloom.model.arrays import Int32Array, Int64Array, degrees, frozen
from topicloom.spark.session.columns import DST_ID, NODE, NODE_ID, SHARED_TOPICS, SRC_ID, TOPIC_ID, TOPICS
from topicloom.spark.session.workers import settle
from topicloom.spark.steps.shared_files import SharedFolder, run_tasks
from topicloom.spark.steps.topic_links import Question, TopicBucket

_PART = "part"
_SUBSCRIPTIONS_A_BUCKET = 2_500_000
_CHUNK_LINKS = 1 << 20

Batches = Iterator[pa.RecordBatch]


def keep_links(links: DataFrame, files: SharedFolder) -> None:
    """(src_id, dst_id) -> the files ``links``, int32 ends side by side, ascending, and ``degree``. Runs two jobs."""

    def keep_part(batches: Batches) -> Batches:
        ends, part = [], 0
        for batch in batches:
            ends.append(_ends(batch))
            part = batch.column(_PART)[0].as_py() if len(batch) else part
        if ends:
            files.keep(f"part-{part}", np.concatenate(ends))
            yield pa.RecordBatch.from_pydict({_PART: pa.array([part], pa.int32())})

    rows = links.select(SRC_ID, DST_ID, F.spark_partition_id().alias(_PART)).mapInArrow(keep_part, f"{_PART} int")
    parts = sorted({row[_PART] for row in rows.collect()})
    n_nodes = (files.facts("interest") or {})["nodes"]
    run_tasks(links.sparkSession, 1, partial(_put_together, files, parts, n_nodes))


def _put_together(files: SharedFolder, parts: list[int], n_nodes: int, _: int) -> int:
    """Write the links in ascending order, in which checking that none is there twice takes one pass."""
    codes, degree = np.empty(0, np.int64), np.zeros(n_nodes, np.int64)
    for part in parts:
        ends = files.read(f"part-{part}")
        degree += degrees(ends, n_nodes)
        codes = np.concatenate([codes, ends.min(axis=1) * np.int64(n_nodes) + ends.max(axis=1)])
    codes.sort()
    chunks = (codes[first : first + _CHUNK_LINKS] for first in range(0, len(codes), _CHUNK_LINKS))
    ascending = (np.stack(np.divmod(chunk, n_nodes), axis=1).astype(np.int32) for chunk in chunks)
    files.keep_chunks("links", 2 * len(codes), ascending)
    files.keep("degree", degree)
    files.forget("part-*")
    return len(codes)


def with_shared_topics(links: DataFrame, files: SharedFolder) -> DataFrame:
    """Links by id -> the same with the number of topics that both ends want."""

    def count(batches: Batches) -> Batches:
        for batch in batches:
            shared = shared_counts(files.read("indptr"), files.read("topics"), _ends(batch))
            settle()
            yield batch.append_column(SHARED_TOPICS, pa.array(shared))

    schema = ", ".join(f"`{field.name}` {field.dataType.simpleString()}" for field in links.schema.fields)
    return links.mapInArrow(count, f"{schema}, {SHARED_TOPICS} bigint")


def node_degrees(interest: DataFrame, files: SharedFolder) -> DataFrame:
    """(node, node_id, topics) -> (id, topic_count, degree)."""

    def look_up(batches: Batches) -> Batches:
        for batch in batches:
            degree = files.read("degree")[batch.column(NODE_ID).to_numpy()]
            yield pa.RecordBatch.from_arrays(
                [batch.column("id"), batch.column("topic_count"), pa.array(degree)], ["id", "topic_count", "degree"]
            )

    rows = interest.select(F.col(NODE).alias("id"), F.size(TOPICS).cast("bigint").alias("topic_count"), NODE_ID)
    return rows.mapInArrow(look_up, "id string, topic_count bigint, degree bigint")


def per_topic_mapped(
    interest: DataFrame, files: SharedFolder, questions: Sequence[Question], subscribers: Int64Array
) -> DataFrame:
    """(topic_id, answers): questions about topics, as `per_topic` asks them."""
    bucket_of = bucketed(subscribers, -(-int(subscribers.sum()) // _SUBSCRIPTIONS_A_BUCKET))
    buckets = int(bucket_of.max(initial=0)) + 1
    answers = [question.answer for question in questions]

    def ask(batches: Batches) -> Batches:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                bucket = mapped_bucket(files, bucket_of, number)
                columns = {TOPIC_ID: pa.array(bucket.topics, pa.int32())}
                for answer in answers:
                    columns |= answer(bucket)
                settle()
                yield from pa.table(columns).to_batches()

    schema = ", ".join([f"{TOPIC_ID} int", *(question.schema for question in questions)])
    return interest.sparkSession.range(0, buckets, 1, buckets).mapInArrow(ask, schema)


def bucketed(subscribers: Int64Array, buckets: int) -> Int32Array:
    """Bucket of each topic: the largest topics first, each into the bucket that has least.

    >>> bucketed(np.array([9, 5, 4, 3]), 2).tolist()
    [0, 1, 1, 0]
    """
    load = [(0, bucket) for bucket in range(max(buckets, 1))]
    heapify(load)
    bucket_of = np.empty(len(subscribers), np.int32)
    for topic in np.argsort(-subscribers, kind="stable"):
        had, bucket = load[0]
        bucket_of[topic] = bucket
        heapreplace(load, (had + int(subscribers[topic]), bucket))
    return bucket_of


def mapped_bucket(files: SharedFolder, bucket_of: Int32Array, number: int) -> TopicBucket:
    """The topics of a bucket with their subscribers, and the links that serve one of them."""
    topics = np.flatnonzero(bucket_of == number)
    place = np.full(len(bucket_of), -1, np.int32)
    place[topics] = np.arange(len(topics), dtype=np.int32)
    indptr = files.read("indptr")
    nodes, starts, wanted = topic_buckets.bucket_rows(indptr, files.read("topics"), place)
    place = np.full(len(indptr) - 1, -1, np.int32)
    place[nodes] = np.arange(len(nodes), dtype=np.int32)
    links = topic_buckets.bucket_links(files.read("links").reshape(-1, 2), place, starts, wanted)
    return TopicBucket(Interest(frozen(starts), frozen(wanted), len(topics)), links, nodes, topics)


def _ends(batch: pa.RecordBatch) -> Int32Array:
    ends = np.column_stack([batch.column(name).to_numpy() for name in (SRC_ID, DST_ID)])
    return ends.astype(np.int32).reshape(-1, 2)
