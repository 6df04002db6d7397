"""The fields of nats-server's configuration: which there are, what they take, and which the audit does not follow.

Taken from opts.go of 2.15 by reading, and compared with the running server by the tests.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from topicloom.brokers.auditing.audit_findings import Place
from topicloom.brokers.nats.nats_file import Node
from topicloom.errors import UnreadableInputError

_NUMBERS = """port http_port monitor_port https_port max_control_line max_payload max_pending max_connections max_conn
    max_subscriptions max_subs ping_max prof_port prof_block_rate logfile_size_limit log_size_limit logfile_max_num
    log_max_num max_traced_msg_len max_sub_tokens max_subscription_tokens connect_error_reports
    reconnect_error_reports max_closed_clients"""
_BOOLS = """debug trace trace_headers logtime logtime_utc disable_sublist_cache no_sublist_cache syslog allow_non_tls
    no_system_account no_system no_sys_acc no_header_support no_fast_producer_stall proxy_protocol"""
_TIMES = "write_deadline lame_duck_duration lame_duck_grace_period ping_interval"
_TEXTS = """client_advertise server_name host net http_base_path store_dir storedir logfile log_file remote_syslog
    pidfile pid_file ports_file_dir no_auth_user default_js_domain default_sentinel system_account system"""
_OTHERS = """listen trace_verbose mappings maps accounts authorization http https cluster gateway leaf leafnodes
    jetstream tls ocsp write_timeout operator operators roots root root_operators root_operator resolver
    account_resolver accounts_resolver resolver_tls resolver_preload resolver_pinned_accounts trusted trusted_keys
    websocket ws mqtt server_tags server_metadata feature_flags ocsp_cache proxies"""
_LEAF = """listen port host net authorization remotes reconnect reconnect_delay reconnect_interval dial_timeout tls
    leafnode_advertise advertise no_advertise min_version minimum_version compression isolate_leafnode_interest isolate
    write_deadline write_timeout"""
_REMOTE = """no_randomize dont_randomize url urls account local creds credentials nkey seed tls hub deny_imports
    deny_import deny_exports deny_export ws_compress ws_compression websocket_compress websocket_compression
    ws_no_masking websocket_no_masking jetstream_cluster_migrate js_cluster_migrate isolate_leafnode_interest isolate
    request_isolation compression first_info_timeout dial_timeout disabled proxy ignore_discovered_servers"""
_ACCOUNT = "nkey imports exports jetstream users default_permissions mappings maps limits msg_trace trace_dest"
_USER = """nkey user username pass password permission permissions authorization allowed_connection_types
    connection_types clients proxy_required"""
_EXPORT = """stream service response response_type threshold response_threshold response_max_time response_time
    accounts latency account_token_position allow_trace"""
_IMPORT = "stream service prefix to share allow_trace"
_RIGHTS = """user username pass password token timeout users default_permission default_permissions permissions
    auth_callout auth_hook proxy_required nkey account"""
_UNFOLLOWED = {
    "": """cluster gateway jetstream mappings maps operator operators roots root root_operators root_operator resolver
        account_resolver accounts_resolver trusted trusted_keys""",
    "accounts": "jetstream mappings maps default_permissions",
    "users": "permission permissions authorization",
    "authorization": "users default_permission default_permissions permissions auth_callout auth_hook",
    "leafnodes": "isolate_leafnode_interest isolate",
    "remotes": "deny_imports deny_import deny_exports deny_export isolate_leafnode_interest isolate request_isolation"
    " disabled",
}
_ON, _OFF = ("true", "yes", "on"), ("false", "no", "off")
_NUMBER = re.compile(r"-?[0-9]{1,19}([kmgtpe]i?b?)?", re.IGNORECASE)
_TIME = re.compile(r"[-+]?([0-9]+\.?[0-9]*(ns|us|µs|ms|s|m|h))+|[0-9]+")
_LISTEN = re.compile(r"(\[[^\]]*\]|[^:]*):[+-]?[0-9]+|[0-9]{1,6}")


def check_fields(fields: Mapping[str, Node]) -> None:
    """Check a whole configuration.

    Raises
    ------
    UnreadableInputError
        With file and line: a field that the server does not know, or a value that it does not take.
    """
    _known(fields, " ".join((_NUMBERS, _BOOLS, _TIMES, _TEXTS, _OTHERS)), used_is_free=True)
    for name, inner in fields.items():
        if name in _NUMBERS.split():
            _require(inner, name, "a number", bool(_NUMBER.fullmatch(inner.text)) and not inner.quoted)
        elif name in _BOOLS.split():
            _require(inner, name, "true or false", inner.text.lower() in _ON + _OFF and not inner.quoted)
        elif name in _TIMES.split():
            _require(inner, name, "a duration", bool(_TIME.fullmatch(inner.text)))
        elif name in _TEXTS.split():
            _require(inner, name, "a text", isinstance(inner.value, str) and not _is_number(inner))
    if "server_name" in fields and " " in fields["server_name"].text:
        raise _refused(fields["server_name"].place, "a server's name holds a blank")
    _blocks(fields)


def _blocks(fields: Mapping[str, Node]) -> None:
    for leaf in _maps(fields, "leaf", "leafnodes"):
        _known(leaf.fields, _LEAF)
        for remote in _maps(leaf.fields, "remotes"):
            _known(remote.fields, _REMOTE)
    for block in (fields, *(leaf.fields for leaf in _maps(fields, "leaf", "leafnodes"))):
        if "listen" in block:
            listen = block["listen"]
            _require(listen, "listen", "host:port", bool(_LISTEN.fullmatch(listen.text)))
        for rights in _maps(block, "authorization"):
            _known(rights.fields, _RIGHTS)
    taken: set[str] = set()
    for account in _accounts(fields):
        _known(account.fields, _ACCOUNT)
        for what, words in (("users", _USER), ("exports", _EXPORT), ("imports", _IMPORT)):
            for item in _maps(account.fields, what):
                _known(item.fields, words)
                for kind in ("stream", "service") if what != "users" else ():
                    taken_as = dict if what == "imports" else str
                    given = item.fields.get(kind)
                    if given is not None and given.value is not None and not isinstance(given.value, taken_as):
                        raise _refused(
                            given.place, f"{kind} of {what} needs {'a map' if taken_as is dict else 'a text'}"
                        )
        for user in _maps(account.fields, "users"):
            name = next((user.fields[key].text for key in ("user", "username", "nkey") if key in user.fields), "")
            if name in taken:
                raise _refused(user.place, f"user {name!r} is there twice")
            taken |= {name} - {""}


def _accounts(fields: Mapping[str, Node]) -> Iterator[Node]:
    """Accounts that are written as maps. A list of names has nothing in it."""
    given = fields.get("accounts")
    for account in given.fields.values() if given is not None else ():
        if not isinstance(account.value, dict):
            if account.used or account.value is None:
                continue
            raise _refused(account.place, "an account needs a map")
        yield account


def _maps(fields: Mapping[str, Node], *keys: str) -> Iterator[Node]:
    """Maps under some keys, in lists or by themselves."""
    for key in keys:
        if key in fields:
            for item in fields[key].items:
                if isinstance(item.value, dict):
                    yield item
                elif item.value is not None:
                    raise _refused(item.place, f"{key} needs maps")


def _known(fields: Mapping[str, Node], words: str, *, used_is_free: bool = True) -> None:
    accepted = frozenset(words.split())
    for name, inner in fields.items():
        if name not in accepted and not (used_is_free and inner.used):
            raise _refused(inner.place, f"{name[:40]!r} is no field that stands there")


def _require(node: Node, name: str, what: str, ok: bool) -> None:
    if node.value is not None and node.literal and not ok:
        raise _refused(node.place, f"{name} needs {what}")


def _is_number(node: Node) -> bool:
    return not node.quoted and bool(_NUMBER.fullmatch(node.text))


def _refused(place: Place, what: str) -> UnreadableInputError:
    return UnreadableInputError(f"{place}: {what}; nats-server does not start")


def unfollowed(fields: Mapping[str, Node]) -> Iterator[tuple[str, Place]]:
    """Fields that decide where messages go, and that the audit does not follow."""
    leafs = list(_maps(fields, "leaf", "leafnodes"))
    accounts = list(_accounts(fields))
    yield from _met([fields], "")
    yield from _met((one.fields for one in _maps(fields, "authorization")), "authorization")
    yield from _met((one.fields for one in leafs), "leafnodes")
    yield from _met((one.fields for leaf in leafs for one in _maps(leaf.fields, "remotes")), "remotes")
    yield from _met((one.fields for one in accounts), "accounts")
    yield from _met((one.fields for account in accounts for one in _maps(account.fields, "users")), "users")
    for leaf in leafs:
        for remote in _maps(leaf.fields, "remotes"):
            for key in ("url", "urls"):
                if key in remote.fields and len(remote.fields[key].items) > 1:
                    yield "addresses for fail-over: only the first is", remote.fields[key].place


def _met(blocks: Iterable[Mapping[str, Node]], where: str) -> Iterator[tuple[str, Place]]:
    words = frozenset(_UNFOLLOWED[where].split())
    for fields in blocks:
        for name, inner in fields.items():
            if name in words and inner.text.lower() not in _OFF and inner.value not in ([], {}):
                yield f"{name}{f' of {where}' if where else ''} is not followed", inner.place
