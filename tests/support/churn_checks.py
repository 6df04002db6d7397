"""What tests of churn share: a model of who wants what, and a check of a maintainer against it."""

import numpy as np

import topicloom as tl


def check(m: tl.Maintainer, model: dict[str, set[str]], k: int = 1) -> None:
    """The state is the model's, k-topic-connected, with exact backups and primaries."""
    interest, overlay = m.interest, m.overlay
    assert overlay.interest is interest
    labels = interest.node_labels.tolist()
    assert labels == sorted(model)
    names = interest.topic_labels.tolist()
    assert {label: {names[t] for t in interest.topics_of(v)} for v, label in enumerate(labels)} == model
    verdict = tl.verify(interest, overlay.links, k)
    assert verdict.ok, verdict.broken
    if m.options["policy"] != "shadow":
        return
    for label, topics in model.items():
        backups = m.backups_of(label)
        assert label not in backups and len(set(backups)) == len(backups)
        for topic in topics:
            others = sum(topic in wanted for wanted in model.values()) - 1
            covered = sum(topic in model[backup] for backup in backups)
            assert covered >= min(m.options["coverage"], others)
        assert all(model[backup] & topics for backup in backups)
        assert all(label in m.primaries_of(backup) for backup in backups)
        assert all(label in m.backups_of(primary) for primary in m.primaries_of(label))


def model_of(interest: tl.Interest) -> dict[str, set[str]]:
    return {
        interest.node_label(v): {interest.topic_label(t) for t in interest.topics_of(v)}
        for v in range(interest.n_nodes)
    }


def interest_of(model: dict[str, set[str]]) -> tl.Interest:
    nodes = sorted(model)
    names = sorted(set().union(*model.values()))
    rows = [sorted(names.index(topic) for topic in model[node]) for node in nodes]
    flat = np.array([t for row in rows for t in row], np.int64)
    indptr = np.cumsum([0, *map(len, rows)])
    return tl.Interest.from_csr(indptr, flat, len(names), node_labels=nodes, topic_labels=names)


def link_labels(m: tl.Maintainer) -> set[tuple[str, str]]:
    labels = m.interest.node_labels.tolist()
    return {(labels[u], labels[v]) for u, v in m.overlay.links.tolist()}


def maintained(nodes: int = 60, seed: int = 1, **options) -> tuple[tl.Maintainer, dict[str, set[str]]]:
    interest = tl.generate(nodes=nodes, topics=15, subscriptions=5, seed=seed)
    model = model_of(interest)
    overlay = tl.gm2(interest) if options.get("k", 1) == 2 else tl.low_oda(interest)
    return tl.Maintainer(interest, overlay, **options), model
