"""The directives of Mosquitto 2.0 and 2.1: where they may stand, and which values the broker accepts.

Taken from conf.c of 2.0.11 and 2.1.2 by reading, and compared with the running 2.0.11 by the tests.
"""

import re
from dataclasses import dataclass, field

from topicloom.brokers.auditing.audit_effort import is_text
from topicloom.brokers.mosquitto.mosquitto_file import Setting
from topicloom.errors import UnreadableInputError

ALIASES = {
    "clientid": "remote_clientid",
    "username": "remote_username",
    "password": "remote_password",
    "addresses": "address",
    "plugin": "auth_plugin",
    "max_qos": "maximum_qos",
    "retained_persistence": "persistence",
}
_BRIDGE_BOOLS = """bridge_attempt_unsubscribe bridge_insecure bridge_outgoing_retain bridge_require_ocsp cleansession
    local_cleansession notifications notifications_local_only round_robin try_private"""
_BRIDGE_NUMBERS = "bridge_max_packet_size idle_timeout keepalive_interval threshold"
_BRIDGE_TEXTS = """bridge_alpn bridge_bind_address bridge_cafile bridge_capath bridge_certfile bridge_identity
    bridge_keyfile bridge_psk bridge_tls_version local_clientid local_password local_username notification_topic
    remote_clientid remote_password remote_username"""
_BRIDGE_OTHERS = "address topic bridge_protocol_version restart_timeout start_type"
_BOOLS = """allow_anonymous allow_duplicate_messages allow_zero_length_clientid auth_plugin_deny_special_chars
    autosave_on_changes check_retain_source connection_messages log_timestamp per_listener_settings persistence
    queue_qos0_messages require_certificate retain_available set_tcp_nodelay upgrade_outgoing_qos
    use_identity_as_username use_subject_as_username use_username_as_clientid"""
_NUMBERS = """autosave_interval log_facility max_inflight_bytes max_inflight_messages max_keepalive max_packet_size
    max_queued_bytes max_queued_messages maximum_qos memory_limit message_size_limit port sys_interval
    websockets_headers_size websockets_log_level"""
_LISTENER_TEXTS = """bind_interface cafile capath certfile ciphers ciphers_tls1.3 crlfile dhparamfile http_dir keyfile
    mount_point psk_hint tls_engine tls_keyform tls_version"""
_SECURITY_TEXTS = "acl_file auto_id_prefix password_file psk_file"
_TEXTS = """auth_plugin bind_address clientid_prefixes log_timestamp_format persistence_file persistence_location
    pid_file tls_engine_kpass_sha1 user"""
_OTHERS = """connection include_dir listener log_dest log_type max_connections max_topic_alias
    persistent_client_expiration protocol retry_interval socket_domain"""
_NEWER_BRIDGE = """bridge_ciphers bridge_ciphers_tls1.3 bridge_max_topic_alias bridge_receive_maximum
    bridge_reload_type bridge_session_expiry_interval bridge_tcp_keepalive bridge_tcp_user_timeout
    bridge_tls_use_os_certs"""
_NEWER = """accept_protocol_versions disable_client_cert_date_checks enable_control_api enable_proxy_protocol
    global_max_clients global_max_connections global_plugin listener_allow_anonymous listener_auto_id_prefix
    max_topic_alias_broker packet_buffer_size plugin_load plugin_use proxy_protocol_v2_require_tls
    retain_expiry_interval websockets_origin http_api"""

