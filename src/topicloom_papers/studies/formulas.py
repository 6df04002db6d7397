"""Formulas over finished cells: how a table of published numbers says which number of ours is meant.

``metric[conditions]`` is the mean of a metric under some conditions. A condition is ``column=value``, a name of the
paper's table, or a method; ``none`` is an option that was not given, ``a|b`` either of two, and later ones override.
``largest``, ``smallest``, ``average`` and ``furthest`` (from 1) pick among numbers, and first repeat them under
``[conditions]`` with alternatives; ``popularity=*`` are all three. The functions of `CURVES` take columns and then a
curve over these: ``mean(nodes, links[gm2] / links[gm])``. Those of `ANSWERS` are Python.
"""

import ast
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from topicloom_papers.page.lookup import NotMeasuredError, Results

# Names as in the papers' legends.
POPULARITIES: Mapping[str, str] = {"exponential": "Expo", "zipf": "Zipf", "uniform": "Unif"}
Where = Mapping[str, Any]
_TERM = re.compile(r"(\w*)\[((?:\"[^\"]*\"|[^\]\"])*)\]")
_ITEM = re.compile(r"\s*((?:\"[^\"]*\"|[^,\"])+)")
_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def options_of(text: str, names: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Read ``column=value, name, method`` as conditions or as options."""
    found: dict[str, Any] = {}
    for item in (match[1].strip() for match in _ITEM.finditer(text)):
        column, equals, value = item.partition("=")
        if not equals:
            found |= options_of(names[item], names) if names and item in names else {"method": item}
        elif value == "*":
            found[column] = tuple(POPULARITIES)
        else:
            values = tuple(_value(one) for one in value.split("|"))
            found[column] = values if len(values) > 1 else values[0]
    return found


def alternatives(options: Where) -> Iterator[dict[str, Any]]:
    """Every way to take one value of each option."""
    columns = [value if isinstance(value, tuple) else (value,) for value in options.values()]
    return (dict(zip(options, chosen)) for chosen in product(*columns))


def _value(text: str) -> Any:
    if text == "none":
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text.strip('"')


@dataclass(frozen=True)
class Term:
    """A metric under conditions."""

    metric: str
    where: Where


@dataclass(frozen=True)
class Formula:
    """A formula, and the names that conditions of its paper have. Called with results, it is their answer."""

    text: str
    names: Mapping[str, str] = field(default_factory=dict, compare=False)

    @cached_property
    def _parsed(self) -> tuple[ast.expr, list[Term]]:
        terms: list[Term] = []

        def numbered(match: re.Match[str]) -> str:
            terms.append(Term(match[1], options_of(match[2], self.names)))
            return f"_{len(terms) - 1}"

        return ast.parse(_TERM.sub(numbered, self.text), mode="eval").body, terms

    def term(self) -> Term:
        """The only term of the formula."""
        return self._parsed[1][0]

    def __call__(self, results: Results) -> float:
        """Answer from some results.

        Raises
        ------
        NotMeasuredError
            Nothing that the formula asks for was measured.
        """
        tree, terms = self._parsed
        return float(_Evaluation(results, terms).read(tree))


@dataclass(frozen=True)
class _Evaluation:
    """A formula being evaluated: for numbers, or over columns for curves, and under further conditions."""

    results: Results
    terms: Sequence[Term]
    columns: Sequence[str] = ()
    more: Where = field(default_factory=dict)

    def read(self, tree: ast.expr) -> Any:
        match tree:
            case ast.Constant(value=value):
                return value
            case ast.Name():
                term = self.term(tree)
                if self.columns:
                    return curve(self.results, self.columns, term)
                return self.results.mean(term.metric, **term.where)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                return _OPERATORS[type(op)](self.read(left), self.read(right))
            case ast.Call(func=ast.Name(id=name), args=args):
                return self.call(name, args)
        raise ValueError(f"{ast.unparse(tree)!r} is no formula")

    def term(self, tree: ast.expr) -> Term:
        """The term that a name stands for, under the further conditions too."""
        if not isinstance(tree, ast.Name) or not tree.id.startswith("_"):
            raise ValueError(f"{ast.unparse(tree)!r} is not of the form metric[conditions]")
        term = self.terms[int(tree.id[1:])]
        return Term(term.metric, {**term.where, **self.more})

    def call(self, name: str, args: Sequence[ast.expr]) -> Any:
        """The value of a function."""
        if name == "abs":
            return abs(self.read(args[0]))
        if name in PICKS:
            return PICKS[name](self.each(args))
        if name in CURVES:
            columns = [column.id for column in args[:-1] if isinstance(column, ast.Name)]
            within = _Evaluation(self.results, self.terms, columns, self.more)
            return CURVES[name](within.read(args[-1]))
        if name == "point":  # (column, place, curve)
            found = self.call("curve", [args[0], args[2]])
            place = self.read(args[1])
            if place not in found.index:
                raise NotMeasuredError(f"nothing at {place}")
            return float(found[place])
        if name not in ANSWERS:
            raise ValueError(f"{name}() is no formula: functions are {', '.join(sorted({*PICKS, *CURVES, *ANSWERS}))}")
        return ANSWERS[name](self.results, *(self.term(one) for one in args))

    def each(self, args: Sequence[ast.expr]) -> list[float]:
        """The numbers that a function picks among."""
        first = self.term(args[0]) if isinstance(args[0], ast.Name) else None
        if first is None or first.metric:
            return [self.read(one) for one in args]
        ways = [{**self.more, **way} for way in alternatives(first.where)]
        return [_Evaluation(self.results, self.terms, (), way).read(one) for way in ways for one in args[1:]]


def curve(results: Results, columns: Sequence[str], term: Term) -> Any:
    """The mean of a term for each value of some columns."""
    if len(columns) == 1:
        return results.by(columns[0], term.metric, **term.where)
    return results.select(term.metric, **term.where).groupby(list(columns))["value"].mean()


def _points(values: Any) -> "np.ndarray[Any, np.dtype[np.float64]]":
    if len(values) < 2:  # as at a smaller scale than the paper's
        raise NotMeasuredError("one point is no curve")
    return np.asarray(values, np.float64)


def growth(values: Any) -> float:
    """Last point of a curve over the first one: at least 1 where it rises, at most 1 where it falls."""
    points = _points(values)
    return float(points[-1] / points[0])


def unevenness(values: Any) -> float:
    """Highest point of a curve over its lowest one: 1 where it is level."""
    points = _points(values)
    return float(points.max() / points.min())


def linearity(values: Any) -> float:
    """Correlation of a curve with its abscissa: 1 where it is a straight line that rises."""
    return float(np.corrcoef(np.asarray(values.index, float), _points(values))[0, 1])


def wrong_way(values: Any) -> float:
    """Largest ratio of two neighbouring points that goes the other way: down before the peak, up after it."""
    points = np.asarray(values, np.float64)
    steps = points[1:] / points[:-1]
    peak = int(np.argmax(points))
    return float(max([*(1 / steps[:peak]), *steps[peak:]]))


def lowest_at(values: Any) -> float:
    """Place at which a curve is lowest."""
    return float(np.asarray(values.index)[int(np.argmin(values))])


def peak_at(values: Any, share: float = 1.0) -> float:
    """Place of the first point that has such a share of the highest one."""
    return float(np.asarray(values.index)[np.asarray(values) >= share * values.max()].min())


PICKS: Mapping[str, Callable[[list[float]], float]] = {
    "largest": max,
    "smallest": min,
    "average": lambda values: float(np.mean(values)),
    "furthest": lambda values: max(values, key=lambda value: abs(value - 1)),
}
CURVES: Mapping[str, Callable[[Any], Any]] = {
    "curve": lambda values: values,
    "mean": lambda values: float(values.dropna().mean()),
    "max": lambda values: float(values.max()),
    "min": lambda values: float(values.min()),
    **{function.__name__: function for function in (growth, unevenness, linearity, wrong_way, lowest_at, peak_at)},
    "plateau_at": lambda values: peak_at(values, 0.99),
}
ANSWERS: dict[str, Callable[..., float]] = {
    "least": lambda results, term: results.least(term.metric, **term.where),
    "most": lambda results, term: results.most(term.metric, **term.where),
    "variance": lambda results, term: float(results.select(term.metric, **term.where)["value"].var(ddof=1)),
}


def answer(function: Callable[..., float]) -> Callable[..., float]:
    """Let formulas call a function of results and terms by its name."""
    ANSWERS[function.__name__] = function
    return function
