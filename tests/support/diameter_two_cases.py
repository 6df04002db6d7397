"""The fixed instances of the Low-ODA paper: Lemmas 1, 5 and 6, and Case VII."""

import topicloom as tl


def _interest(wants: dict[str, list[str]]) -> tl.Interest:
    """Interest in which node ids follow the order of the dictionary."""
    numbered = {f"{number:04d}-{node}": topics for number, (node, topics) in enumerate(wants.items())}
    pairs = [(node, topic) for node, topics in numbered.items() for topic in topics]
    return tl.Interest.from_pairs([node for node, _ in pairs], [topic for _, topic in pairs])


def lemma_1(n: int) -> tl.Interest:
    """Topics t_ij, all wanted by v1, and by vi those with i among their two numbers; a star around v1 is enough."""
    numbers = range(1, n + 1)
    wants = {"v1": [f"{i},{j}" for i in numbers for j in numbers]}
    for i in range(2, n + 1):
        wants[f"v{i}"] = sorted({f"{i},{j}" for j in numbers} | {f"{j},{i}" for j in numbers})
    return _interest(wants)


def lemma_5(n: int) -> tl.Interest:
    """Staircase: vi wants t1 … ti; a star around vn is enough."""
    return _interest({f"v{i}": [f"t{j:03d}" for j in range(1, i + 1)] for i in range(1, n + 1)})


def lemma_6(n: int) -> tl.Interest:
    """Staircase of v1 … vn, and each vi shares a set Si of n³(n - i + 1) topics with ui; nodes v1 … vn, u1 … un."""
    own = {i: [f"s{i:02d}-{k}" for k in range(n**3 * (n - i + 1))] for i in range(1, n + 1)}
    stairs = {f"v{i}": [f"t{j:03d}" for j in range(1, i + 1)] + own[i] for i in range(1, n + 1)}
    return _interest({**stairs, **{f"u{i}": own[i] for i in range(1, n + 1)}})


def case_vii(n: int) -> tl.Interest:
    """§6.4: v1 wants x1 … xn and z, v2 x1 … xn, w wants z, and u1 … u(n-3) want x1 and y."""
    xs = [f"x{j:03d}" for j in range(1, n + 1)]
    wants = {"v1": [*xs, "z"], "v2": xs, "w": ["z"]}
    return _interest({**wants, **{f"u{i}": ["x001", "y"] for i in range(1, n - 2)}})
