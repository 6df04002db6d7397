"""Subscription patterns replaced by the topics that they match."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from topicloom.pipeline.clean import with_reasons
from topicloom.pipeline.read import worker_sentences
from topicloom.reading.patterns import Patterns
from topicloom.reading.table import expansions
from topicloom.spark.columns import RAW, REASON, TOPIC

_MATCHES, _WHY = "_matches", "_why"


def expanded(rows: DataFrame, broker: str) -> DataFrame:
    """Rows of subscriptions -> the same with patterns replaced by the known topics that they match.

    A row of a pattern becomes a row for each topic. A pattern that is not valid, or matches none, is rejected. The
    distinct topics are brought to the driver, which runs an action.

    Parameters
    ----------
    rows : DataFrame
        With columns ``node`` and ``topic``.
    broker : str
        Whose rules: "mqtt" or "nats".
    """
    Patterns(broker, ())
    judged = with_reasons(rows)
    with worker_sentences():
        usable = judged.where(F.col(REASON).isNull()).select(TOPIC).distinct().toArrow()
    topics = sorted(usable.column(0).to_pylist())
    found = [(pattern, *made) for pattern, made in expansions(Patterns(broker, topics), topics)]
    if not found:
        return judged
    schema = f"{TOPIC} string, {_MATCHES} array<string>, {_WHY} string"
    mapping = judged.sparkSession.createDataFrame(found, schema)
    joined = judged.join(F.broadcast(mapping), TOPIC, "left")
    is_pattern = F.col(REASON).isNull() & F.col(_MATCHES).isNotNull()
    topic = F.explode(F.when(is_pattern & (F.size(_MATCHES) > 0), F.col(_MATCHES)).otherwise(F.array(TOPIC)))
    exploded = joined.withColumn("_topic", topic)
    reason = F.coalesce(F.col(REASON), F.when(is_pattern, F.col(_WHY)))
    raw = F.when(is_pattern & F.col(_WHY).isNotNull(), F.col(TOPIC)).otherwise(F.col(RAW))
    replaced = exploded.withColumns({RAW: raw, REASON: reason}).withColumn(TOPIC, F.col("_topic"))
    return replaced.select(*judged.columns)