BOOLS = frozenset(f"{_BRIDGE_BOOLS} {_BOOLS}".split())
NUMBERS = frozenset(f"{_BRIDGE_NUMBERS} {_NUMBERS}".split())
TEXTS = frozenset(f"{_BRIDGE_TEXTS} {_LISTENER_TEXTS} {_SECURITY_TEXTS} {_TEXTS}".split())
OF_BRIDGES = frozenset(f"{_BRIDGE_BOOLS} {_BRIDGE_NUMBERS} {_BRIDGE_TEXTS} {_BRIDGE_OTHERS} {_NEWER_BRIDGE}".split())
OF_LISTENERS = frozenset(_LISTENER_TEXTS.split())
OF_SECURITY = frozenset([*_SECURITY_TEXTS.split(), "allow_anonymous", "allow_zero_length_clientid", "auth_plugin"])
NEWER = frozenset(f"{_NEWER_BRIDGE} {_NEWER}".split())
KNOWN = BOOLS | NUMBERS | TEXTS | NEWER | frozenset(f"{_BRIDGE_OTHERS} {_OTHERS}".split())
_RANGES = {
    "port": (1, 65535), "maximum_qos": (0, 2), "log_facility": (0, 7), "max_keepalive": (10, 65535),
    "max_packet_size": (20, 2**31 - 1), "memory_limit": (0, 2**63 - 1), "message_size_limit": (0, 268_435_455),
    "sys_interval": (0, 65535), "websockets_headers_size": (0, 65535), "max_inflight_messages": (-(2**31), 65535),
    "keepalive_interval": (-(2**31), 65535), "max_topic_alias": (0, 65535),
}  # fmt: skip
_CHOICES = {
    "bridge_protocol_version": ("mqttv31", "mqttv311", "mqttv50"),
    "start_type": ("automatic", "lazy", "once"),
    "log_dest": ("none", "syslog", "stdout", "stderr", "topic", "dlt", "file"),
    "log_type": ("none", "information", "notice", "warning", "error", "debug", "subscribe", "unsubscribe", "internal",
                 "websockets", "all"),
    "protocol": ("mqtt", "mqttsn", "websockets"),
    "socket_domain": ("ipv4", "ipv6"),
}  # fmt: skip
_MAY_BE_EMPTY = ("log_type", "protocol", "max_connections", "persistent_client_expiration", "retry_interval")
_LEADING = re.compile(r"\s*([+-]?[0-9]{1,18})")
_CERTIFICATES = ("bridge_cafile", "bridge_capath", "bridge_certfile")
_LONGEST = 65_535


def is_known(word: str) -> bool:
    """Whether a broker of version 2.0 or 2.1 knows a directive, under its first name."""
    return word in KNOWN or word.startswith(("auth_opt_", "plugin_opt_"))


def number_of(text: str) -> int:
    """The number that a text begins with, or 0, as C's ``atoi`` takes it.

    >>> number_of("12x"), number_of("x")
    (12, 0)
    """
    met = _LEADING.match(text)
    return int(met[1]) if met else 0


def refused(setting: Setting, what: str) -> UnreadableInputError:
    """The error for a line with which Mosquitto does not start."""
    return UnreadableInputError(f"{setting.place}: {what}; Mosquitto does not start")


