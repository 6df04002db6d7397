"""Small interests with readable names, for examples, notebooks and first tries."""

from topicloom.model import Interest

_FACTORY = {
    "crane": ("alarms", "deliveries", "parts", "stock"),
    "gate": ("alarms", "badges", "deliveries"),
    "lathe": ("alarms", "parts", "temperature"),
    "office": ("alarms", "badges", "orders", "stock"),
    "oven": ("alarms", "temperature"),
    "press": ("alarms", "orders", "parts", "temperature"),
}


def example() -> Interest:
    """Six brokers of a small factory and the seven topics that they want.

    All six want ``alarms``; every other topic has two or three subscribers. Seven links are enough for all topics; a
    tree of its own for every topic would take 13 links.

    Returns
    -------
    Interest
        The same one in every version of topicloom.

    Examples
    --------
    >>> import topicloom as tl
    >>> factory = tl.datasets.example()
    >>> factory
    Interest(6 nodes, 7 topics, 20 subscriptions)
    >>> factory.node_labels.tolist()
    ['crane', 'gate', 'lathe', 'office', 'oven', 'press']
    >>> overlay = tl.design(factory)
    >>> overlay.n_links, overlay.verify().ok, overlay.verify(k=2).ok
    (7, True, False)
    """
    pairs = [(broker, topic) for broker, topics in _FACTORY.items() for topic in topics]
    return Interest.from_pairs([broker for broker, _ in pairs], [topic for _, topic in pairs])
