"""Hostile names by the thousand, and readers of the exported files that share no code with the writers."""

import json
import random
import sys
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

from support.broker_networks import SECURED, loopback, network_of
from topicloom.deploy import export, fits

PIECES = [
    *"abz09/.-_~%*>+#$\"'\\{}()[]:;,=&|<>@!?^`",
    " ", "  ", "\t", "\n", "\r", "\r\n", "\x00", "\x01", "\x1b[31m", "\x7f", "\x85", "\u2028", "\u2029", "\xa0",
    "\ufeff", "\ufffe", "\uffff", "\U0001fffe", "\ufdd0", "\ud800", "\udfff", "é", "e\u0301", "漢", "🙂", "\u202e",
    "//", "$SYS/", "$share/", "_INBOX.", "amq.", "%u", "%c", "{{ 7*7 }}", "${HOME}", "$HOME", "`id`", "<b>", "]]>",
    "connection x", "listener 1", "\nlistener 1\n", "\ntopic # both 2", '"}]', "include '/etc/passwd'", "both 1",
    "a" * 300, "--",
]  # fmt: skip


def hostile_names(number: int, seed: int) -> Iterator[str]:
    """Different names, the same for a seed."""
    draw, seen = random.Random(seed), set()
    while len(seen) < number:
        name = "".join(draw.choice(PIECES) for _ in range(draw.randint(0, 6)))
        if draw.random() < 0.02:
            name = name * draw.randint(1, 300)
        if name not in seen:
            seen.add(name)
            yield name


def round_trip(target: str, version: str, names: Iterable[str]) -> tuple[int, int]:
    """Export every name that fits as the topic of one link, and read the topics back. Returns accepted and refused.

    Raises AssertionError when a name comes back changed, or when the files have another line than they should.
    """
    accepted = refused = 0
    batch: list[str] = []
    for name in names:
        if fits(name, target, version):
            accepted += 1
            batch.append(name)
        else:
            refused += 1
        if len(batch) == 500:
            check(target, version, batch)
            batch = []
    check(target, version, batch)
    return accepted, refused


def check(target: str, version: str, topics: list[str]) -> None:
    network = network_of([(topic, "edge", "hub", "edge", place % 2 == 0) for place, topic in enumerate(topics)])
    plain = network_of([(f"t{place}", "edge", "hub", "edge", place % 2 == 0) for place in range(len(topics))])
    made = export(network, target, loopback(network, **SECURED.get(target, {})), version=version).files
    expected = export(plain, target, loopback(plain, **SECURED.get(target, {})), version=version).files
    special = sum(topic.startswith("$") for place, topic in enumerate(topics))
    read = {"mosquitto": read_mosquitto, "nats": read_nats, "zenoh": read_zenoh, "rabbitmq": read_rabbitmq}[target]
    for path, text in made.items():
        injected = len(text.split("\n")) - len(expected[path].split("\n"))
        assert injected == (2 * special if target == "mosquitto" and path.endswith(".acl") else 0), path
    assert read(made) == (set(topics) if target in ("mosquitto", "zenoh") else set(topics[::2]))


def read_mosquitto(files: dict[str, str]) -> set[str]:
    """Topics of the bridge, as Mosquitto reads lines: split on line feeds, then on spaces or one pair of quotes."""
    found = set()
    for line in files["edge.conf"].encode().split(b"\n"):
        if line.startswith(b"topic "):
            body, end = line[len(b"topic ") :], b" both 1"
            assert body.endswith(end)
            name = body[: -len(end)]
            if b" " in name:
                assert name.startswith(b'"') and name.endswith(b'"') and name.count(b'"') == 2
                name = name[1:-1]
            found.add(name.decode())
    shut = [line[len("topic deny ") :] for line in files["hub.acl"].split("\n") if line.startswith("topic deny ")]
    assert set(shut) <= found
    return found


def read_nats(files: dict[str, str]) -> set[str]:
    """Topics of the exported streams, by undoing NATS' quoting and its map of topics."""
    found = set()
    for line in files["edge.conf"].split("\n"):
        start = line.find('{stream: "')
        if start >= 0:
            quoted, _ = json.JSONDecoder(strict=True).raw_decode(line[start + len("{stream: ") :])
            levels = [level if level != "/" else "" for level in quoted.split(".")]
            found.add("/".join(level.replace("//", ".") for level in levels))
    return found


def read_zenoh(files: dict[str, str]) -> set[str]:
    """Topics of the table of keys, each by undoing its key; keys keep Zenoh's rules."""
    found = set()
    for topic, key in json.loads(files["keys.json"]).items():
        levels = key.split("/")
        assert all(level and not set(level) & set("#?$*") and not level.startswith("@") for level in levels)
        assert "/".join("" if level == "%" else unquote(level, errors="strict") for level in levels) == topic
        found.add(topic)
    return found


def read_rabbitmq(files: dict[str, str]) -> set[str]:
    """Topics that are bound both ways between the clients' exchange and a forest's."""
    bindings = json.loads(files["edge.definitions.json"])["bindings"]
    there, back = ({one["routing_key"] for one in bindings if one[end] == "loom"} for end in ("source", "destination"))
    assert there == back and len(bindings) == len(there) + len(back)
    return there


def main(number: int) -> None:
    """Round-trip this many hostile names per target and print what became of them."""
    for target, version in (
        ("mosquitto", "2.0"),
        ("mosquitto", "2.1"),
        ("nats", "2.10"),
        ("zenoh", "1.10"),
        ("rabbitmq", "3.10"),
    ):
        accepted, refused = round_trip(target, version, hostile_names(number, seed=0))
        print(f"{target} {version}: {accepted:,} read back unchanged, {refused:,} refused, 0 lines injected")


if __name__ == "__main__":
    main(int(sys.argv[1]))
