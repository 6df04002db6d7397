"""Small plots as inline SVG, without a style attribute: the policy of the page forbids them."""

from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise

WIDTH, HEIGHT = 200, 42


def histogram(counts: Mapping[int, int], one: str, unit: str, units: str) -> str:
    """Draw how many things have each value; 40 or more values go into bins that double.

    Parameters
    ----------
    counts : mapping of int to int
        Value -> number of things; not empty.
    one : str
        What is counted, such as ``broker``.
    unit, units : str
        What the values count, such as ``link`` and ``links``.
    """
    low, high = min(counts), max(counts)
    if high - low < 40:
        edges = list(range(low, high + 2))
    else:  # few values are large, and all should be seen
        edges = [low] if low == 0 else []
        edges += [2**k for k in range(max(low, 1).bit_length() - 1, high.bit_length() + 1)]
    bins = [sum(count for value, count in counts.items() if a <= value < b) for a, b in pairwise(edges)]
    ranges = [str(a) if b == a + 1 else f"{a}–{b - 1}" for a, b in pairwise(edges)]
    words = ", ".join(f"{values}: {count}" for values, count in zip(ranges, bins) if count)
    last = ranges[-1] if edges[-1] - edges[-2] == 1 else f"{edges[-2]}–{high}"
    plot = _bars(bins, f"{units} by {one}: {words}")
    return f'{plot}<div class="axis"><span>{ranges[0]} {unit if low == 1 else units}</span><span>{last}</span></div>'


def worst(values: Sequence[int]) -> str:
    """Draw how many topics the worst brokers cut, from the worst on. Nothing where there are none."""
    if not values:
        return ""
    plot = _bars(values, f"topics cut by the worst brokers, from the worst on: {', '.join(map(str, values))}", "warn")
    topics = "topic" if values[0] == 1 else "topics"
    return f'{plot}<div class="axis"><span>worst cuts {values[0]:,} {topics}</span></div>'


def beside(rows: Sequence[tuple[str, int]]) -> str:
    """Draw a value beside others. The first row is ours."""
    if len(rows) < 2:
        return ""
    most = max(value for _, value in rows) or 1
    lines = []
    for place, (name, value) in enumerate(rows):
        mine = " class=mine" if place == 0 else ""
        bar = f'<rect{mine} width="{max(1.2, 100 * value / most):.1f}" height="8" rx="1"/>'
        lines.append(
            f'<span{mine}>{escape(name)}</span><svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
            f"{bar}</svg><span{mine}>{value:,}</span>"
        )
    return f'<div class="with">{"".join(lines)}</div>'


def _bars(values: Sequence[int], words: str, kind: str = "") -> str:
    top, slot = max(values), WIDTH / max(len(values), 8)
    colour = f" class={kind}" if kind else ""
    bars = []
    for place, value in enumerate(values):
        if value:
            tall = max(1.5, value / top * HEIGHT)
            bars.append(
                f'<rect{colour} x="{place * slot:.1f}" y="{HEIGHT - tall:.1f}" width="{max(slot - 1.5, 1):.1f}" '
                f'height="{tall:.1f}" rx="1"/>'
            )
    box = f'viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="none"'
    return f'<svg {box} role="img" aria-label="{escape(words, quote=True)}">{"".join(bars)}</svg>'
