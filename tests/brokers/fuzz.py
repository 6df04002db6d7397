"""Mutates real configurations and audits them: never a hang, never a traceback, never silent where the broker refuses.

``python -m brokers.fuzz 5000`` in ``tests/`` audits that number of folders. Its last line has the counts.
"""

import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

import topicloom as tl
from support.audited_networks import configurations
from support.broker_networks import Network, loopback, planned, stand_in
from topicloom.brokers.mosquitto.mosquitto_words import KNOWN
from topicloom.brokers.rehearsal.processes import free_ports, program
from topicloom.deploy import export
from topicloom.errors import TopicloomError

LONGEST = 10.0
EVERY = 10  # one folder in so many is given to the broker itself
SAYING = {"not-followed", "client-id-clash"}  # findings that say that a broker may not start
# what depends on the machine: files, certificates, hosts that must resolve, users
ELSEWHERE = {
    "log_dest", "include_dir", "pid_file", "user", "persistence", "persistence_location", "bind_address", "acl_file",
    "bind_interface", "password_file", "psk_file", "cafile", "capath", "certfile", "keyfile", "crlfile", "dhparamfile",
    "tls_engine",
}  # fmt: skip
WORDS = sorted(KNOWN - ELSEWHERE)
HAND_MADE = """# by hand
listener {own} 127.0.0.1
allow_anonymous true
max_packet_size 2000
connection up
address 127.0.0.1:{other}
remote_clientid id-up
cleansession true
keepalive_interval 20
restart_timeout 2 10
bridge_protocol_version mqttv311
topic plant/# both 1
topic a/b in 0 l/ r/
"""
NATS = """server_name: a
listen: "127.0.0.1:{own}"
max_payload: 1MB
accounts {{
  G: {{users: [{{user: g}}], exports: [{{stream: s}}, {{service: s}}]}}
  APP: {{users: [{{user: app}}], imports: [{{stream: {{account: G, subject: s}}}}]}}
}}
no_auth_user: app
leafnodes {{ listen: "127.0.0.1:{other}", remotes: [{{url: "nats-leaf://g@127.0.0.1:7999", account: G}}] }}
"""
OF_THE_MACHINE = (b"Name or service not known", b"Cannot assign", b"in use", b"not supported")
VALUES = ["true", "1", "x", "", "70000", "mqtt", "a b"]
PIECES = ["", " ", "\t", "#", "+", "/", '""', "yes", "true", "-1", "0", "99999", "frobnicate", "\x00", "\x85", "é",
          "{", "}", "[", "]", '"', ",", "$x", "include", "x" * 300, "user:pw@h"]  # fmt: skip


class Trial(NamedTuple):
    """What one folder showed: how the audit ended, whether the broker refused, and what is wrong."""

    ended: str
    refused: bool | None
    wrong: str | None


@cache
def _network(seed: int) -> Network:
    return planned(stand_in(nodes=4, topics=6, seed=seed))


def _originals(draw: random.Random, kind: str) -> dict[str, str]:
    ports = free_ports(2)
    if kind == "nats":
        if draw.random() < 0.5:
            return {"a": NATS.format(own=ports[0], other=ports[1])}
        network = _network(draw.randrange(3))
        made = export(network, "nats", loopback(network))
        return {name.removesuffix(".conf"): text for name, text in made.files.items() if name.endswith(".conf")}
    if draw.random() < 0.5:
        return {"a": HAND_MADE.format(own=ports[0], other=ports[1])}
    return configurations(draw, ports)


def _mutated(draw: random.Random, text: str, kind: str) -> str:
    lines = text.split("\n")
    for _ in range(draw.choice([1, 1, 1, 2, 4])):
        place = draw.randrange(len(lines))
        words = lines[place].split(" ")
        spot = draw.randrange(len(words))
        match draw.randrange(8):
            case 0:
                lines.insert(place, draw.choice(lines))
            case 1:
                del lines[place]
            case 2:
                words[spot] = draw.choice(PIECES)
                lines[place] = " ".join(words)
            case 3:
                del words[spot]
                lines[place] = " ".join(words)
            case 4 if kind == "mosquitto":
                lines.insert(place, f"{draw.choice(WORDS)} {draw.choice(VALUES)}")
            case 5:
                at = draw.randrange(len(lines[place]) + 1)
                lines[place] = lines[place][:at] + draw.choice(PIECES) + lines[place][at + draw.randrange(2) :]
            case 6:
                other = draw.randrange(len(lines))
                lines[place], lines[other] = lines[other], lines[place]
            case _:
                lines[place] = lines[place].replace(draw.choice(["a", "1", " ", ":", "t"]), draw.choice(PIECES), 1)
        if not lines:
            return ""
    return "\n".join(lines)


def trial(seed: int, folder: Path, *, ask: bool) -> Trial:
    """Write a folder, audit it, and ask the broker about the mutated file."""
    draw = random.Random(seed)
    kind = draw.choice(["mosquitto", "mosquitto", "nats"])
    files = _originals(draw, kind)
    chosen = draw.choice(sorted(files))
    files[chosen] = _mutated(draw, files[chosen], kind)
    for name, text in files.items():
        (folder / f"{name}.conf").write_bytes(text.encode())
    start = time.process_time()
    try:
        kinds = tl.audit(folder / f"{chosen}.conf").kinds
        ended = "said" if SAYING & set(kinds) else "findings" if kinds else "nothing found"
        _ = tl.audit(folder)
    except TopicloomError:
        ended = "refused"
    took = time.process_time() - start
    if took > LONGEST:
        return Trial(ended, None, f"took {took:.1f} s of CPU")
    refused = broker_refuses(kind, folder / f"{chosen}.conf") if ask else None
    silent = ended in ("nothing found", "findings") and refused
    return Trial(ended, refused, f"{kind}: {ended}, and the broker refuses to start" if silent else None)


def broker_refuses(kind: str, file: Path) -> bool:
    """Whether the broker itself does not start with a file. One that is up after a while is stopped."""
    if kind == "nats":
        command = [str(Path(sys.executable).parent / "nats-server"), "-t", "-c", file.name]
        return bool(subprocess.run(command, cwd=file.parent, capture_output=True, timeout=60, check=False).returncode)
    command = [program("mosquitto", "apt has it"), "-c", file.name]
    quiet, heard = subprocess.DEVNULL, subprocess.PIPE
    with subprocess.Popen(command, cwd=file.parent, stdout=quiet, stderr=heard) as running:
        try:
            _, said = running.communicate(timeout=0.4)
        except subprocess.TimeoutExpired:
            running.kill()
            return False
    return running.returncode != 0 and not any(cause in said for cause in OF_THE_MACHINE)


def main(number: int, first: int = 0) -> int:
    ends: Counter[str] = Counter()
    wrong = asked = refused = 0
    for seed in range(first, first + number):
        with tempfile.TemporaryDirectory() as folder:
            one = trial(seed, Path(folder), ask=seed % EVERY == 0)
        ends[one.ended] += 1
        asked += one.refused is not None
        refused += bool(one.refused)
        if one.wrong:
            wrong += 1
            print(f"seed {seed}: {one.wrong}", flush=True)
    kinds = ", ".join(f"{count:,} {name}" for name, count in sorted(ends.items()))
    print(
        f"{number:,} configurations audited ({kinds}), {asked:,} given to brokers, {refused:,} refused; {wrong} wrong"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
