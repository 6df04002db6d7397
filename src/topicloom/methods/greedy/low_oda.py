"""Low-ODA: low average and low maximum degree together."""

from typing import Any

from topicloom.methods.greedy.grown import greedy_memory, run_greedy
from topicloom.methods.registry import method
from topicloom.model import Interest, Overlay
from topicloom.model.checks import checked_rho


@method(
    "low-oda",
    problem="low average and low maximum degree together (Low-TCO)",
    guarantee="topic-connected; average degree O(rho · log subscriptions) times the lowest possible, maximum degree "
    "O((nodes / rho) · log subscriptions) times",
    cost="about three times the time of gm at most, up to 15 % more memory",
    paper="Onus, Richa: Parameterized Maximum and Average Degree Approximation in Topic-Based Publish-Subscribe, §3",
    memory=greedy_memory,
    check=lambda options: checked_rho(options.get("rho", 3.0)),
)
def low_oda(interest: Interest, *, rho: float = 3.0, seed: int = 0, forbid: Any = None) -> Overlay:
    """Overlay with low average and low maximum degree.

    At each step, e1 is the best link among those that raise the maximum degree least, e2 the best of all; e1 is added
    if its contribution is at least that of e2 divided by ``rho``, else e2. ``rho=1`` behaves as Greedy Merge, a large
    one as MinMax-ODA (infinity gives its very links).

    Topic-connected. The average degree is O(rho · log Σ|T(v)|) times the lowest possible, the maximum degree
    O((|V| / rho) · log Σ|T(v)|) times: a small ``rho`` does not keep hubs away on every interest. Takes up to about
    three times as long as `greedy_merge`, and little more memory.

    Parameters
    ----------
    interest : Interest
    rho : float
        How much contribution may be given up for a lower maximum degree; at least 1.
    seed : int
        Decides between equally good links.
    forbid : pairs of node labels or ids, optional
        Links that may not be used, as in `design`.

    Returns
    -------
    Overlay

    See Also
    --------
    greedy_merge : what ``rho=1`` comes near.
    minmax_oda : what an infinite ``rho`` gives.

    References
    ----------
    [low-oda] §3, Theorems 1 and 2, where ``rho`` is called k; docs/papers.md.

    Examples
    --------
    >>> import topicloom as tl
    >>> interest = tl.generate(nodes=200, topics=50, subscriptions=10, seed=1)
    >>> average = [tl.low_oda(interest, rho=rho).n_links for rho in (1, 2, 8)]
    >>> average == sorted(average)
    True
    >>> factory = tl.datasets.example()
    >>> tl.low_oda(factory, rho=2).n_links
    8
    """
    rho = checked_rho(rho)
    return run_greedy(interest, "low-oda", rho=rho, options={"rho": rho}, forbid=forbid, seed=seed)
