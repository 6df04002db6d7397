"""One NATS server as its configuration describes it: accounts, exports and imports, leaf connections, secrets."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from topicloom.brokers.auditing.audit_effort import Effort
from topicloom.brokers.auditing.audit_findings import Place
from topicloom.brokers.nats.nats_file import MOST_VALUES, Node, read_nats_file
from topicloom.brokers.nats.nats_words import check_fields, unfollowed
from topicloom.errors import UnreadableInputError
from topicloom.files.read.patterns import NATS

GLOBAL = "$g"  # names of accounts are compared in lower case
_LEAF_PORT = 7422
_URL = re.compile(
    r"(?:[A-Za-z][A-Za-z0-9+.-]*://)?(?:(?P<user>[^:@/]*)(?::(?P<secret>.*))?@)?(?P<host>\[[^\]]*\]|[^:/@\s{}<>\\^`|#?]*)(?::(?P<port>\d{1,5}))?/?"
)
_SECRET_KEYS = ("password", "pass", "token", "seed")
_HASHED = ("$2a$", "$2b$", "$2y$")


class Import(NamedTuple):
    """A stream or service that one account takes from another: subject there, name here."""

    kind: str
    account: str
    subject: str
    here: str
    place: Place


@dataclass
class Account:
    """Users, exports and imports of an account."""

    users: set[str] = field(default_factory=set)
    streams: dict[str, None] = field(default_factory=dict)
    services: dict[str, None] = field(default_factory=dict)
    imports: list[Import] = field(default_factory=list)

    @cached_property
    def wild_streams(self) -> list[str]:
        """Streams with wildcards."""
        return [name for name in self.streams if "*" in name or ">" in name]

    @cached_property
    def wild_services(self) -> list[str]:
        """Services with wildcards."""
        return [name for name in self.services if "*" in name or ">" in name]


class Remote(NamedTuple):
    """A leaf connection that a server dials. The host is empty where a variable hides it."""

    host: str
    port: int
    user: str
    account: str
    hub: bool
    place: Place


@dataclass
class NatsServer:
    """One server, as configured."""

    name: str
    file: str
    listeners: list[tuple[str, int]]
    accounts: dict[str, Account]
    remotes: list[Remote]
    leaf_users: dict[str, str]
    home: str
    secrets: list[Place]
    unfollowed: list[tuple[str, Place]]

    def account_of(self, user: str) -> str:
        """The account into which a leaf connection with this user comes."""
        named = (name for name, account in self.accounts.items() if user in account.users)
        return self.leaf_users.get(user) or next(named, None) or self.leaf_users.get("") or GLOBAL


def read_nats(path: Path, name: str, shown: str, effort: Effort | None = None) -> NatsServer:
    """Read the configuration of one server. Subjects get the names of ``subjects.json`` beside it, if there is one.

    Raises
    ------
    InputNotFoundError, UnreadableInputError
        With file and line.
    """
    effort = effort or Effort()
    fields = read_nats_file(path, shown, effort).fields
    check_fields(fields)
    leaf = _first(fields, "leafnodes", "leaf").fields
    topics = _topics(path.parent / "subjects.json", effort)
    accounts: dict[str, Account] = {}
    for key, node in _first(fields, "accounts").fields.items():
        accounts[key] = _account(node, topics, effort)
    _check_imports(accounts, effort)
    remotes = [_remote(node) for node in leaf["remotes"].items] if "remotes" in leaf else []
    home = _home(accounts, _first(fields, "no_auth_user").text)
    listeners = [_bound(leaf)] if "listen" in leaf or "port" in leaf else []
    secrets = sorted(set(_secrets(Node(fields, Place(shown, 1)))))
    leaf_users, left_out = _leaf_users(leaf), list(unfollowed(fields))
    return NatsServer(name, shown, listeners, accounts, remotes, leaf_users, home, secrets, left_out)


def _first(fields: Mapping[str, Node], *keys: str) -> Node:
    return next((fields[key] for key in keys if key in fields), Node(None, Place("", 0)))


def _check_imports(accounts: Mapping[str, Account], effort: Effort) -> None:
    """Refuse imports from accounts that are not there, or of what they do not export."""
    for account in accounts.values():
        for one in account.imports:
            if not one.account or not one.subject:
                continue  # a variable that is not set here
            source = accounts.get(one.account)
            if source is None:
                raise UnreadableInputError(
                    f"{one.place}: there is no account {one.account!r} to import from; nats-server does not start"
                )
            if not _gives(source, one, effort):
                raise UnreadableInputError(
                    f"{one.place}: account {one.account!r} does not export {one.subject!r}; nats-server does not start"
                )


def _gives(source: Account, one: Import, effort: Effort) -> bool:
    """Whether an account exports what another takes. After too many steps it is taken to."""
    given, wild = (
        (source.services, source.wild_services) if one.kind == "service" else (source.streams, source.wild_streams)
    )
    enough = not effort.spend(1 + len(wild))
    return enough or one.subject in given or any(NATS.matches(name, one.subject) for name in wild)


def _topics(path: Path, effort: Effort) -> dict[str, str]:
    """Subject to topic, where an export of topicloom tells."""
    if not path.exists():
        return {}
    text = effort.text_of(path)
    try:
        table = json.loads(text)
        return {subject: topic for topic, subject in table.items()}
    except (ValueError, AttributeError, TypeError, RecursionError):
        raise UnreadableInputError(f"{path} is not a JSON map of topics to subjects") from None


def _account(node: Node, topics: Mapping[str, str], effort: Effort) -> Account:
    found = Account()
    effort.values += sum(len(node.fields[key].items) for key in ("users", "exports", "imports") if key in node.fields)
    if effort.values > MOST_VALUES:
        raise UnreadableInputError(f"{node.place}: over {MOST_VALUES:,} values are read in all; give fewer files")
    for user in node.fields["users"].items if "users" in node.fields else []:
        found.users.add(_first(user.fields, "user", "username", "nkey").text)
    for item in node.fields["exports"].items if "exports" in node.fields else []:
        for kind, subjects in (("stream", found.streams), ("service", found.services)):
            if kind in item.fields:
                subjects[topics.get(item.fields[kind].text, item.fields[kind].text)] = None
    for item in node.fields["imports"].items if "imports" in node.fields else []:
        for kind in ("stream", "service"):
            if kind in item.fields:
                found.imports.append(_import(kind, item, topics))
    return found


def _import(kind: str, item: Node, topics: Mapping[str, str]) -> Import:
    source = item.fields[kind].fields
    subject = _first(source, "subject").text
    prefix, to = _first(item.fields, "prefix").text, _first(item.fields, "to").text
    here = to or (f"{prefix}.{subject}" if prefix else subject)
    account = _first(source, "account").text.lower()
    return Import(kind, account, topics.get(subject, subject), topics.get(here, here), item.place)


def _remote(node: Node) -> Remote:
    url = _first(node.fields, "urls", "url").items[:1]
    text = url[0].text if url else ""
    met = _URL.fullmatch(text)
    if text and met is None:
        raise UnreadableInputError(f"{node.place}: the address of a remote cannot be read; nats-leaf://host:port can")
    host, port = (met["host"], int(met["port"] or _LEAF_PORT)) if met else ("", _LEAF_PORT)
    account = (_first(node.fields, "account", "local").text or GLOBAL).lower()
    hub = _first(node.fields, "hub").text.lower() in ("true", "yes", "on")
    return Remote(host, port, (met["user"] or "") if met else "", account, hub, node.place)


def _leaf_users(leaf: Mapping[str, Node]) -> dict[str, str]:
    """User to account of ``leafnodes.authorization``. The empty user stands for all others."""
    rules = _first(leaf, "authorization").fields
    users = [Node(rules, Place("", 0)), *(rules["users"].items if "users" in rules else [])]
    named = {_first(one.fields, "user", "username").text: _first(one.fields, "account").text.lower() for one in users}
    return {user: account for user, account in named.items() if account}


def _home(accounts: Mapping[str, Account], guest: str) -> str:
    """The account of the clients: that of ``no_auth_user``, else the first that imports, else the first."""
    chosen = [name for name, account in accounts.items() if guest and guest in account.users]
    chosen += [name for name, account in accounts.items() if account.imports]
    return next(iter([*chosen, *accounts]), GLOBAL)


def _bound(leaf: Mapping[str, Node]) -> tuple[str, int]:
    listen, port = _first(leaf, "listen"), _first(leaf, "port")
    host, _, number = listen.text.rpartition(":") if listen.text else ("", "", port.text)
    if not (number.isascii() and number.isdigit() and len(number) < 6):
        place = listen.place if listen.text else port.place
        raise UnreadableInputError(f"{place}: leaf connections need a port, a number from 0 to 65535")
    return host or _first(leaf, "host", "net").text, int(number)


def _secrets(top: Node) -> Iterator[Place]:
    """Places of passwords, tokens and seeds that are written out, also in addresses. Shared values are seen once."""
    seen: set[int] = set()
    waiting = [(top, "")]
    while waiting:
        node, key = waiting.pop()
        if isinstance(node.value, dict | list):
            if id(node.value) not in seen:
                seen.add(id(node.value))
                waiting += [(inner, name) for name, inner in node.fields.items()]
                waiting += [(inner, key) for inner in node.value if isinstance(inner, Node)]
        elif node.text and node.literal:
            met = _URL.fullmatch(node.text) if "@" in node.text and "://" in node.text else None
            if (key in _SECRET_KEYS and not node.text.startswith(_HASHED)) or (met is not None and met["secret"]):
                yield node.place
