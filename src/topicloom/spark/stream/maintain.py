"""Maintain an overlay that follows a stream of events."""

from pathlib import Path
from typing import Any

from pyspark.errors import IllegalArgumentException, PySparkValueError, StreamingQueryException
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from topicloom.churn import Maintainer, holds_state
from topicloom.errors import InputNotFoundError, InvalidOptionError, OutputExistsError
from topicloom.files.write.destination import check_local
from topicloom.model import Overlay
from topicloom.routing import Plan
from topicloom.spark.stream.arrivals import check_columns
from topicloom.spark.stream.batches import BatchSink, Listener
from topicloom.spark.stream.source import local_path

STATE = "state.db"


class MaintainedQuery(StreamingQuery):
    """The streaming query of `maintain`. It closes the durable state when it ends."""

    def __init__(self, query: StreamingQuery, sink: BatchSink) -> None:
        super().__init__(query._jsq)
        self._sink = sink

    def stop(self) -> None:
        """Stop after the current batch, and close the state."""
        try:
            super().stop()
        finally:
            self._sink.close()

    def awaitTermination(self, timeout: int | None = None) -> bool | None:  # noqa: N802 - as Spark names it
        """Wait for the end of the query, and close the state when it has ended.

        Raises
        ------
        Exception
            It failed: what a batch raised, or Spark's StreamingQueryException.
        """
        try:
            return super().awaitTermination(timeout)
        except StreamingQueryException as error:
            if self._sink.failure is not None:
                raise self._sink.failure from error
            raise
        finally:
            if not self.isActive:
                self._sink.close()


def maintain(
    events: DataFrame,
    *,
    out: str | Path,
    overlay: Overlay | None = None,
    plan: Plan | None = None,
    state: str | Path | None = None,
    trigger: str | None = None,
    once: bool = False,
    listener: Listener | None = None,
    **options: Any,
) -> MaintainedQuery:
    """Keep an overlay topic-connected while events stream in, and write the link changes batch by batch.

    Parameters
    ----------
    events : DataFrame
        A streaming DataFrame: with columns ``event``, ``node`` and, as far as there are any, ``topics`` (an array),
        ``at`` and ``id``; or with a column ``value`` of JSON, text or binary, as Kafka's. `read_events` makes one of a
        folder of files.
    out : str or Path
        Folder for ``changes/``, ``rejected/`` and Spark's ``checkpoint/``, on the machine of this process. Called again
        with the same folder, the stream goes on where it stopped.
    overlay : Overlay, optional
        What to begin with; not needed, and not looked at, when the state exists.
    plan : Plan, optional
        The routes that run now, for the overlay: ``changes/`` then also has the rows of the topics' trees that go off
        and then come on (`Maintainer.follow_routes`). Not looked at when the state exists, which keeps them.
    state : str or Path, optional
        The durable state (`Maintainer.open`); ``out/state.db`` unless given.
    trigger : str, optional
        How often a batch is made, such as "5 seconds"; as soon as the last is done unless given.
    once : bool
        Take in what is there, in as many batches as the source makes of it, and end.
    listener : callable, optional
        Hears a `BatchReport` after each batch.
    **options
        Those of `Maintainer`: policy, backups, coverage, rho, k, rebalance, seed; on going on they must be the same.

    Returns
    -------
    StreamingQuery
        Wait for it (``awaitTermination``) or end it (``stop``): both close the state.

    Raises
    ------
    InvalidOptionError
        The table is not streaming, or of a Spark Connect session: there foreachBatch runs with the server, out of reach
        of this process.
    MissingColumnError, InputNotFoundError, NotTopicConnectedError, StateInUseError
    StateFormatError
        The checkpoint and the state do not belong together.

    Notes
    -----
    **Exactly once**, whatever is killed when: a batch is committed in one transaction with its number, the ids of its
    events and what its files will say; the files are written from that, whole, and after a crash again, with the same
    bytes. An event with an ``id`` that was seen before is ignored, in whatever batch.

    A batch applies in the order of (``at``, ``id``), those without first; rows that are equal in both in the order of
    files and lines (`read_events`), of Kafka's partitions and offsets, or else as Spark delivers them. Leaves that
    follow one another are repaired as one failure. Events that cannot be applied, or read, go to ``rejected/``; the
    rest of the batch is applied.

    The rows of a batch come to the driver: limit their number at the source (``files_per_batch``, Kafka's
    ``maxOffsetsPerTrigger``). A batch costs as much as `Maintainer.apply`, and the writing of its files.

    See Also
    --------
    read_events : events from the files of a folder.
    topicloom.Maintainer : the same events in memory, without Spark.

    References
    ----------
    [shadows-churn] for the repairs; docs/papers.md.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import topicloom as tl
    >>> from topicloom.stream import maintain, read_events
    >>> overlay = tl.design(tl.datasets.example())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     inbox = pathlib.Path(folder, "events")
    ...     inbox.mkdir()
    ...     _ = (inbox / "1.jsonl").write_text('{"event": "leave", "node": "crane"}')
    ...     reports = []
    ...     events = read_events(spark, inbox)  # spark is your session
    ...     query = maintain(events, out=folder + "/live", overlay=overlay, once=True, listener=reports.append)
    ...     _ = query.awaitTermination()
    >>> [(report.events, report.nodes, report.links) for report in reports]
    [(1, 5, 4)]
    """
    _refuse(events)
    check_columns(events)
    check_local(out)
    folder = Path(out).absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputExistsError(f"cannot write {folder}: {error.strerror}") from None
    maintainer = _opened(folder / STATE if state is None else Path(state).absolute(), overlay, plan, options)
    try:
        sink = BatchSink(maintainer, folder, listener)
        sink.check_checkpoint()
        writer = events.writeStream.foreachBatch(sink).option("checkpointLocation", local_path(sink.checkpoint))
        return MaintainedQuery(_triggered(writer, trigger, once).start(), sink)
    except BaseException:
        maintainer.close()
        raise


def _refuse(events: DataFrame) -> None:
    if type(events).__module__.startswith("pyspark.sql.connect"):
        raise InvalidOptionError(
            "a Spark Connect server runs foreachBatch on its own side, where the state of this process is not; "
            "stream with a session whose driver is this process"
        )
    if not events.isStreaming:
        raise InvalidOptionError("the events are not a streaming DataFrame; Maintainer.apply takes those of a table")


def _triggered(writer: DataStreamWriter, trigger: str | None, once: bool) -> DataStreamWriter:
    if once:
        return writer.trigger(availableNow=True)
    if trigger is None:
        return writer
    try:
        return writer.trigger(processingTime=trigger)
    except (IllegalArgumentException, PySparkValueError):
        raise InvalidOptionError(f"trigger is {trigger!r}; a time such as '5 seconds' is accepted") from None


def _opened(path: Path, overlay: Overlay | None, plan: Plan | None, options: dict[str, Any]) -> Maintainer:
    if holds_state(path):
        return Maintainer.open(path, **options)
    if overlay is None:
        raise InputNotFoundError(f"{path} holds no state yet; give an overlay to begin with")
    return Maintainer.open(path, interest=overlay.interest, overlay=overlay, plan=plan, **options)
