"""The greedy rules once more, slow and obvious: every pair is looked at before every link."""

from math import inf

import numpy as np

from topicloom.kernels.tie_order import arc, circle


class Reference:
    """State of a greedy run over plain sets: components per topic, degrees, candidates by rank."""

    def __init__(
        self, wants, seed, start_links=(), groups=None, pairs=None, topics=None, barred=(), max_degree=0, weights=None
    ):
        n = len(wants)
        self.weights = weights
        self.wants = [set(w) if topics is None else set(w) & set(topics) for w in wants]
        place = {int(v): p for p, v in enumerate(circle(n, seed))}
        pairs = [(u, v) for u in range(n) for v in range(u + 1, n)] if pairs is None else pairs
        pairs = {(min(p), max(p)) for p in pairs if p[0] != p[1]} - {(min(p), max(p)) for p in barred}
        self.pairs = sorted(pairs, key=lambda pair: arc(n, place[pair[0]], place[pair[1]]))
        self.component = {(v, t): (v,) for v in range(n) for t in self.wants[v]}
        if groups is not None:
            self.component = {(v, t): ("group", groups[v]) for v, t in self.component}
        self.degree = [0] * n
        self.max_degree = max_degree
        for u, v in start_links:
            self.add(u, v)

    def contribution(self, u, v):
        apart = [t for t in self.wants[u] & self.wants[v] if self.component[u, t] != self.component[v, t]]
        return len(apart) if self.weights is None else sum(self.weights[t] for t in apart)

    def add(self, u, v):
        for t in self.wants[u] & self.wants[v]:
            old, new = self.component[v, t], self.component[u, t]
            for key in [key for key, value in self.component.items() if key[1] == t and value == old]:
                self.component[key] = new
        for x in (u, v):
            self.degree[x] += 1
            self.max_degree = max(self.max_degree, self.degree[x])

    def choose(self, rho):
        """The next link by the rule, or None."""
        worth = {pair: self.contribution(*pair) for pair in self.pairs}
        positive = [pair for pair in self.pairs if worth[pair]]
        if not positive:
            return None
        best = max(positive, key=worth.get)  # max and min keep the first of equals, and pairs are sorted by rank
        if rho == 0:
            return best
        raised = {pair: max(self.max_degree, *(self.degree[x] + 1 for x in pair)) for pair in positive}
        least = min(raised.values())
        calm = max((pair for pair in positive if raised[pair] == least), key=worth.get)
        return calm if rho == inf or worth[calm] * rho >= worth[best] else best

    def run(self, rho):
        links = []
        while (link := self.choose(rho)) is not None:
            links.append(link)
            self.add(*link)
        return links


def csr(wants):
    """(indptr, topics) of a list of topic sets."""
    indptr = np.cumsum([0, *map(len, wants)]).astype(np.int64)
    return indptr, np.array([t for w in wants for t in sorted(w)], np.int32)
