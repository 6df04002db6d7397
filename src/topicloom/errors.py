"""Everything topicloom raises on purpose: one base class, one subclass per meaning.

Each is also a ``ValueError``, so that a caller who knows nothing of topicloom can still catch it.
A message says what is wrong, where it was first seen, and what would be accepted.
"""


class TopicloomError(ValueError):
    """Base of all errors that topicloom raises on purpose."""


class InvalidArgumentError(TopicloomError, TypeError):
    """An argument of a kind that the function does not take, such as a text in place of an interest."""


class NoTruthValueError(TopicloomError, TypeError):
    """A result was used as if it were true or false. Use its ``.ok``."""


class InvalidInterestError(TopicloomError):
    """The subscriptions cannot be read as an interest (null label, unequal columns, ids out of range)."""


class InvalidLinksError(TopicloomError):
    """The links cannot belong to the interest (unknown node, a node linked to itself, wrong shape)."""


class InvalidNetworkError(TopicloomError):
    """The tables of a network cannot be: unknown names, values out of range, rows that contradict each other."""


class InvalidOptionError(TopicloomError):
    """A method, option or seed that does not exist or is out of range."""


class InputNotFoundError(TopicloomError):
    """A file or folder that was named is not there, or holds nothing to read."""


class UnreadableInputError(TopicloomError):
    """A file cannot be read to its end: truncated, damaged, exploding, not of its format, or without permission."""


class MissingColumnError(TopicloomError):
    """A table lacks a column that is needed. The message lists those it has."""


class OutputExistsError(TopicloomError):
    """An output exists and may not be replaced, or it cannot be written (no permission, a full disk)."""


class OverlayFormatError(TopicloomError):
    """A folder is not an overlay directory, or is of a format that this version does not know."""


class StarFileError(TopicloomError):
    """A topic digest or star set that cannot be read, or files of sites that do not fit together."""


class PlanFormatError(TopicloomError):
    """A folder is not a plan, is of a format that this version does not know, or contradicts itself."""


class UnsafeChangeError(TopicloomError):
    """Two plans between which no safe order of steps exists, or one that breaks its own promises."""


class InvalidPlanError(TopicloomError):
    """A plan that cannot be deployed as asked: rows that contradict each other, or an end that may not dial."""


class InvalidInventoryError(TopicloomError):
    """An inventory that cannot be read: unknown keys, a missing broker, a literal secret (never printed)."""


class NameDoesNotFitError(TopicloomError):
    """Names that a broker cannot carry. `offenders` has every one of them with the reason."""

    def __init__(self, message: str, offenders: dict[str, str]) -> None:
        super().__init__(message)
        self.offenders = offenders


class BrokerUnavailableError(TopicloomError):
    """The program of a broker is missing here, is too old, or does not start."""


class InvalidEventError(TopicloomError):
    """An event that cannot be applied (unknown node leaves, a present node joins, a blank topic, an unknown kind)."""


class NotTopicConnectedError(TopicloomError):
    """An overlay that has to be topic-connected to begin with is not. The message names a topic."""


class StateInUseError(TopicloomError):
    """Another process has the durable state open for writing."""


class StateFormatError(TopicloomError):
    """A file is not a durable state of this version, or something in it contradicts itself."""


class HalfAppliedError(TopicloomError):
    """An exception ended an event halfway: the maintainer takes no more, and what it holds is not to be trusted."""


class NotEnoughMemoryError(TopicloomError):
    """The method would need more memory than there is. The message names one that fits."""


class SparkFailedError(TopicloomError):
    """A job of Spark failed: a file that cannot be read, a worker that ended, memory that ran out."""


class SparkUnavailableError(TopicloomError):
    """Spark cannot start here: no Java, or no server answers."""


class MissingExtraError(TopicloomError, ImportError):
    """A package that only a part of topicloom needs is not installed. The message names the extra that brings it."""
