"""Tell configurations of Mosquitto and NATS apart by their lines."""

import re

_MOSQUITTO = re.compile(
    r"(acl_file|address|addresses|allow_\w+|auth_\w+|auto_id_prefix|autosave_\w+|bind_\w+|bridge_\w+|ca(file|path)"
    r"|certfile|check_retain_source|ciphers\S*|cleansession|clientid(_prefixes)?|connection(_messages)?|crlfile|dhparamfile"
    r"|global_\w+|http_dir|idle_timeout|include_dir|keepalive_interval|keyfile|listener\w*|local_\w+|log_\w+"
    r"|max_\w+|memory_limit|message_size_limit|mount_point|notification\w*|password(_file)?|per_listener_settings"
    r"|persist\w+|pid_file|plugin\w*|port|protocol|psk_\w+|queue_qos0_messages|remote_\w+|require_certificate"
    r"|restart_timeout|retain_\w+|retry_interval|round_robin|set_tcp_nodelay|socket_domain|start_type|store_clean_interval"
    r"|sys_interval|threshold|tls_\w+|topic|try_private|upgrade_outgoing_qos|use_\w+|user(name)?|websockets_\w+)( |$)"
)


def kind_of(text: str) -> str:
    """The kind of broker that a configuration is for: ``mosquitto`` or ``nats``.

    Examples
    --------
    >>> kind_of("listener 1883"), kind_of("leafnodes { port: 7422 }")
    ('mosquitto', 'nats')
    """
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith(("#", "//"))]
    known = sum(_MOSQUITTO.match(line) is not None and "{" not in line for line in lines)
    return "mosquitto" if 2 * known >= len(lines) else "nats"
