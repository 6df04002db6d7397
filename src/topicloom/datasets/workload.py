"""What a synthetic workload is: options checked at the door, shared by memory and Spark."""

import numbers
import sys
from dataclasses import KW_ONLY, dataclass
from typing import Any, TypedDict

from topicloom.errors import InvalidOptionError
from topicloom.model.checks import checked_seed, checked_whole
from topicloom.model.interest import MAX_IDS

POPULARITIES = ("uniform", "zipf", "exponential")
SIZES = ("fixed", "mean", "power-law")
PAPER_MIN_SIZE, PAPER_MAX_SIZE = 10, 90
SIZE_EXPONENT = 2.0


class WorkloadOptions(TypedDict, total=False):
    """The options of a `Workload`, for functions that pass them on."""

    nodes: int
    topics: int
    subscriptions: int
    popularity: str
    sizes: str
    min_size: int | None
    max_size: int | None
    alpha: float
    rate: float | None
    size_exponent: float
    size_shift: int
    seed: int


@dataclass(frozen=True)
class Workload:
    """A seeded synthetic interest, not yet drawn. See `topicloom.generate` for the meaning of the options.

    Raises
    ------
    InvalidOptionError
        An option is out of range, or contradicts another.

    Examples
    --------
    >>> Workload(nodes=2000, topics=200, sizes="power-law").max_size
    90
    >>> Workload(topics=10)
    Traceback (most recent call last):
    topicloom.errors.InvalidOptionError: subscriptions is 20, but there are 10 topics to choose from
    """

    nodes: int = 1000
    topics: int = 100
    subscriptions: int = 20
    popularity: str = "uniform"
    _: KW_ONLY
    sizes: str = "fixed"
    min_size: int | None = None
    max_size: int | None = None
    alpha: float = 2.0
    rate: float | None = None
    size_exponent: float = SIZE_EXPONENT
    size_shift: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        self._set("nodes", checked_whole("nodes", self.nodes, 0, MAX_IDS))
        self._set("topics", checked_whole("topics", self.topics, 1, MAX_IDS))
        self._set("popularity", _one_of("popularity", self.popularity, POPULARITIES))
        self._set("sizes", _one_of("sizes", self.sizes, SIZES))
        self._set("alpha", _exponent("alpha", self.alpha))
        self._set("size_exponent", _exponent("size_exponent", self.size_exponent))
        self._set("size_shift", checked_whole("size_shift", self.size_shift, 0, MAX_IDS))
        self._settle_rate()
        self._set("seed", checked_seed(self.seed))
        self._set("subscriptions", checked_whole("subscriptions", self.subscriptions, 1, MAX_IDS))
        if self.sizes == "power-law":
            self._settle_size_range()
        else:
            self._refuse_size_range()
            _at_most_topics("subscriptions", self.subscriptions, self.topics)

    def _settle_rate(self) -> None:
        if self.rate is not None:
            self._set("rate", _exponent("rate", self.rate))
            if self.popularity != "exponential":
                raise InvalidOptionError(
                    f"rate is for popularity='exponential' only, and popularity is {self.popularity!r}"
                )

    def _settle_size_range(self) -> None:
        smallest = min(PAPER_MIN_SIZE, self.topics) if self.min_size is None else self.min_size
        largest = min(PAPER_MAX_SIZE, self.topics) if self.max_size is None else self.max_size
        smallest = checked_whole("min_size", smallest, 1, MAX_IDS)
        largest = checked_whole("max_size", largest, 1, MAX_IDS)
        if smallest > largest:
            raise InvalidOptionError(f"min_size is {smallest:,}, above max_size, which is {largest:,}")
        _at_most_topics("max_size", largest, self.topics)
        if self.size_shift >= smallest:
            raise InvalidOptionError(
                f"size_shift is {self.size_shift:,}; it has to be below min_size, which is {smallest:,}"
            )
        self._set("min_size", smallest)
        self._set("max_size", largest)

    def _refuse_size_range(self) -> None:
        for name in ("min_size", "max_size"):
            if getattr(self, name) is not None:
                raise InvalidOptionError(f"{name} is for sizes='power-law' only, and sizes is {self.sizes!r}")
        if self.size_shift:
            raise InvalidOptionError(f"size_shift is for sizes='power-law' only, and sizes is {self.sizes!r}")

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)


def _one_of(name: str, value: Any, choices: tuple[str, ...]) -> str:
    if value not in choices:
        raise InvalidOptionError(f"{name} is {value!r}; one of {', '.join(choices)} is accepted")
    return str(value)


def _exponent(name: str, value: Any) -> float:
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not real or not 0 <= value <= sys.float_info.max:
        raise InvalidOptionError(f"{name} is {value!r}; a finite number from 0 up is accepted")
    return float(value)


def _at_most_topics(name: str, value: int, topics: int) -> None:
    if value > topics:
        raise InvalidOptionError(f"{name} is {value:,}, but there are {topics:,} topics to choose from")
