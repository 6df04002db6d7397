"""MQTT topic filters: which names they match, and names that stand for what they match."""

PROBE = "any-topic"


def matches(pattern: str, name: str) -> bool:
    """Say whether a filter matches a name, as Mosquitto does: wildcards never match a leading ``$``.

    Examples
    --------
    >>> matches("a/#", "a"), matches("+/b", "a/b"), matches("#", "$SYS/x"), matches("a/+", "a/b/c")
    (True, True, False, False)
    """
    if pattern == name:
        return True
    if ("+" not in pattern and "#" not in pattern) or (pattern[:1] == "$") != (name[:1] == "$"):
        return False
    levels, given = pattern.split("/"), name.split("/")
    for place, level in enumerate(levels):
        if level == "#":
            return True
        if place >= len(given):
            return False
        if level not in ("+", given[place]):
            return False
    return len(levels) == len(given)


def is_wild(pattern: str) -> bool:
    """Whether a filter holds a wildcard."""
    return any(level in ("+", "#") for level in pattern.split("/"))


def example_of(pattern: str) -> str:
    """A name that a filter matches.

    >>> example_of("site/+/#")
    'site/any-topic/any-topic'
    """
    return "/".join(PROBE if level in ("+", "#") else level for level in pattern.split("/"))


def common(one: str, other: str) -> str | None:
    """A filter of what two filters both match, or None.

    >>> common("a/+", "+/b"), common("a/#", "a"), common("a", "b")
    ('a/b', 'a', None)
    """
    if (one[:1] == "$") != (other[:1] == "$"):
        return None
    left, right = one.split("/"), other.split("/")
    met: list[str] = []
    for place in range(max(len(left), len(right)) + 1):
        mine, yours = left[place : place + 1], right[place : place + 1]
        if mine == ["#"] or yours == ["#"]:
            return "/".join(met + (right if mine == ["#"] else left)[place:])
        if not mine or not yours:
            return "/".join(met) if mine == yours else None
        if mine != yours and "+" not in (mine[0], yours[0]):
            return None
        met.append(yours[0] if mine[0] == "+" else mine[0])
    return "/".join(met)
