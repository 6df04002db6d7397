"""What topicloom knows of each construction method: enough to choose one, call it and refuse what it cannot do."""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar, cast

from topicloom.errors import InvalidOptionError
from topicloom.model import Interest, Overlay
from topicloom.model.checks import checked_whole
from topicloom.model.interest import checked_interest

AT_ONCE = 2  # threads that share the pieces of one design in a process; see decision 9


class Size(NamedTuple):
    """What a memory estimate depends on."""

    nodes: int
    topics: int
    subscriptions: int


class Method(Protocol):
    """A construction method: interest first, options by keyword, seed last."""

    def __call__(self, interest: Interest, *, seed: int = 0, **options: Any) -> Overlay: ...


@dataclass(frozen=True)
class MethodSpec:
    """A method and what to know before choosing it.

    Attributes
    ----------
    name, function
        Its name in `topicloom.METHODS` and on the command line, and the function behind it.
    problem, guarantee, cost, paper : str
        What it optimises, what it promises, what it takes, where it comes from.
    options : mapping
        Option name -> default.
    memory : callable
        Upper estimate of the bytes it takes beyond the interest itself, from a `Size` and all its options; ask
        `bytes_needed`, which fills in the defaults.
    max_k : int or None
        Highest k for which the result is k-topic-connected; None when ``k`` is one of its options.
    reference : bool
        Kept to compare with, not to recommend.
    promises : callable, optional
        The k that the result reaches with given options, if that is more than 1 with some of them.
    check : callable, optional
        Refuses option values that the method would refuse, before anything is read.
    bars : bool
        Whether it can do without given links (``forbid``).
    parallel : bool
        Whether several tasks of Spark can work on it, and keep what they finish in a work folder.
    share : callable, optional
        The most of an interest of a given `Size` that one task holds, with given options, if that is not all of it.
    chooses : callable, optional
        Names the method to use for an interest of a given `Size`, and whether links are forbidden, with the reason, if
        it only chooses among others.
    """

    name: str
    function: Method
    problem: str
    guarantee: str
    cost: str
    paper: str
    options: Mapping[str, Any]
    memory: Callable[[Size, Mapping[str, Any]], int]
    max_k: int | None = 1
    reference: bool = False
    promises: Callable[[Mapping[str, Any]], int] | None = None
    check: Callable[[Mapping[str, Any]], object] | None = None
    bars: bool = False
    parallel: bool = False
    share: Callable[..., Size] | None = None
    chooses: Callable[[Size, bool], tuple[str, str]] | None = None

    @property
    def divides(self) -> bool:
        """Whether tasks design parts of an interest, whose links are merged afterwards."""
        return self.share is not None

    @property
    def in_rounds(self) -> bool:
        """Whether all tasks look at the whole interest, round after round."""
        return self.parallel and not self.divides

    @property
    def resumable(self) -> bool:
        """Whether a run on Spark may keep finished work, from which the same command resumes."""
        return self.parallel or self.chooses is not None

    def bytes_needed(self, size: Size, options: Mapping[str, Any] | None = None) -> int:
        """Upper estimate of the bytes that the method takes beyond the interest itself."""
        return self.memory(size, {**self.options, **(options or {})})

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready dictionary, as ``topicloom methods --json`` prints it."""
        texts = {key: getattr(self, key) for key in ("name", "problem", "guarantee", "cost", "paper")}
        return {**texts, "options": dict(self.options), "max_k": self.max_k, "reference": self.reference}


Function = TypeVar("Function", bound=Callable[..., Overlay])
_SPECS: dict[str, MethodSpec] = {}
_COMMON = ("seed", "forbid", "standing")


def method(name: str, **facts: Any) -> Callable[[Function], Function]:
    """Enter a function into the registry under a name. Its keyword-only parameters are its options."""

    def enter(function: Function) -> Function:
        parameters = inspect.signature(function).parameters.values()
        options = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY and p.name not in _COMMON}
        bars = any(p.name == "forbid" for p in parameters)

        @functools.wraps(function)
        def checked(interest: Interest, *arguments: Any, **options: Any) -> Overlay:
            return function(checked_interest(interest, function.__name__), *arguments, **options)

        _SPECS[name] = MethodSpec(name=name, function=checked, options=options, bars=bars, **facts)
        return cast(Function, checked)

    return enter


def registered() -> Mapping[str, MethodSpec]:
    """All methods entered so far, in the order of their definition."""
    return _SPECS


def spec_of(name: str) -> MethodSpec:
    """The method of that name, or an error that lists those there are."""
    if not isinstance(name, str) or name not in _SPECS:
        raise InvalidOptionError(f"there is no method {name!r}; the methods are {', '.join(_SPECS)}")
    return _SPECS[name]


def method_for(k: int) -> str:
    """Name of the method to use when only the topic-connectivity is given.

    For 2 it is ``stacked-gm``, which is then ``gm2`` without the links that no topic needs (docs/decisions/0008).

    >>> [method_for(k) for k in (1, 2, 3, 12)]
    ['gm', 'stacked-gm', 'harary-pt', 'harary-pt']
    """
    return {1: "gm", 2: "stacked-gm"}.get(checked_whole("k", k, 1), "harary-pt")


def design(
    interest: Interest, method: str | None = None, *, seed: int = 0, forbid: Any = None, **options: Any
) -> Overlay:
    """Choose links for an interest by a named method.

    Same interest, method, options and seed: identical links, on every machine.

    Parameters
    ----------
    interest : Interest
    method : str, optional
        One of `topicloom.METHODS`; ``gm`` unless given. With ``k`` alone the method that suits it: ``design(interest,
        k=2)`` survives the failure of any one node.
    seed : int
        Decides between equally good links.
    forbid : ForbiddenLinks, or pairs of node labels or ids, optional
        Links that may not be used, kept in ``overlay.forbidden``; for ``gm``,
        ``weighted-gm``, ``minmax-oda``, ``low-oda``, ``gm2``, ``stacked-gm`` and ``auto``. A topic that needs one of
        them stays unconnected, and `verify` says so.
    **options
        Those of the method, such as ``rho=3`` for ``low-oda``.

    Returns
    -------
    Overlay
        The links in the order in which they were chosen, with method, options and seed.

    Raises
    ------
    InvalidOptionError
        No such method, an option that it does not have, or a value out of range.

    See Also
    --------
    verify : judge links of any origin.
    measure : degrees, diameters and hops.
    refine : fewer links for more time.

    Notes
    -----
    The cost is that of the method: ``topicloom.METHODS[name].cost`` says it.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.Interest.from_pairs(list("aabbccdd"), list("xyxyxzxz"))
    >>> tl.design(interest, "gm").n_links, tl.design(interest, "ring-pt").n_links
    (3, 4)
    >>> tl.design(interest, k=2).method
    'stacked-gm'
    >>> factory = tl.datasets.example()
    >>> [tl.design(factory, method).n_links for method in ("gm", "ring-pt", "full-mesh")]
    [7, 12, 15]
    """
    checked_interest(interest, "design")
    if method is None:
        method = method_for(options.get("k", 1))
        options = {name: value for name, value in options.items() if name != "k" or "k" in spec_of(method).options}
    spec = spec_of(method)
    check_options(spec, options)
    if forbid is None:
        return spec.function(interest, seed=seed, **options)
    check_bars(spec)
    return spec.function(interest, seed=seed, forbid=forbid, **options)


def check_bars(spec: MethodSpec) -> None:
    """Refuse a method that cannot do without given links."""
    if not spec.bars:
        able = ", ".join(name for name, other in _SPECS.items() if other.bars)
        raise InvalidOptionError(f"{spec.name} cannot keep off forbidden links; {able} can")


def check_options(spec: MethodSpec, options: Mapping[str, Any]) -> None:
    """Refuse options that a method does not have, and values that it would refuse."""
    for name in options:
        if name not in spec.options:
            accepted = ", ".join(sorted(spec.options)) or "none"
            raise InvalidOptionError(f"{spec.name} has no option {name!r}; its options: {accepted}")
    if spec.check is not None:
        spec.check(options)
