"""Rehearsals that are too large for every push: a thousand brokers, ten failures, a switch of trees, three others.

Everything runs on loopback, one rehearsal after the other, and ends by itself. Exit code 1 when something that the
project promises does not hold; the printed table has what was asked and what was measured.
"""

import sys
from collections.abc import Callable

import topicloom as tl
from topicloom.cli.console import print_table, tell
from topicloom.deploy import Network, Rehearsal, rehearse
from topicloom.errors import BrokerUnavailableError

Line = tuple[str, str, str, bool]


def interest(nodes: int, topics: int) -> tl.Interest:
    return tl.generate(nodes=nodes, topics=topics, subscriptions=5, popularity="zipf", alpha=1.0, seed=7)


def planned(given: tl.Interest, method: str, standby: int = 0, *, forests: bool = False) -> Network:
    return Network.from_plan(tl.Plan(tl.routes(tl.design(given, method), standby=standby, forests=forests)))


def once(result: Rehearsal) -> str:
    counts = result.counts
    wrong = counts.missing + counts.extra + counts.unwanted
    return f"{counts.exactly_once:,} of {counts.expected:,} once, {wrong} wrong, {result.seconds:.0f} s"


def thousand() -> Line:
    given = tl.generate(nodes=1000, topics=1000, subscriptions=5, popularity="uniform", seed=7)
    result = rehearse(planned(given, "gm"))
    held = result.ok and result.memory <= 2e9
    return "1,000 Mosquitto brokers", "all once, ≤ 2 GB", f"{once(result)}, {result.memory / 1e9:.2f} GB", held


def failures() -> Line:
    network = planned(interest(94, 120), "gm2", standby=1)
    result = rehearse(network, kill=network.busiest()[:10])
    worst = max(one.watched_seconds if one.outage_seconds is None else one.outage_seconds for one in result.failovers)
    wrong = sum(one.duplicates + one.wrong_elsewhere + one.clients_cut + one.return_wrong for one in result.failovers)
    measured = f"worst {worst * 1000:.0f} ms, {wrong} wrong; then {once(result)}"
    return "the ten busiest of 94 killed in turn", "≤ 0.5 s each, 0 wrong", measured, result.ok and worst <= 0.5


def change() -> Line:
    given = interest(94, 120)
    old = Network.from_plan(tl.Plan(tl.routes(tl.design(given, "gm2"))))
    new = Network.from_plan(tl.Plan(tl.routes(tl.design(given, "cd-oda-2"))))
    result = rehearse(old, new=new)
    switched = result.switched
    assert switched is not None
    held = result.ok and switched.topics >= 20 and switched.switch_seconds <= 1
    measured = (
        f"{switched.topics} topics in {switched.switch_seconds:.2f} s, {switched.extra} extra, {switched.lost} lost, "
        f"{switched.wrong_elsewhere} wrong elsewhere"
    )
    return "trees of 20 or more topics switched", "≤ 1 s, 0 extra, 0 wrong elsewhere", measured, held


def nats() -> Line:
    result = rehearse(planned(interest(94, 120), "gm"), "nats")
    return "94 NATS servers", "all once, in_msgs excess 0", f"{once(result)}, excess {result.excess}", result.ok


def zenoh() -> Line:
    result = rehearse(planned(interest(94, 120), "gm"), "zenoh")
    assert result.transit is not None
    measured = f"{once(result)}, {result.transit[0]:,} to {result.transit[1]:,} in transit"
    return "94 Zenoh routers in this process", "all once", measured, result.ok


def rabbitmq() -> Line:
    what, asked = "5 RabbitMQ brokers", "all once"
    try:
        result = rehearse(planned(interest(5, 12), "gm", forests=True), "rabbitmq")
    except BrokerUnavailableError as error:
        return what, asked, f"not run: {error}", False
    return what, asked, once(result), result.ok


LARGE: tuple[Callable[[], Line], ...] = (thousand, failures, change, nats, zenoh, rabbitmq)


def main(names: list[str]) -> int:
    lines = []
    for one in LARGE:
        if not names or one.__name__ in names:
            tell(f"rehearsing: {one.__name__}")
            lines.append(one())
    rows = [(what, asked, measured, "yes" if held else "NO") for what, asked, measured, held in lines]
    print_table(("rehearsal", "asked", "measured", "held"), rows)
    return 0 if all(held for *_, held in lines) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
