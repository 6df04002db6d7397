"""A state of churn with slots that are the ids of an interest."""

import numpy as np

import topicloom as tl
from topicloom.churn.state import OverlayState


def state_of(interest: tl.Interest, links: set[tuple[int, int]], seed: int = 0) -> OverlayState:
    state = OverlayState(seed)
    slots = state.topic_slots([f"t{t:03}" for t in range(interest.n_topics)])
    for v in range(interest.n_nodes):
        state.want(state.add_node(f"n{v}"), slots[interest.topics_of(v)])
    pairs = np.array(sorted(links), np.int32).reshape(-1, 2)
    state.add_links(pairs[:, 0], pairs[:, 1])
    return state


def links_of(state: OverlayState) -> set[tuple[int, int]]:
    return set(state.links)