@dataclass
class Grammar:
    """Checks the directives of one broker as they come. A value that may stand once is remembered until then."""

    _once: set[tuple[object, str]] = field(default_factory=set)
    _listeners: int = 0
    _per_listener: bool = False
    _secured: bool = False
    _plugin: str = ""

    def check(self, setting: Setting, bridge: object | None) -> str:
        """Check a line and return its directive by its first name.

        Raises
        ------
        UnreadableInputError
            The broker does not know it, does not take it there, or not with this value.
        """
        word = ALIASES.get(setting.word, setting.word)
        if not is_known(word):
            raise refused(setting, f"{setting.word[:40]!r} is no directive of Mosquitto")
        if not is_text(setting.rest):
            raise UnreadableInputError(f"{setting.place}: the value of {setting.word} is not UTF-8")
        if word in OF_BRIDGES and bridge is None:
            raise refused(setting, f"{setting.word} stands outside a connection")
        self._follow(word, setting)
        if word in BOOLS:
            if not setting.values or setting.values[0] not in ("true", "false", "1", "0"):
                raise refused(setting, f"{setting.word} needs true or false")
        elif word in NUMBERS:
            self._number(word, setting)
        elif word in TEXTS:
            self._text(word, setting, bridge)
        elif word not in NEWER:
            _other(word, setting)
        return word

    def _follow(self, word: str, setting: Setting) -> None:
        if word == "listener":
            self._listeners += 1
        elif word == "per_listener_settings":
            self._per_listener = setting.values[:1] in (("true",), ("1",))
            if self._per_listener and self._secured:
                raise refused(setting, "per_listener_settings stands after other settings of access")
        elif word in OF_SECURITY or word == "check_retain_source":
            self._secured = True
        if word == "auth_plugin":
            self._plugin = setting.place.file
        elif word.startswith(("auth_opt_", "plugin_opt_", "auth_plugin_deny")) and self._plugin != setting.place.file:
            raise refused(setting, f"{setting.word[:40]} stands before any plugin")

    def _number(self, word: str, setting: Setting) -> None:
        if not setting.values:
            raise refused(setting, f"{setting.word} needs a number")
        least, most = _RANGES.get(word, (-(2**63), 2**63))
        if not least <= number_of(setting.values[0]) <= most:
            raise refused(setting, f"{setting.word} takes a number from {max(least, 0)} to {most}")

    def _text(self, word: str, setting: Setting, bridge: object | None) -> None:
        text = setting.rest.strip()
        if not text:
            raise refused(setting, f"{setting.word} needs a value")
        if len(text.encode("utf-8", "surrogateescape")) > _LONGEST or not is_mqtt_text(text):
            raise refused(setting, f"the value of {setting.word} is too long or holds a control character")
        if word == "mount_point" and (not self._listeners or "+" in text or "#" in text):
            raise refused(setting, "mount_point needs a listener before it, and a name without wildcards")
        if word == "tls_engine_kpass_sha1" and not re.fullmatch("[0-9a-fA-F]{40}", text):
            raise refused(setting, "tls_engine_kpass_sha1 needs 40 hexadecimal digits")
        key = (self._owner(word, setting, bridge), word)
        if word not in ("tls_keyform", "tls_engine_kpass_sha1", "auth_plugin") and key in self._once:
            raise refused(setting, f"{setting.word} stands there twice")
        self._once.add(key)
        self._both(word, setting, key[0])

    def _owner(self, word: str, setting: Setting, bridge: object | None) -> object:
        """What a value belongs to: the bridge, the listener (each file begins with the default one), or the broker."""
        if word in OF_BRIDGES:
            return id(bridge)
        if word in OF_LISTENERS or (word in OF_SECURITY and self._per_listener):
            return f"listener {self._listeners}"
        return "broker"

    def _both(self, word: str, setting: Setting, owner: object) -> None:
        has = {
            one for one in (*_CERTIFICATES, "bridge_psk", "bridge_identity", "psk_hint") if (owner, one) in self._once
        }
        keyed = has & {"bridge_psk", "bridge_identity"}
        crossed = (
            (word in (*_CERTIFICATES, "bridge_keyfile") and keyed)
            or (word in ("bridge_psk", "bridge_identity") and has & set(_CERTIFICATES))
            or (word in ("cafile", "certfile") and "psk_hint" in has)
        )
        if crossed:
            raise refused(setting, f"{setting.word} stands beside both certificates and a shared key")


def _other(word: str, setting: Setting) -> None:
    values = setting.values
    if not values and word not in _MAY_BE_EMPTY:
        raise refused(setting, f"{setting.word} needs a value")
    text = setting.rest.rstrip(" ") if word == "bridge_protocol_version" else "".join(values[:1])
    if values and word in _CHOICES and text not in _CHOICES[word]:
        raise refused(setting, f"{text[:40]!r} is no {word}; {', '.join(_CHOICES[word])} are")
    if word == "log_dest" and values[:1] == ("file",) and len(values) < 2:
        raise refused(setting, "log_dest file needs a path")
    if word == "restart_timeout" and len(values) > 1 and number_of(values[1]) < max(number_of(values[0]), 1):
        raise refused(setting, "the second time of restart_timeout is less than the first")
    lasting = word != "persistent_client_expiration" or not values
    if not lasting and (values[0][-1] not in "hdwmy" or number_of(values[0]) <= 0):
        raise refused(setting, "persistent_client_expiration needs a number with h, d, w, m or y")
    if word == "max_topic_alias" and not 0 <= number_of(values[0]) <= _LONGEST:
        raise refused(setting, "max_topic_alias takes a number from 0 to 65535")


def is_mqtt_text(text: str) -> bool:
    r"""Whether a text may stand in MQTT: no control characters, and no code points that stand for nothing.

    >>> is_mqtt_text("a b"), is_mqtt_text("a\x7f"), is_mqtt_text("\ufffe")
    (True, False, False)
    """
    return not any(
        char < " " or "\x7f" <= char <= "\x9f" or "\ufdd0" <= char <= "\ufdef" or ord(char) & 0xFFFE == 0xFFFE
        for char in text
    )
