"""A plan moved to loopback: free ports, throw-away certificates and passwords in place of the real ones.

A rehearsal never reads the secrets of an inventory. Where a broker has TLS or a credential, files and passwords that
are made for the rehearsal stand in for them.
"""

import base64
import hashlib
import os
import secrets
import ssl
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from topicloom.brokers.inventory import Broker, Inventory, Tls
from topicloom.brokers.planned_network import Network
from topicloom.brokers.rehearsal.processes import free_ports, program
from topicloom.brokers.rehearsal.wire import Door
from topicloom.errors import BrokerUnavailableError

HOST = "127.0.0.1"
CLIENT = "rehearsal"


@dataclass(frozen=True)
class Scene:
    """An inventory on loopback, how a client gets in, and a password for every reference."""

    inventory: Inventory
    doors: Mapping[str, Door]
    passwords: Mapping[str, str]

    @property
    def environment(self) -> dict[str, str] | None:
        """Environment for brokers: ours, with a throw-away password in place of every variable that is referred to."""
        given = {name.removeprefix("env:"): word for name, word in self.passwords.items() if name.startswith("env:")}
        return {**os.environ, **given} if given else None


def on_loopback(
    network: Network, given: Inventory | None, folder: Path, *, leaves: bool = False, secured: bool = False
) -> Scene:
    """Move the brokers of a network to 127.0.0.1. With ``leaves`` each gets a second port for other brokers.

    With ``secured`` brokers that have no credential get one.

    Kinds, versions, who dials, TLS and credentials stay as the inventory has them; hosts, ports and secrets do not.
    """
    brokers = [given.of_node(node) if given else Broker(node, HOST, 1) for node in network.nodes]
    ports = iter(free_ports(2 * len(brokers)))
    tls = _throw_away_certificate(folder) if any(broker.tls for broker in brokers) else None
    moved = [
        replace(
            broker,
            host=HOST,
            port=next(ports),
            leaf_port=next(ports) if leaves or broker.leaf_port is not None else None,
            tls=tls if broker.tls else None,
            credential=_stand_in(broker.credential or ("env:LOOM_REHEARSAL" if secured else None), folder),
            version=None,
        )
        for broker in brokers
    ]
    passwords = {broker.credential: secrets.token_hex(16) for broker in moved if broker.credential}
    for reference, password in passwords.items():
        if reference.startswith("file:"):
            Path(reference.removeprefix("file:")).write_text(password, encoding="ascii")
    context = None if tls is None else ssl.create_default_context(cafile=tls.ca)
    doors = {broker.node: _door(broker, passwords, context) for broker in moved}
    return Scene(Inventory.of(moved), doors, passwords)


def _door(broker: Broker, passwords: Mapping[str, str], context: ssl.SSLContext | None) -> Door:
    password = passwords.get(broker.credential or "") or next(iter(passwords.values()), None)
    user = CLIENT if password is not None else None
    return Door(HOST, broker.port, user, password, context if broker.tls else None)


def _stand_in(reference: str | None, folder: Path) -> str | None:
    """A reference to the same variable, or to a file of the rehearsal's folder in place of the real one."""
    if reference is None or reference.startswith("env:"):
        return reference
    return f"file:{folder}/{hashlib.sha256(reference.encode()).hexdigest()[:16]}.secret"


def hashed_password(password: str) -> str:
    """A password as Mosquitto's password files hold it: PBKDF2 with SHA-512."""
    salt, rounds = os.urandom(12), 101
    digest = hashlib.pbkdf2_hmac("sha512", password.encode(), salt, rounds)
    return f"$7${rounds}${base64.b64encode(salt).decode()}${base64.b64encode(digest).decode()}"


def _throw_away_certificate(folder: Path) -> Tls:
    """A certificate authority and one certificate for 127.0.0.1, valid for a day."""
    openssl = program("openssl", "it makes the throw-away certificates of a rehearsal with TLS")
    ca, ca_key, cert, key = (str(folder / name) for name in ("ca.pem", "ca.key", "cert.pem", "key.pem"))
    new = [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"]
    _run([*new, "-subj", "/CN=topicloom rehearsal", "-keyout", ca_key, "-out", ca,
          "-addext", "keyUsage=critical,keyCertSign,cRLSign"])  # fmt: skip
    _run([*new, "-subj", "/CN=127.0.0.1", "-keyout", key, "-out", cert, "-CA", ca, "-CAkey", ca_key,
          "-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE"])  # fmt: skip
    return Tls(ca, cert, key)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        raise BrokerUnavailableError(f"openssl made no certificate: {done.stderr.strip().splitlines()[-1]}")
